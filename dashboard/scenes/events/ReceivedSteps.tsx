// The first steps of a trace: received, duplicate check, traffic filter.

import { Alert, List, Text } from "@mantine/core";
import { Copy, Inbox, Plug, ShieldCheck, TriangleAlert } from "lucide-react";
import type { Answer } from "../../common/api/api.ts";
import { useSend } from "../../common/api/query.ts";
import { useMay, useSite } from "../../common/api/session.ts";
import { ConfirmButton } from "../../common/dialogs.tsx";
import { exactTime } from "../../common/format/format.ts";
import { filterReasonText } from "../../common/format/reasons.ts";
import { TextLink } from "../../common/links.tsx";
import { notify } from "../../common/notices.tsx";
import { Id, Money, State, Time } from "../../common/values.tsx";
import { Items } from "./Items.tsx";
import { Facts, Step } from "./Step.tsx";
import { isUnreleased } from "./eventCells.tsx";

export type EventTrace = Answer<"GET /sites/:site/events/:event">;
type Props = { trace: EventTrace; site: string };

export function ReceivedStep({ trace }: Pick<Props, "trace">) {
  const timeZone = useSite()?.timeZone;
  const isLate = Math.abs(trace.time - trace.receivedAt) > 60_000;
  return (
    <Step
      icon={Inbox}
      title="Received"
      state={
        <Text size="sm" c="dimmed" component="span">
          <Time at={trace.receivedAt} />
        </Text>
      }
    >
      <Facts
        of={[
          ["Value", <Money key="value" value={trace.value} currency={trace.currency} />],
          ["Order id", trace.orderId && <Id value={trace.orderId} label="order id" short={false} />],
          ["Inbound key", trace.key.name ?? <Id value={trace.key.id} label="key id" />],
          ["Received", exactTime(trace.receivedAt, timeZone)],
          ["Happened", isLate ? exactTime(trace.time, timeZone) : null],
          [
            "Platform event id",
            <Id key="id" value={trace.platformEventId} label="platform event id" short={false} />,
          ],
          [
            "Event id",
            trace.id !== trace.platformEventId && <Id value={trace.id} label="event id" short={false} />,
          ],
        ]}
      />
      <Items trace={trace} />
      {trace.mode === "test" && (
        <Text size="sm" c="dimmed" mt="xs">
          Sent with a test key: platforms receive it in their own test mode. Test events are never counted.
        </Text>
      )}
      {trace.warnings.map((warning) => (
        <Alert
          key={warning}
          variant="default"
          icon={<TriangleAlert size={18} color="var(--cc-warn)" />}
          py="xs"
          mt="xs"
        >
          {warning}
        </Alert>
      ))}
    </Step>
  );
}

export function DuplicateStep({ trace, site }: Props) {
  return (
    <Step icon={Copy} title="Duplicate check" state={<State of="accepted" word="not a duplicate" />}>
      <Text size="sm" c="dimmed">
        {trace.orderId
          ? "No earlier event has the same name, order id and email."
          : "It has no order id. No earlier event has the same name, email, value, currency and time."}{" "}
        Duplicates are acknowledged and counted, but not sent again.{" "}
        <TextLink to={`/sites/${site}/configuration/deduplication`} underline="always">
          Deduplication settings
        </TextLink>
      </Text>
    </Step>
  );
}

export function VerdictStep({ trace, site }: Props) {
  const mayRelease = useMay("admin", site);
  const release = useSend("POST /sites/:site/events/:event/release", {
    onDone: ({ deliveries }) =>
      notify(
        deliveries === 1
          ? "Released: 1 delivery will be sent"
          : `Released: ${deliveries} deliveries will be sent`,
      ),
  });
  const isHeld = isUnreleased(trace);
  const state = isHeld ? (
    <State of="filtered" />
  ) : trace.releasedAt === null ? (
    <State of="accepted" word="passed" />
  ) : (
    <State of="released" />
  );
  return (
    <Step icon={ShieldCheck} title="Traffic filter" state={state}>
      {trace.filterReasons.length === 0 ? (
        <Text size="sm" c="dimmed">
          No bot signals found.
        </Text>
      ) : (
        <List size="sm" mt={4}>
          {trace.filterReasons.map((reason) => (
            <List.Item key={filterReasonText(reason)}>{filterReasonText(reason)}</List.Item>
          ))}
        </List>
      )}
      {trace.releasedAt !== null && (
        <Text size="sm" c="dimmed" mt={4}>
          Released <Time at={trace.releasedAt} /> and then delivered.
        </Text>
      )}
      {isHeld && (
        <Text size="sm" c="dimmed" my="xs">
          It is stored, but was not sent to any platform.{" "}
          <TextLink to={`/sites/${site}/configuration/traffic`} underline="always">
            Traffic filters
          </TextLink>
        </Text>
      )}
      {isHeld && mayRelease && (
        <ConfirmButton
          label="Release"
          question="Release this event?"
          consequence="This marks it as not a bot. It is sent to every connected platform now and counts as a conversion. Events of this person are no longer filtered. Sent conversions cannot be recalled."
          confirm="Release"
          danger={false}
          variant="light"
          isBusy={release.isPending}
          error={release.error}
          onConfirm={() => release.mutateAsync({ params: { site, event: trace.id } })}
        />
      )}
    </Step>
  );
}

export function NoPlatformStep({ trace, site }: Props) {
  const isHeld = isUnreleased(trace);
  return (
    <Step icon={Plug} title="Platforms" state={<State of="not connected" word="none" />}>
      <Text size="sm" c="dimmed">
        {isHeld
          ? "Filtered events are not sent to platforms."
          : "No platform was connected when it was received."}{" "}
        {!isHeld && (
          <TextLink to={`/sites/${site}/integrations`} underline="always">
            Connect one
          </TextLink>
        )}
      </Text>
    </Step>
  );
}
