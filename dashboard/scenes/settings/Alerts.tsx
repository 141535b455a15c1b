// Open alerts, recipients, and resolved alerts.

import type { AlertLine } from "../../common/alertPlaces.ts";
import { Stack, Text, TextInput, Button } from "@mantine/core";
import { Send } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import { useApi, useSend } from "../../common/api/query.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { capitalize } from "../../common/format/sentence.ts";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { SettingsCard, SiteSettings, type SettingsForm } from "../../common/settings/SettingsCard.tsx";
import { ListField } from "../../common/settings/listFields.tsx";
import { commonProps, NumberOrOffField } from "../../common/settings/settingFields.tsx";
import { RequestError } from "../../common/states.tsx";
import { Time, State } from "../../common/values.tsx";
import { SettingsPage } from "../frame/SectionPage.tsx";
import { channelName, OpenAlerts } from "./OpenAlerts.tsx";
import { Devices } from "../account/Devices.tsx";
import { settingsText } from "../../messages/settings.ts";
import { serverText } from "../../messages/server.ts";

const columnList = (): Column<AlertLine>[] => [
  { title: settingsText.alerts.columns.alert, cell: ({ title }) => capitalize(serverText(title)) },
  { title: settingsText.alerts.columns.began, cell: ({ beganAt }) => <Time at={beganAt} /> },
  { title: settingsText.alerts.columns.resolved, cell: ({ endedAt }) => <Time at={endedAt} /> },
];

export default function Alerts() {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const { data, error, refetch } = useApi("GET /sites/:site/alerts", { params: { site } }, { everyMs: 30_000 });
  return (
    <SettingsPage tab="alerts">
      <OpenAlerts alerts={data?.open} error={error} onRetry={() => void refetch()} />
      <SiteSettings>
        <SettingsCard
          title={settingsText.alerts.recipients}
          about={settingsText.alerts.aboutRecipients}
          fields={(form) => (
            <Stack gap="md">
              <ListField
                form={form}
                name="alert_emails"
                placeholder="you@example.com"
                help={data?.mail === false ? settingsText.alerts.noMail : settingsText.alerts.upTo20}
              />
              <AlertWebhook form={form} />
              <NumberOrOffField
                form={form}
                name="alert_success_rate"
                max={100}
                suffix={settingsText.alerts.percent}
                help={settingsText.alerts.aboutSuccessRate}
              />
            </Stack>
          )}
        >
          {mayChange && <AlertTest />}
        </SettingsCard>
      </SiteSettings>
      <Devices />
      <Card title={settingsText.alerts.resolved} about={settingsText.alerts.aboutResolved} padded={false}>
        <Rows
          label={settingsText.alerts.resolvedAlerts}
          columns={columnList()}
          rows={data?.over}
          keyOf={({ kind, subject, beganAt }) => `${kind} ${subject} ${beganAt}`}
          error={error}
          onRetry={() => void refetch()}
          empty={
            <Text size="sm" c="dimmed" px="md" pb="md">
              {settingsText.alerts.noneResolved}
            </Text>
          }
        />
      </Card>
    </SettingsPage>
  );
}

/** The URL may hold a token, so it is never shown in full. */
function AlertWebhook({ form }: { form: SettingsForm }) {
  const name = "alert_webhook";
  const saved = form.saved(name);
  const text = form.value(name);
  const isRemoved = text === "none" && saved !== "none";
  return (
    <TextInput
      {...commonProps({
        form,
        name,
        help: settingsText.alerts.aboutWebhook,
      })}
      type="url"
      autoComplete="off"
      placeholder={
        isRemoved
          ? settingsText.alerts.willBeRemoved
          : saved === "none"
            ? "https://hooks.example.com/…"
            : settingsText.alerts.configured(saved)
      }
      value={text === saved || text === "none" ? "" : text}
      onChange={(event) => form.change(name, event.currentTarget.value || saved)}
    />
  );
}

/** Sends a test alert to the saved recipients and shows the results. */
function AlertTest() {
  const site = useSiteId();
  const { mutate, data, error, isPending } = useSend("POST /sites/:site/alerts/test");
  return (
    <Stack gap="xs" mt="lg" align="flex-start">
      <Button variant="default" leftSection={<Send size={15} />} loading={isPending} onClick={() => mutate({ params: { site } })}>
        {settingsText.alerts.test}
      </Button>
      <RequestError error={error} />
      <div role="status">
        {data?.channels.length === 0 && <Text size="sm">{settingsText.alerts.noRecipient}</Text>}
        {data?.channels.map(({ channel, to, ok, error: fault }) => (
          <Text key={`${channel} ${to}`} size="sm" component="div">
            <State of={ok ? "sent" : "rejected"} word={ok ? settingsText.alerts.sent : settingsText.alerts.failed} />{" "}
            {fault === null
              ? settingsText.alerts.testResult(channelName(channel), to)
              : settingsText.alerts.testFault(channelName(channel), to, serverText(fault))}
          </Text>
        ))}
      </div>
    </Stack>
  );
}
