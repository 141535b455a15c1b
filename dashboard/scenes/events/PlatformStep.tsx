// One platform's step of a trace: its state, all attempts, and replay.

import { Accordion, Group, Text } from "@mantine/core";
import { Send } from "lucide-react";
import type { ReactNode } from "react";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useMay } from "../../common/api/session.ts";
import { durationText } from "../../common/format/format.ts";
import { TextLink } from "../../common/links.tsx";
import { Code, State, Time } from "../../common/values.tsx";
import type { EventTrace } from "./ReceivedSteps.tsx";
import { ReplayButton } from "./ReplayButton.tsx";
import { Step } from "./Step.tsx";
import { isReplayable } from "./eventCells.tsx";

type Delivery = EventTrace["deliveries"][number];
type Attempt = Delivery["log"][number];

export function PlatformStep({
  trace,
  delivery,
  site,
}: {
  trace: EventTrace;
  delivery: Delivery;
  site: string;
}) {
  const nameOf = usePlatformName();
  const mayReplay = useMay("admin", site);
  const name = nameOf(delivery.platform);
  const canReplay = isReplayable(delivery.state);
  const replay = (
    <ReplayButton
      site={site}
      eventId={trace.id}
      delivery={delivery}
      variant={canReplay ? "default" : "subtle"}
    />
  );
  return (
    <Step
      icon={Send}
      title={
        <TextLink
          to={`/sites/${site}/integrations/${delivery.platform}`}
          search={{ connection: delivery.connection }}
          c="inherit"
          inherit
        >
          {name}
        </TextLink>
      }
      state={<State of={delivery.state} />}
      action={mayReplay && canReplay && replay}
    >
      {delivery.reason && (
        <Text size="sm" style={{ overflowWrap: "anywhere" }}>
          {delivery.reason}
        </Text>
      )}
      {delivery.nextTryAt !== null && (
        <Text size="sm" c="dimmed">
          Next try <Time at={delivery.nextTryAt} />
        </Text>
      )}
      {delivery.log.length === 0 ? (
        <Text size="sm" c="dimmed">
          {delivery.state === "queued" ? "No attempt yet." : "No request was made."}
        </Text>
      ) : (
        <Accordion
          variant="contained"
          mt="xs"
          multiple
          chevronPosition="left"
          order={4}
          styles={{ label: { paddingBlock: 8 } }}
        >
          {delivery.log.map((attempt) => (
            <AttemptItem key={`${attempt.number}-${attempt.startedAt}`} attempt={attempt}>
              {mayReplay && delivery.state === "sent" && attempt.state === "sent" && replay}
            </AttemptItem>
          ))}
        </Accordion>
      )}
    </Step>
  );
}

function AttemptItem({ attempt, children }: { attempt: Attempt; children: ReactNode }) {
  return (
    <Accordion.Item value={`${attempt.number}-${attempt.startedAt}`}>
      <Accordion.Control>
        <Group gap="sm" wrap="wrap">
          <Text size="sm" fw={500}>
            Attempt {attempt.number}
          </Text>
          <State of={attempt.state} />
          <Text size="sm" c="dimmed" className="cc-number" component="span">
            {attempt.httpStatus === null ? "no response" : `HTTP ${attempt.httpStatus}`} ·{" "}
            {durationText(attempt.durationMs)} · <Time at={attempt.startedAt} />
          </Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        {attempt.reason && (
          <Text size="sm" mb="xs" style={{ overflowWrap: "anywhere" }}>
            {attempt.reason}
          </Text>
        )}
        <Text size="xs" c="dimmed" mb={4}>
          Request{attempt.batch > 1 ? `, one of ${attempt.batch} events in it` : ""}. Secrets are redacted.
        </Text>
        <Code label="Request">{attempt.request}</Code>
        <Text size="xs" c="dimmed" mt="xs" mb={4}>
          Response
        </Text>
        {attempt.response ? (
          <Code label="Response">{attempt.response}</Code>
        ) : (
          <Text size="sm" c="dimmed">
            {attempt.httpStatus === null ? "No response." : "Empty response."}
          </Text>
        )}
        {children && (
          <Group justify="flex-end" mt="xs">
            {children}
          </Group>
        )}
      </Accordion.Panel>
    </Accordion.Item>
  );
}
