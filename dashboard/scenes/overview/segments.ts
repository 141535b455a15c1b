// The filter of the overview: one event name, source, campaign or platform, kept in the URL.

import { useQueryParams } from "../../common/lists/queryParams.ts";

const segmentKinds = ["event", "source", "campaign", "platform"] as const;
export type SegmentKind = (typeof segmentKinds)[number];
export type Segment = { kind: SegmentKind; name: string };

/** Rare names of an hour are counted together under this name. */
export const otherNames = "(other)";
/** Conversions without a source or campaign are counted under this name. */
export const noName = "(none)";

/** The sync log knows events and platforms, but no sources and campaigns. */
export const logFilterOf = (segment: Segment | null): Record<string, string> =>
  segment?.kind === "platform" || segment?.kind === "event" ? { [segment.kind]: segment.name } : {};

/** The states in the sync log that lower the share of what was delivered. */
export const notDelivered = "waiting,rejected,expired";

export function useSegment() {
  const { text, change } = useQueryParams();
  const kind = segmentKinds.find((one) => text(one) !== "");
  const segment: Segment | null = kind ? { kind, name: text(kind) } : null;
  const isChosen = (one: SegmentKind, name: string) => segment?.kind === one && segment.name === name;
  const none = { event: undefined, source: undefined, campaign: undefined, platform: undefined };
  return {
    segment,
    isChosen,
    /** Chooses a name; the one that is chosen already is cleared. */
    toggle: (one: SegmentKind, name: string) => change({ ...none, ...(isChosen(one, name) ? {} : { [one]: name }) }),
    clear: () => change(none),
  };
}
