// The question what unsaved settings would have done with the events of a period, next to the button that saves them; and in a trace,
// with the settings that it is usually about.

import { Button, Group, Modal, NumberInput, Progress, Select, Stack, Switch, Text } from "@mantine/core";
import { History } from "lucide-react";
import { useState } from "react";
import { useApi } from "../api/query.ts";
import { useLateDialog } from "../dialogs.tsx";
import { RequestError } from "../states.tsx";
import { resultsText } from "../../messages/results.ts";
import { settingName } from "./settingNames.ts";
import { useWhatIf, type Question } from "./useWhatIf.ts";
import { WhatIfResult } from "./WhatIfResult.tsx";

type Changes = Pick<Question, "settings" | "connection">;
type Props = {
  site: string;
  /** The unsaved changes. Without them the dialog asks for some. */
  changes?: Changes;
  /** Says what is asked, where the changes are not those of a form. */
  about?: string;
  /** The event of a trace. */
  event?: string;
};

export function WhatIfButton(props: Props) {
  const { isMounted, isOpen, open, close } = useLateDialog();
  const texts = resultsText.whatIf;
  return (
    <>
      <Button
        variant="default"
        {...(props.event === undefined ? {} : { size: "compact-sm" })}
        leftSection={<History size={14} aria-hidden />}
        onClick={open}
      >
        {texts.label}
      </Button>
      {isMounted && (
        <Modal opened={isOpen} onClose={close} title={texts.title} size="lg" centered>
          {/* Closing ends what runs. */}
          {isOpen && <Content {...props} />}
        </Modal>
      )}
    </>
  );
}

const periods = ["1", "7", "30", "90"];
const thisEvent = "event";

function Content({ site, changes, about, event }: Props) {
  const texts = resultsText.whatIf;
  const [events, setEvents] = useState(event === undefined ? "7" : thisEvent);
  const [own, setOwn] = useState<Record<string, string>>({});
  const whatIf = useWhatIf(site);
  const asked = changes ?? { settings: own };
  const start = () => whatIf.run({ ...asked, ...(events === thisEvent ? { event } : { days: Number(events) }) });
  const isRunning = whatIf.state === "running";
  const choices = periods.map((days) => ({ value: days, label: texts.lastDays(Number(days)) }));
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {about ?? (changes ? texts.about : texts.aboutEvent)}
      </Text>
      {!changes && <OwnChanges site={site} changes={own} onChange={setOwn} />}
      <Group align="flex-end" gap="sm">
        <Select
          label={texts.events}
          data={event === undefined ? choices : [{ value: thisEvent, label: texts.thisEvent }, ...choices]}
          value={events}
          allowDeselect={false}
          onChange={(value) => setEvents(value ?? events)}
          flex="1 1 200px"
          disabled={isRunning}
        />
        {isRunning ? (
          <Button variant="default" onClick={whatIf.stop}>
            {texts.stop}
          </Button>
        ) : (
          <Button onClick={() => void start()} disabled={Object.keys(asked.settings ?? {}).length === 0 && !asked.connection}>
            {texts.run}
          </Button>
        )}
      </Group>
      <RequestError error={whatIf.error} />
      {isRunning && (
        <div>
          <Progress value={100 * (whatIf.answer?.progress ?? 0)} aria-label={texts.looking} />
          <Text size="xs" c="dimmed" mt={4}>
            {texts.looked(eventsText(whatIf.answer?.differences.events ?? 0))}
          </Text>
        </div>
      )}
      <div aria-live="polite" aria-busy={isRunning}>
        {whatIf.answer && <WhatIfResult site={site} answer={whatIf.answer} isStopped={whatIf.state === "stopped"} />}
      </div>
    </Stack>
  );
}

const eventsText = (count: number) => resultsText.whatIf.eventCount(count);

const threshold = "bot_threshold";
const consentMode = "consent_mode";
const everyShadowOn = "all=on";
/** Adds that all evidence in shadow counts to the saved modes. */
export const withShadows = (evidence: string): string => [...(evidence ? [evidence] : []), everyShadowOn].join(",");

type Own = { site: string; changes: Record<string, string>; onChange: (changes: Record<string, string>) => void };

function OwnChanges({ site, changes, onChange }: Own) {
  const texts = resultsText.whatIf;
  const { data } = useApi("GET /sites/:site/settings", { params: { site } });
  const saved = (name: string) => data?.items.find((item) => item.name === name)?.value ?? "";
  const value = (name: string) => changes[name] ?? saved(name);
  const set = (name: string, text: string) => {
    const { [name]: _before, ...others } = changes;
    onChange(text === saved(name) || text === "" ? others : { ...others, [name]: text });
  };
  const evidence = saved("evidence");
  return (
    <Stack gap="sm">
      <Group grow align="flex-start">
        <NumberInput
          label={settingName(threshold)}
          min={1}
          max={100}
          value={value(threshold) === "" ? "" : Number(value(threshold))}
          onChange={(next) => set(threshold, String(next))}
        />
        <Select
          label={settingName(consentMode)}
          data={["opt-out", "opt-in"]}
          value={value(consentMode) || null}
          allowDeselect={false}
          onChange={(next) => set(consentMode, next ?? "")}
        />
      </Group>
      <Switch
        label={texts.shadow}
        checked={changes.evidence !== undefined}
        onChange={({ currentTarget }) => set("evidence", currentTarget.checked ? withShadows(evidence) : evidence)}
      />
    </Stack>
  );
}
