// Cells of an event in a list: deliveries, match, status.

import { Text } from "@mantine/core";
import { unselectedReason } from "../../../src/kernel/event.ts";
import type { EventSummary } from "../../common/api/feed.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { State } from "../../common/values.tsx";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";

export const tracePath = (site: string, event: string) => `/sites/${site}/events/${event}`;

export function EventStatus({ event }: { event: EventSummary }) {
  if (event.releasedAt !== null) return <State of="released" />;
  return <State of={event.status} />;
}

/** The connection leaves this event out by choice, so the delivery needs no attention. */
const isUnselected = ({ reason }: EventSummary["deliveries"][number]) => reason === unselectedReason;

const order = ["rejected", "expired", "parked", "queued", "sent", "skipped"] as const;

/** Delivery states, the worst first: "1 rejected, 3 sent". `brief` leaves skipped deliveries out if there are others. */
export function DeliveryStates({ event, brief = false }: { event: EventSummary; brief?: boolean }) {
  const nameOf = usePlatformName();
  if (event.deliveries.length === 0) return <span className="cc-quiet">{commonText.none}</span>;
  const unselected = event.deliveries.filter(isUnselected);
  const rest = event.deliveries.filter((one) => !isUnselected(one));
  const all = order
    .map((state) => ({ state, all: rest.filter((one) => one.state === state) }))
    .filter((group) => group.all.length > 0);
  const groups = brief && all.length > 1 ? all.filter(({ state }) => state !== "skipped") : all;
  return (
    <>
      {groups.map(({ state, all: these }) => (
        <span
          key={state}
          data-tip={these
            .map(({ platform, reason }) =>
              reason ? commonText.reasonDetail(nameOf(platform), serverText(reason)) : nameOf(platform),
            )
            .join("\n")}
        >
          <State
            of={state}
            {...(event.deliveries.length === 1
              ? {}
              : { word: commonText.event.stateCount(these.length, commonText.states[state]) })}
          />
        </span>
      ))}
      {unselected.length > 0 && (!brief || groups.length === 0) && (
        <Text
          size="sm"
          c="dimmed"
          component="span"
          data-tip={unselected.map(({ platform }) => nameOf(platform)).join(", ")}
        >
          {commonText.event.notSelected(unselected.length)}
        </Text>
      )}
    </>
  );
}

/** What each platform did with the event: a mark for each, with its state by shape and colour. Opens the trace. */
export function DeliveryDots({ event, nameOf, href }: { event: EventSummary; nameOf: NameOf; href: string }) {
  const unselected = event.deliveries.filter(isUnselected);
  // The worst come first, so that they are seen where not all have space.
  const rest = order.flatMap((state) =>
    event.deliveries.filter((one) => one.state === state && !isUnselected(one)),
  );
  const worst = rest[0] && isProblem(rest[0].state) ? rest[0].state : null;
  const lines = rest.map((one) => describeDelivery(one, nameOf));
  const notSelected = unselected.length > 0 ? commonText.event.notSelected(unselected.length) : "";
  const all = notSelected ? [...lines, notSelected] : lines;
  const max = worst ? 5 : 7;
  const shown = rest.length > max + 1 ? rest.slice(0, max) : rest;
  return (
    <a href={href} data-row-link className="cc-dots" data-tip={all.join("\n")}>
      <span className="cc-hidden">{commonText.event.deliveriesOf(labelOf(event), all.join("; "))}</span>
      {rest.length > 0 ? (
        <span className="cc-marks" aria-hidden>
          {shown.map((one, i) => (
            <span key={one.connection} className="cc-delivery" data-tip={lines[i]}>
              <PlatformMark id={one.platform} name={nameOf(one.platform)} size={14} />
              <span className="cc-shape" data-state={one.state} />
            </span>
          ))}
          {shown.length < rest.length && (
            <span className="cc-delivery cc-quiet" data-tip={lines.slice(max).join("\n")}>
              {commonText.event.moreDeliveries(rest.length - max)}
            </span>
          )}
        </span>
      ) : (
        <span className="cc-quiet" aria-hidden>
          {notSelected || commonText.none}
        </span>
      )}
      {worst && (
        <span className="cc-problem" data-state={worst} aria-hidden>
          {commonText.event.stateCount(
            rest.filter(({ state }) => state === worst).length,
            commonText.states[worst],
          )}
        </span>
      )}
    </a>
  );
}

type NameOf = (platform: string) => string;

const isProblem = (state: string) => state === "rejected" || state === "expired" || state === "parked";

function describeDelivery({ platform, state, reason }: EventSummary["deliveries"][number], nameOf: NameOf) {
  const name = nameOf(platform);
  const word = commonText.states[state];
  return reason
    ? commonText.event.deliveryReason(name, word, serverText(reason))
    : commonText.reasonDetail(name, word);
}

const labelOf = ({ event, orderId }: EventSummary) => (orderId ? `${event} ${orderId}` : event);

/** Returns true for a filtered event that was not released: it was sent to no platform. */
export const isUnreleased = ({ status, releasedAt }: Pick<EventSummary, "status" | "releasedAt">) =>
  status === "filtered" && releasedAt === null;

/** Returns true for deliveries that did not arrive. Sent ones are rarely replayed, and queued ones are sent anyway. */
export const isReplayable = (state: string, reason: string | null) =>
  reason !== unselectedReason &&
  (state === "rejected" || state === "expired" || state === "skipped" || state === "parked");

/** The click ids by which platforms match the event, or why there are none. */
export function Match({ event }: { event: EventSummary }) {
  if (event.withheld) {
    const reason = serverText(event.withheld);
    return <span data-tip={reason}>{reason}</span>;
  }
  if (event.clickIds.length === 0) return <span className="cc-quiet">{commonText.none}</span>;
  const names = event.clickIds.join(", ");
  return (
    <span className="cc-mono" data-tip={names}>
      {names}
    </span>
  );
}
