// The first steps of a trace: received, duplicate check, traffic filter.

import { Alert, List, Text } from "@mantine/core";
import { Copy, Inbox, Plug, ShieldCheck, TriangleAlert } from "lucide-react";
import type { Answer } from "../../common/api/api.ts";
import { useSend } from "../../common/api/query.ts";
import { useMay, useSite } from "../../common/api/session.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { exactTime } from "../../common/format/times.ts";
import { filterReasonText } from "../../common/format/reasons.ts";
import { TextLink } from "../../common/links.tsx";
import { notify } from "../../common/notices.tsx";
import { Id, Money, State, Time } from "../../common/values.tsx";
import { Items } from "./Items.tsx";
import { Facts, Step } from "./Step.tsx";
import { isUnreleased } from "./eventCells.tsx";
import { eventsText } from "../../messages/events.ts";
import { RichText } from "../../common/format/RichText.tsx";
import { commonText } from "../../messages/common.ts";
import { serverText, wordText } from "../../messages/server.ts";

export type EventTrace = Answer<"GET /sites/:site/events/:event">;
type Props = { trace: EventTrace; site: string };

export function ReceivedStep({ trace }: Pick<Props, "trace">) {
  const timeZone = useSite()?.timeZone;
  const isLate = Math.abs(trace.time - trace.receivedAt) > 60_000;
  return (
    <Step
      icon={Inbox}
      title={eventsText.columns.received}
      state={
        <Text size="sm" c="dimmed" component="span">
          <Time at={trace.receivedAt} />
        </Text>
      }
    >
      <Facts
        of={[
          [eventsText.columns.value, <Money key="value" value={trace.value} currency={trace.currency} />],
          [
            eventsText.columns.orderId,
            trace.orderId && <Id value={trace.orderId} label={eventsText.copy.orderId} short={false} />,
          ],
          [eventsText.received.key, trace.key.name ?? <Id value={trace.key.id} label={eventsText.copy.keyId} />],
          [eventsText.columns.received, exactTime(trace.receivedAt, timeZone)],
          [eventsText.received.happened, isLate ? exactTime(trace.time, timeZone) : null],
          [
            eventsText.received.platformEventId,
            <Id key="id" value={trace.platformEventId} label={eventsText.copy.platformEventId} short={false} />,
          ],
          [
            eventsText.received.eventId,
            trace.id !== trace.platformEventId && <Id value={trace.id} label={eventsText.copy.eventId} short={false} />,
          ],
        ]}
      />
      <Items trace={trace} />
      {trace.mode === "test" && (
        <Text size="sm" c="dimmed" mt="xs">
          {eventsText.received.test}
        </Text>
      )}
      {trace.warnings.map((warning) => (
        <Alert key={warning} variant="default" icon={<TriangleAlert size={18} color="var(--cc-warn)" />} py="xs" mt="xs">
          {serverText(warning)}
        </Alert>
      ))}
    </Step>
  );
}

export function DuplicateStep({ trace, site }: Props) {
  return (
    <Step icon={Copy} title={eventsText.duplicates.title} state={<State of="accepted" word={eventsText.duplicates.state} />}>
      <Text size="sm" c="dimmed">
        {trace.orderId ? eventsText.duplicates.withOrder : eventsText.duplicates.withoutOrder} {eventsText.duplicates.about}{" "}
        <TextLink to={`/sites/${site}/configuration/deduplication`} underline="always">
          {eventsText.duplicates.settings}
        </TextLink>
      </Text>
    </Step>
  );
}

export function VerdictStep({ trace, site }: Props) {
  const mayRelease = useMay("admin", site);
  const release = useSend("POST /sites/:site/events/:event/release", {
    onDone: ({ deliveries }) => notify(eventsText.filter.done(deliveries)),
  });
  const isHeld = isUnreleased(trace);
  const state = isHeld ? (
    <State of="filtered" />
  ) : trace.releasedAt === null ? (
    <State of="accepted" word={eventsText.filter.passed} />
  ) : (
    <State of="released" />
  );
  return (
    <Step icon={ShieldCheck} title={eventsText.filter.title} state={state}>
      {trace.filterReasons.length === 0 ? (
        <Text size="sm" c="dimmed">
          {eventsText.filter.noSignals}
        </Text>
      ) : (
        <List size="sm" mt={4}>
          {trace.filterReasons.map((reason) => (
            <List.Item key={filterReasonText(reason)}>{filterReasonText(reason)}</List.Item>
          ))}
        </List>
      )}
      {trace.filterSignals.map(({ signal, why }) => (
        <Text key={signal} size="sm" c="dimmed" mt={4}>
          {wordText(signal) ?? why}
        </Text>
      ))}
      {trace.releasedAt !== null && (
        <Text size="sm" c="dimmed" mt={4}>
          <RichText text={eventsText.filter.released} tags={{ time: () => <Time at={trace.releasedAt} /> }} />
        </Text>
      )}
      {isHeld && (
        <Text size="sm" c="dimmed" my="xs">
          {eventsText.filter.held}{" "}
          <TextLink to={`/sites/${site}/configuration/traffic`} underline="always">
            {eventsText.filter.settings}
          </TextLink>
        </Text>
      )}
      {isHeld && mayRelease && (
        <ConfirmButton
          label={eventsText.filter.release}
          question={eventsText.filter.question}
          consequence={eventsText.filter.consequence}
          confirm={eventsText.filter.release}
          danger={false}
          variant="light"
          of={release}
          onConfirm={() => release.mutateAsync({ params: { site, event: trace.id } })}
        />
      )}
    </Step>
  );
}

export function NoPlatformStep({ trace, site }: Props) {
  const isHeld = isUnreleased(trace);
  return (
    <Step icon={Plug} title={eventsText.platforms.title} state={<State of="not connected" word={commonText.none} />}>
      <Text size="sm" c="dimmed">
        {isHeld ? eventsText.platforms.held : eventsText.platforms.noneConnected}{" "}
        {!isHeld && (
          <TextLink to={`/sites/${site}/integrations`} underline="always">
            {eventsText.platforms.connect}
          </TextLink>
        )}
      </Text>
    </Step>
  );
}
