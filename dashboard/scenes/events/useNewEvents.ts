// Events that came while the list was open: they wait until somebody lets them in, but rows that are shown keep up.

import { useState } from "react";
import { useFeed, type EventSummary } from "../../common/feed.ts";

type Filter = { status: string; mode: string; isSearch: boolean; to: number | undefined };

export function useNewEvents(
  site: string,
  rows: readonly EventSummary[] | undefined,
  filter: Filter,
  again: () => void,
) {
  const [came, setCame] = useState<ReadonlyMap<string, EventSummary>>(new Map());
  useFeed(site, (event) => setCame((before) => new Map([...before, [event.id, event]].slice(-500) as never)));
  // Ids are in the order of time: what is older than the last row shown is further down, not new.
  const newest = rows?.[0]?.id ?? "";
  const fits = (event: EventSummary) =>
    !filter.isSearch &&
    (filter.status === "" || event.status === filter.status) &&
    (filter.mode === "" || event.mode === filter.mode) &&
    (filter.to === undefined || event.receivedAt < filter.to) &&
    event.id > newest;
  return {
    /** The rows with their newest states. */
    rows: rows?.map((row) => came.get(row.id) ?? row),
    waiting: rows ? [...came.values()].filter(fits).length : 0,
    letIn: () => {
      again();
      setCame(new Map());
    },
  };
}
