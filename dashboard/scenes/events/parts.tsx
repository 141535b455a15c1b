// How one event reads in a list: its platforms, its match, its status. Each "why?" opens its trace.

import { Group, Text, Tooltip } from "@mantine/core";
import type { EventSummary } from "../../common/feed.ts";
import { usePlatformName } from "../../common/platforms.ts";
import { State } from "../../common/values.tsx";
import { To } from "../../common/To.tsx";

export const tracePath = (site: string, event: string) => `/sites/${site}/events/${event}`;

/** "only bot visits:headless" as people read it. */
export const reasonText = (reason: string) => reason.replace(/:\s*/, ": ");

type Search = Record<string, unknown>;

/** `search` is what the address keeps: the filters of the list behind the drawer. */
export function Why({ site, event, search }: { site: string; event: EventSummary; search?: Search }) {
  return (
    <To
      to={tracePath(site, event.id)}
      search={search ?? {}}
      aria-label={`Why? Trace of ${event.event}${event.orderId ? ` ${event.orderId}` : ""}`}
    >
      why?
    </To>
  );
}

export function EventStatus({ event }: { event: EventSummary }) {
  if (event.releasedAt !== null) return <State of="released" />;
  return <State of={event.status} />;
}

const order = ["rejected", "expired", "parked", "queued", "sent", "skipped"] as const;

/** What became of it at the platforms, the worst first: "1 rejected, 3 sent". `brief` is only what went out or should. */
export function DeliveryStates({ event, brief = false }: { event: EventSummary; brief?: boolean }) {
  const nameOf = usePlatformName();
  if (event.deliveries.length === 0) return <span className="cc-quiet">none</span>;
  const all = order
    .map((state) => ({ state, all: event.deliveries.filter((one) => one.state === state) }))
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
            .map(({ platform, reason }) => `${nameOf(platform)}${reason ? `: ${reason}` : ""}`)
            .join("\n")}
          styles={{ tooltip: { whiteSpace: "pre-line" } }}
        >
          <span>
            <State of={state} word={these.length === 1 ? state : `${these.length} ${state}`} />
          </span>
        </Tooltip>
      ))}
    </>
  );
}

export const isInTrouble = (event: EventSummary) =>
  event.deliveries.some(({ state }) => state !== "sent" && state !== "queued");

/** By what a platform can tell who it was. */
export function Match({ site, event, search }: { site: string; event: EventSummary; search?: Search }) {
  const why = <Why site={site} event={event} {...(search ? { search } : {})} />;
  if (event.withheld)
    return (
      <Group gap={6} wrap="nowrap">
        <Text size="sm">{event.withheld}</Text>
        {why}
      </Group>
    );
  if (event.clickIds.length === 0)
    return (
      <Group gap={6} wrap="nowrap">
        <span className="cc-quiet">none</span>
        {why}
      </Group>
    );
  return <span className="cc-mono">{event.clickIds.join(", ")}</span>;
}
