// Cells of an event in a list: deliveries, match, status.

import { Text } from "@mantine/core";
import { unselectedReason } from "../../../src/kernel/event.ts";
import type { EventSummary } from "../../common/api/feed.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { State } from "../../common/values.tsx";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";

export const tracePath = (site: string, event: string) => `/sites/${site}/events/${event}`;

export function EventStatus({ event }: { event: EventSummary }) {
  if (event.releasedAt !== null) return <State of="released" />;
  return <State of={event.status} />;
}

type Delivery = EventSummary["deliveries"][number];

/** The connection leaves this event out by choice, so the delivery needs no attention. */
export const isUnselected = ({ reason }: Delivery) => reason === unselectedReason;

/** The worst first. */
export const order = ["rejected", "expired", "parked", "queued", "sent", "skipped"] as const;

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
        <Text size="sm" c="dimmed" component="span" data-tip={unselected.map(({ platform }) => nameOf(platform)).join(", ")}>
          {commonText.event.notSelected(unselected.length)}
        </Text>
      )}
    </>
  );
}

/** Returns true for a filtered event that was not released: it was sent to no platform. */
export const isUnreleased = ({ status, releasedAt }: Pick<EventSummary, "status" | "releasedAt">) =>
  status === "filtered" && releasedAt === null;

/**
 * Returns true for deliveries that did not arrive, and would not end the same way again. Sent ones are rarely replayed, and queued
 * ones are sent anyway.
 */
export const isReplayable = ({ state, reasonPersists }: Pick<Delivery, "state" | "reasonPersists">) =>
  !reasonPersists && (state === "rejected" || state === "expired" || state === "skipped" || state === "parked");

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
