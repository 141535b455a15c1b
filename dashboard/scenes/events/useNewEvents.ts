// Events that arrive while the list is open: new ones wait for a click, shown ones are updated.

import { useState } from "react";
import { useFeed, type EventSummary } from "../../common/api/feed.ts";

type Filter = { status: string; mode: string; isSearch: boolean; to: number | undefined };

export function useNewEvents(
  site: string,
  rows: readonly EventSummary[] | undefined,
  filter: Filter,
  again: () => void,
) {
  const [received, setReceived] = useState<ReadonlyMap<string, EventSummary>>(new Map());
  useFeed(site, (event) =>
    setReceived((before) => new Map([...before, [event.id, event]].slice(-500) as never)),
  );
  // Ids are ordered by time: an event older than the last row is further down, not new.
  const newest = rows?.[0]?.id ?? "";
  const fits = (event: EventSummary) =>
    !filter.isSearch &&
    (filter.status === "" || event.status === filter.status) &&
    (filter.mode === "" || event.mode === filter.mode) &&
    (filter.to === undefined || event.receivedAt < filter.to) &&
    event.id > newest;
  return {
    /** The rows with their newest states. */
    rows: rows?.map((row) => received.get(row.id) ?? row),
    waiting: rows ? [...received.values()].filter(fits).length : 0,
    showNew: () => {
      again();
      setReceived(new Map());
    },
  };
}
