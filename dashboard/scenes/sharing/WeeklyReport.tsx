// When the weekly report is sent, to whom, and what became of the last one.

import { Button, Group, Select, Stack, Text } from "@mantine/core";
import { Send } from "lucide-react";
import { reportLanguages } from "../../../src/kernel/text.ts";
import { weekDays } from "../../../src/kernel/time.ts";
import type { Answer } from "../../common/api/api.ts";
import { useApi, useSend } from "../../common/api/query.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { SettingsCard, SiteSettings, type SettingsForm } from "../../common/settings/SettingsCard.tsx";
import { ChoiceField, commonProps } from "../../common/settings/settingFields.tsx";
import { RequestError } from "../../common/states.tsx";
import { State, Time } from "../../common/values.tsx";
import { serverText } from "../../messages/server.ts";
import { settingsText } from "../../messages/settings.ts";
import { siteSettingsText } from "../../messages/siteSettings.ts";

type Sent = Answer<"GET /sites/:site/weekly-report">;

export function WeeklyReport({ site, mayChange }: { site: string; mayChange: boolean }) {
  const texts = settingsText.sharing.weekly;
  const { data } = useApi("GET /sites/:site/weekly-report", { params: { site } }, { everyMs: 30_000 });
  return (
    <SiteSettings>
      <SettingsCard
        title={texts.title}
        about={texts.about}
        fields={(form) => (
          <Stack gap="md">
            <WeekTime form={form} />
            <ChoiceField
              form={form}
              name="report_language"
              data={reportLanguages.map((value) => ({ value, label: siteSettingsText.languages[value] }))}
              help={texts.aboutLanguage}
            />
          </Stack>
        )}
      >
        {data && <LastReport of={data} />}
        {mayChange && <SendNow site={site} />}
      </SettingsCard>
    </SiteSettings>
  );
}

const hours = Array.from({ length: 24 }, (_, hour) => String(hour));

/** A day and an hour make one setting, like "monday 8". */
function WeekTime({ form }: { form: SettingsForm }) {
  const name = "weekly_report";
  const texts = settingsText.sharing.weekly;
  const [day = "off", hour = "8"] = form.value(name).split(" ");
  const { label: _, ...props } = commonProps({ form, name, help: texts.aboutDay });
  return (
    <Group gap="xs" align="flex-start" wrap="nowrap" maw={480}>
      <Select
        {...props}
        label={texts.day}
        flex={1}
        data={[{ value: "off", label: texts.off }, ...weekDays.map((value) => ({ value, label: texts.days[value] }))]}
        value={day}
        allowDeselect={false}
        onChange={(value) => form.change(name, value === null || value === "off" ? "off" : `${value} ${hour}`)}
      />
      <Select
        label={texts.hour}
        w={112}
        data={hours.map((value) => ({ value, label: `${value.padStart(2, "0")}:00` }))}
        value={hour}
        allowDeselect={false}
        disabled={form.isReadOnly || day === "off"}
        onChange={(value) => form.change(name, `${day} ${value ?? hour}`)}
      />
    </Group>
  );
}

const channelName = (channel: string) =>
  channel === "mail" ? settingsText.sharing.weekly.channels.mail : settingsText.sharing.weekly.channels.webhook;

function LastReport({ of: { nextAt, lastAt, channels } }: { of: Sent }) {
  const texts = settingsText.sharing.weekly;
  if (nextAt === null && lastAt === null) return null;
  return (
    <Stack gap={4} mt="lg">
      {nextAt !== null && (
        <Text size="sm">
          <RichText text={texts.next} tags={{ time: () => <Time at={nextAt} /> }} />
        </Text>
      )}
      {lastAt !== null && channels.length > 0 && (
        <>
          <Text size="sm" fw={500}>
            {texts.last} <Time at={lastAt} />
          </Text>
          {channels.map(({ channel, state, error }) => (
            <Text key={channel} size="sm" component="div">
              <State of={state === "sent" ? "sent" : state === "failed" ? "rejected" : "queued"} word={texts.states[state]} />{" "}
              {error === null ? channelName(channel) : texts.channel(channelName(channel), serverText(error))}
            </Text>
          ))}
        </>
      )}
    </Stack>
  );
}

function SendNow({ site }: { site: string }) {
  const texts = settingsText.sharing.weekly;
  const { mutate, data, error, isPending } = useSend("POST /sites/:site/weekly-report/send");
  return (
    <Stack gap="xs" mt="lg" align="flex-start">
      <Button variant="default" leftSection={<Send size={15} />} loading={isPending} onClick={() => mutate({ params: { site } })}>
        {texts.send}
      </Button>
      <RequestError error={error} />
      <div role="status">
        {data?.channels.map(({ channel, to, ok, error: fault }) => (
          <Text key={channel} size="sm" component="div">
            <State of={ok ? "sent" : "rejected"} word={ok ? texts.states.sent : texts.states.failed} />{" "}
            {fault === null ? texts.result(channelName(channel), to) : texts.fault(channelName(channel), to, serverText(fault))}
          </Text>
        ))}
      </div>
    </Stack>
  );
}
