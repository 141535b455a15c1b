// One platform's step of a trace: its state, all attempts, and replay.

import { Accordion, Group, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { usePlatformName } from "../../common/api/platforms.ts";
import { useMay } from "../../common/api/session.ts";
import { durationText } from "../../common/format/times.ts";
import { TextLink } from "../../common/links.tsx";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { Code, State, Time } from "../../common/values.tsx";
import { ConfirmationLine, CorrectionLine } from "../integrations/quality/ConfirmationLine.tsx";
import { RepairButton } from "../integrations/RepairButton.tsx";
import { useConnections } from "../integrations/connections.tsx";
import { repairOfDelivery } from "../integrations/repairs.ts";
import type { EventTrace } from "./ReceivedSteps.tsx";
import { ReplayButton } from "./ReplayButton.tsx";
import { Step } from "./Step.tsx";
import { isReplayable } from "./eventCells.tsx";
import { eventsText } from "../../messages/events.ts";
import { integrationsText } from "../../messages/integrations.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { serverText } from "../../messages/server.ts";

type Delivery = EventTrace["deliveries"][number];
type Attempt = Delivery["log"][number];

export function PlatformStep({ trace, delivery, site }: { trace: EventTrace; delivery: Delivery; site: string }) {
  const nameOf = usePlatformName();
  const name = nameOf(delivery.platform);
  const connections = useConnections(site).data?.items;
  // While the connections load, or cannot be loaded, nothing is hidden: the relay checks a replay itself.
  const isRemoved = connections?.every(({ id }) => id !== delivery.connection) === true;
  const mayReplay = useMay("admin", site) && !isRemoved;
  const canReplay = isReplayable(delivery);
  const replay = <ReplayButton site={site} eventId={trace.id} delivery={delivery} variant={canReplay ? "default" : "subtle"} />;
  return (
    <Step
      mark={<PlatformMark id={delivery.platform} />}
      title={
        isRemoved ? (
          name
        ) : (
          <TextLink
            to={`/sites/${site}/integrations/${delivery.platform}`}
            search={{ connection: delivery.connection }}
            c="inherit"
            inherit
          >
            {name}
          </TextLink>
        )
      }
      state={
        <>
          <State of={delivery.state} />
          {isRemoved && (
            <Text size="sm" c="dimmed">
              {integrationsText.log.disconnected}
            </Text>
          )}
        </>
      }
      action={mayReplay && canReplay && replay}
    >
      {delivery.reason && (
        <Group gap="xs" justify="space-between">
          <Text size="sm" style={{ overflowWrap: "anywhere", flex: "1 1 200px" }}>
            {serverText(delivery.reason)}
          </Text>
          {!isRemoved && <RepairButton site={site} repair={repairOfDelivery(delivery, name)} />}
        </Group>
      )}
      {delivery.confirmation && <ConfirmationLine of={delivery.confirmation} />}
      {delivery.sentAs && <Text size="sm">{serverText(delivery.sentAs)}</Text>}
      {delivery.correction && <CorrectionLine of={delivery.correction} currency={trace.currency} />}
      {delivery.nextTryAt !== null && (
        <Text size="sm" c="dimmed">
          <RichText text={eventsText.platforms.nextAttempt} tags={{ time: () => <Time at={delivery.nextTryAt} /> }} />
        </Text>
      )}
      {delivery.log.length === 0 ? (
        <Text size="sm" c="dimmed">
          {delivery.state === "queued" ? eventsText.platforms.noAttempt : eventsText.platforms.noRequest}
        </Text>
      ) : (
        <Accordion variant="contained" mt="xs" multiple chevronPosition="left" order={4} styles={{ label: { paddingBlock: 8 } }}>
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
            {eventsText.platforms.attempt(attempt.number)}
          </Text>
          <State of={attempt.state} />
          <Text size="sm" c="dimmed" className="cc-number" component="span">
            {attempt.httpStatus === null ? eventsText.platforms.noResponse : `HTTP ${attempt.httpStatus}`} ·{" "}
            {durationText(attempt.durationMs)} · <Time at={attempt.startedAt} />
          </Text>
        </Group>
      </Accordion.Control>
      <Accordion.Panel>
        {attempt.reason && (
          <Text size="sm" mb="xs" style={{ overflowWrap: "anywhere" }}>
            {serverText(attempt.reason)}
          </Text>
        )}
        <Text size="xs" c="dimmed" mb={4}>
          {attempt.batch > 1 ? eventsText.platforms.aboutBatch(attempt.batch) : eventsText.platforms.aboutRequest}
        </Text>
        <Code label={eventsText.platforms.request}>{attempt.request}</Code>
        <Text size="xs" c="dimmed" mt="xs" mb={4}>
          {eventsText.platforms.response}
        </Text>
        {attempt.response ? (
          <Code label={eventsText.platforms.response}>{attempt.response}</Code>
        ) : (
          <Text size="sm" c="dimmed">
            {attempt.httpStatus === null ? eventsText.platforms.noResponseSentence : eventsText.platforms.emptyResponse}
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
