// How an event came in, whether it came before, and whether it was filtered.

import { Alert, List, Text } from "@mantine/core";
import { Copy, Inbox, Plug, ShieldCheck, TriangleAlert } from "lucide-react";
import type { Answer } from "../../common/api.ts";
import { AskButton } from "../../common/dialogs.tsx";
import { told } from "../../common/notices.tsx";
import { exactTime } from "../../common/format.ts";
import { filterReasonText } from "../../common/reasons.ts";
import { useSend } from "../../common/query.ts";
import { useMay, useSite } from "../../common/session.tsx";
import { Id, Money, State, When } from "../../common/values.tsx";
import { Facts, Step } from "./Step.tsx";
import { To } from "../../common/To.tsx";

export type TraceOf = Answer<"GET /sites/:site/events/:event">;
type Props = { trace: TraceOf; site: string };

export function ReceivedStep({ trace }: Pick<Props, "trace">) {
  const timeZone = useSite()?.timeZone;
  const isLate = Math.abs(trace.time - trace.receivedAt) > 60_000;
  return (
    <Step
      icon={Inbox}
      title="Received"
      state={
        <Text size="sm" c="dimmed" component="span">
          <When at={trace.receivedAt} />
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
          ["Event id", <Id key="id" value={trace.platformEventId} label="event id" short={false} />],
          [
            "Our id",
            trace.id !== trace.platformEventId && <Id value={trace.id} label="our id" short={false} />,
          ],
        ]}
      />
      {trace.mode === "test" && (
        <Text size="sm" c="dimmed" mt="xs">
          It came with a test key: platforms get it in their own test mode, and it is in no number.
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
    <Step icon={Copy} title="Duplicate check" state={<State of="accepted" word="the first" />}>
      <Text size="sm" c="dimmed">
        {trace.orderId
          ? "No other had this event name, order id and email."
          : "Without an order id, event name, email, value and time are compared. No other was the same."}{" "}
        Copies are answered, counted and not sent again.{" "}
        <To to={`/sites/${site}/configuration/deduplication`} underline="always">
          How long that holds
        </To>
      </Text>
    </Step>
  );
}

export function VerdictStep({ trace, site }: Props) {
  const mayRelease = useMay("admin", site);
  const release = useSend("POST /sites/:site/events/:event/release", {
    onDone: ({ deliveries }) =>
      told(deliveries === 1 ? "Released: 1 delivery goes out" : `Released: ${deliveries} deliveries go out`),
  });
  const isHeld = trace.status === "filtered" && trace.releasedAt === null;
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
          Nothing spoke against a person.
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
          It was released <When at={trace.releasedAt} />, and delivered then.
        </Text>
      )}
      {isHeld && (
        <Text size="sm" c="dimmed" my="xs">
          It is kept here and was sent nowhere.{" "}
          <To to={`/sites/${site}/configuration/traffic`} underline="always">
            Traffic filters
          </To>
        </Text>
      )}
      {isHeld && mayRelease && (
        <AskButton
          label="Release"
          question="Release this event?"
          consequence="This says that it is not a bot. It goes to every connected platform now, and counts as a conversion. Events of this person are not filtered any more. What was sent cannot be taken back."
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
  const isHeld = trace.status === "filtered" && trace.releasedAt === null;
  return (
    <Step icon={Plug} title="Platforms" state={<State of="not connected" word="none" />}>
      <Text size="sm" c="dimmed">
        {isHeld ? "A filtered event is sent nowhere." : "No platform was connected when it came."}{" "}
        {!isHeld && (
          <To to={`/sites/${site}/integrations`} underline="always">
            Connect one
          </To>
        )}
      </Text>
    </Step>
  );
}
