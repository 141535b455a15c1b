// Open alerts, recipients, and resolved alerts.

import { Stack, Text, TextInput, Button } from "@mantine/core";
import { Send } from "lucide-react";
import { Card } from "../../common/Page.tsx";
import type { Answer } from "../../common/api/api.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { useMay, useSiteId } from "../../common/api/session.ts";
import { capitalize } from "../../common/format/format.ts";
import { Rows, type Column } from "../../common/lists/Rows.tsx";
import { SettingsCard, type SettingsForm } from "../../common/settings/SettingsCard.tsx";
import { ListField } from "../../common/settings/listFields.tsx";
import { commonProps, NumberOrOffField } from "../../common/settings/settingFields.tsx";
import { RequestError } from "../../common/states.tsx";
import { Time, State } from "../../common/values.tsx";
import { SettingsPage } from "../frame/SectionPage.tsx";
import { OpenAlerts } from "./OpenAlerts.tsx";

export type AlertLine = Answer<"GET /sites/:site/alerts">["open"][number];

const columns: Column<AlertLine>[] = [
  { title: "Alert", cell: ({ title }) => capitalize(title) },
  { title: "Began", cell: ({ beganAt }) => <Time at={beganAt} /> },
  { title: "Resolved", cell: ({ endedAt }) => <Time at={endedAt} /> },
];

export default function Alerts() {
  const site = useSiteId();
  const mayChange = useMay("admin", site);
  const { data, error, refetch } = useApi(
    "GET /sites/:site/alerts",
    { params: { site } },
    { everyMs: 30_000 },
  );
  return (
    <SettingsPage tab="alerts">
      <OpenAlerts alerts={data?.open} error={error} onRetry={() => void refetch()} />
      <SettingsCard
        title="Recipients"
        about="Recipients are notified when an alert begins, once a day while it lasts, and when it is resolved."
        fields={(form) => (
          <Stack gap="md">
            <ListField
              form={form}
              name="alert_emails"
              placeholder="you@example.com"
              help={
                data?.mail === false
                  ? "Up to 20. Email is not configured: set CLEANCAST_SMTP_URL first."
                  : "Up to 20."
              }
            />
            <AlertWebhook form={form} />
            <NumberOrOffField
              form={form}
              name="alert_success_rate"
              max={100}
              suffix=" %"
              help="Alerts when the share of successful attempts of a connection in the last hour falls below this value. Leave empty for no such alert."
            />
          </Stack>
        )}
      >
        {mayChange && <AlertTest />}
      </SettingsCard>
      <Card title="Resolved" about="Alerts of the last 90 days." padded={false}>
        <Rows
          label="Resolved alerts"
          columns={columns}
          rows={data?.over}
          keyOf={({ kind, subject, beganAt }) => `${kind} ${subject} ${beganAt}`}
          error={error}
          onRetry={() => void refetch()}
          empty={
            <Text size="sm" c="dimmed" px="md" pb="md">
              No resolved alerts in this period.
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
        help: "An HTTPS URL that receives alerts: Slack, Mattermost or your own. It is stored encrypted and never shown in full.",
      })}
      type="url"
      autoComplete="off"
      placeholder={
        isRemoved
          ? "will be removed"
          : saved === "none"
            ? "https://hooks.example.com/…"
            : `configured: ${saved}`
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
      <Button
        variant="default"
        leftSection={<Send size={15} />}
        loading={isPending}
        onClick={() => mutate({ params: { site } })}
      >
        Send test alert
      </Button>
      <RequestError error={error} />
      <div role="status">
        {data?.channels.length === 0 && (
          <Text size="sm">No alert recipient is configured. Save one first.</Text>
        )}
        {data?.channels.map(({ channel, to, ok, error: fault }) => (
          <Text key={channel} size="sm" component="div">
            <State of={ok ? "sent" : "rejected"} word={ok ? "sent" : "failed"} /> {channel} to {to}
            {fault && `: ${fault}`}
          </Text>
        ))}
      </div>
    </Stack>
  );
}
