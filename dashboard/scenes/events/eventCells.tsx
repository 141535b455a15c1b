// Cells of an event in a list: deliveries, match, status.

import { Text } from "@mantine/core";
import { unselectedReason } from "../../../src/kernel/event.ts";
import type { EventSummary } from "../../common/api/feed.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { PlatformMark } from "../../common/platforms/PlatformMark.tsx";
import { State } from "../../common/values.tsx";
import { RepairLink } from "../integrations/RepairButton.tsx";
import { repairOfDelivery } from "../integrations/repairs.ts";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";

export const tracePath = (site: string, event: string) => `/sites/${site}/events/${event}`;

export function EventStatus({ event }: { event: EventSummary }) {
  if (event.releasedAt !== null) return <State of="released" />;
  return <State of={event.status} />;
}

/** The connection leaves this event out by choice, so the delivery needs no attention. */
const isUnselected = ({ reason }: Delivery) => reason === unselectedReason;

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

/** A mark with the gap after it. */
const markWidth = 29;

/** Returns how many marks fit into one line of this width. */
export const marksIn = (width: number) => Math.floor((width + 2) / markWidth);

/** The repair of the worst delivery that has one. An event that is not selected is left out by choice. */
function firstRepair(deliveries: readonly Delivery[], nameOf: NameOf) {
  for (const delivery of deliveries) {
    const repair = repairOfDelivery(delivery, nameOf(delivery.platform));
    if (repair?.isLikely) return { repair, tip: describeDelivery(delivery, nameOf) };
  }
  return null;
}

/**
 * What each platform did with the event: a mark for each, with its state by shape and colour. Opens the trace. `slots` is the
 * number of marks that fit; on a phone a text stands below them.
 */
export function DeliveryDots({
  event,
  nameOf,
  href,
  site,
  slots,
  isNarrow,
  mayRepair,
}: {
  event: EventSummary;
  nameOf: NameOf;
  href: string;
  site: string;
  slots: number;
  isNarrow: boolean;
  mayRepair: boolean;
}) {
  const unselected = event.deliveries.filter(isUnselected);
  // The worst come first, so that they are seen where not all have space.
  const rest = order.flatMap((state) =>
    event.deliveries.filter((one) => one.state === state && !isUnselected(one)),
  );
  const worst = rest[0] && isProblem(rest[0].state) ? rest[0].state : null;
  const lines = rest.map((one) => describeDelivery(one, nameOf));
  const notSelected = unselected.length > 0 ? commonText.event.notSelected(unselected.length) : "";
  const all = notSelected ? [...lines, notSelected] : lines;
  // The repair says more than the number of failures, which the marks and their tooltips still show.
  const found = mayRepair ? firstRepair(rest, nameOf) : null;
  const textSlots = !isNarrow && (found || worst) ? 3 : 0;
  const fitting = Math.max(2, Math.min(found || worst ? 6 : 8, slots - textSlots));
  const shown = rest.length > fitting ? rest.slice(0, fitting - 1) : rest;
  const dots = (
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
            <span className="cc-delivery cc-quiet" data-tip={lines.slice(shown.length).join("\n")}>
              {commonText.event.moreDeliveries(rest.length - shown.length)}
            </span>
          )}
        </span>
      ) : (
        <span className="cc-quiet" aria-hidden>
          {notSelected || commonText.none}
        </span>
      )}
      {worst && !found && (
        <span className="cc-problem" data-state={worst} aria-hidden>
          {commonText.event.stateCount(
            rest.filter(({ state }) => state === worst).length,
            commonText.states[worst],
          )}
        </span>
      )}
    </a>
  );
  if (!found) return dots;
  return (
    <span className="cc-outcome">
      {dots}
      <RepairLink site={site} {...found} />
    </span>
  );
}

type NameOf = (platform: string) => string;
type Delivery = EventSummary["deliveries"][number];

const isProblem = (state: string) => state === "rejected" || state === "expired" || state === "parked";

function describeDelivery({ platform, state, reason }: Delivery, nameOf: NameOf) {
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
