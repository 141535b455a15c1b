// Cells of an event in a list: deliveries, match, status. Each "why?" opens the trace.

import { Group, Text, Tooltip } from "@mantine/core";
import type { EventSummary } from "../../common/api/feed.ts";
import { usePlatformName } from "../../common/api/platforms.ts";
import { TextLink } from "../../common/links.tsx";
import { State } from "../../common/values.tsx";
import { commonText } from "../../messages/common.ts";
import { serverText } from "../../messages/server.ts";

export const tracePath = (site: string, event: string) => `/sites/${site}/events/${event}`;

type Search = Record<string, unknown>;

/** `search` holds the filters of the list behind the drawer. */
export function Why({ site, event, search }: { site: string; event: EventSummary; search?: Search }) {
  return (
    <TextLink
      to={tracePath(site, event.id)}
      search={search ?? {}}
      aria-label={commonText.event.whyOf(event.orderId ? `${event.event} ${event.orderId}` : event.event)}
    >
      {commonText.event.why}
    </TextLink>
  );
}

export function EventStatus({ event }: { event: EventSummary }) {
  if (event.releasedAt !== null) return <State of="released" />;
  return <State of={event.status} />;
}

/** The connection leaves this event out by choice, so the delivery needs no attention. */
const isUnselected = ({ reason }: EventSummary["deliveries"][number]) => reason === "event not selected";

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
        <Tooltip
          key={state}
          multiline
          maw={360}
          label={these
            .map(({ platform, reason }) =>
              reason ? commonText.reasonDetail(nameOf(platform), serverText(reason)) : nameOf(platform),
            )
            .join("\n")}
          styles={{ tooltip: { whiteSpace: "pre-line" } }}
        >
          <span>
            <State
              of={state}
              {...(event.deliveries.length === 1
                ? {}
                : { word: commonText.event.stateCount(these.length, commonText.states[state]) })}
            />
          </span>
        </Tooltip>
      ))}
      {unselected.length > 0 && (!brief || groups.length === 0) && (
        <Tooltip label={unselected.map(({ platform }) => nameOf(platform)).join(", ")} multiline maw={360}>
          <Text size="sm" c="dimmed" component="span">
            {commonText.event.notSelected(unselected.length)}
          </Text>
        </Tooltip>
      )}
    </>
  );
}

/** Returns true for a filtered event that was not released: it was sent to no platform. */
export const isUnreleased = ({ status, releasedAt }: Pick<EventSummary, "status" | "releasedAt">) =>
  status === "filtered" && releasedAt === null;

export const needsAttention = (event: EventSummary) =>
  event.deliveries.some((one) => one.state !== "sent" && one.state !== "queued" && !isUnselected(one));

/** Returns true for deliveries that did not arrive. Sent ones are rarely replayed, and queued ones are sent anyway. */
export const isReplayable = (state: string) =>
  state === "rejected" || state === "expired" || state === "skipped" || state === "parked";

/** The click ids by which platforms match the event. */
export function Match({ site, event, search }: { site: string; event: EventSummary; search?: Search }) {
  const why = <Why site={site} event={event} {...(search ? { search } : {})} />;
  if (event.withheld)
    return (
      <Group gap={6} wrap="nowrap">
        <Text size="sm">{serverText(event.withheld)}</Text>
        {why}
      </Group>
    );
  if (event.clickIds.length === 0)
    return (
      <Group gap={6} wrap="nowrap">
        <span className="cc-quiet">{commonText.none}</span>
        {why}
      </Group>
    );
  return <span className="cc-mono">{event.clickIds.join(", ")}</span>;
}
