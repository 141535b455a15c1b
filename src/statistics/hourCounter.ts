// Counts events and their deliveries into the figures of an hour: of all conversions, and of those of each event name,
// source, campaign and platform. Whatever senders write into names, an hour has a bounded number of figures.

import { clicksOf } from "../identity/clickIds.ts";
import { eraseMasks } from "../kernel/maskAddresses.ts";
import type { FilterReason } from "../kernel/event.ts";
import type { CountedEvent } from "../store/events/eventRow.ts";
import type { Figure, HourFigure, Portion, SegmentFigures, SegmentKind, StatisticsKind } from "../store/statistics/statistics.ts";
import { cappedSum, botReason, isRefund } from "./aggregate.ts";
import { movesOf, type Move } from "./models.ts";
import { campaignOf, sourceOf } from "./source.ts";

/** An hour keeps this many names of events, sources and campaigns; the others are counted together, refunds apart. */
const maxNames = 50;
/** The same in the figures of one segment. */
const maxSegmentNames = 20;
/** Up to this many names are counted in memory, to find the most common ones. */
const maxCounted = 5000;
const maxCountedSegments = 1000;
export const otherNames = "(other)";

type Named = "conversion" | "source" | "campaign";
type Delivery = Portion["deliveries"][number];
type Conversion = Record<Named, string> &
  Pick<CountedEvent, "currency" | "value" | "clickIds"> & {
    moves: readonly Move[];
    isRefund: boolean;
    isIdentified: boolean;
    isWithheld: boolean;
  };

const groupNameOf = (kind: Named, name: string) => (kind === "conversion" && isRefund(name) ? "refund" : otherNames);

/** Charts show events that arrived late when they happened; an hour with more such times than this shows the rest itself. */
const maxLateHours = 200;

type HourCounter = {
  add(portion: Portion): void;
  figures(): HourFigure[];
  segments(): (SegmentFigures & { hour: number })[];
  /** True while a delivery waits: the figures will change. */
  isOpen(): boolean;
};

/** Counts the events of an hour. `hour` is the one that is counted. */
export function createHourCounter(hour: number): HourCounter {
  const own = createPart();
  /** By the hour in which the events happened. */
  const late = new Map<number, ReturnType<typeof createPart>>();
  let isOpen = false;

  function partOf(happenedHour: number | undefined) {
    if (happenedHour === undefined) return own;
    const known = late.get(happenedHour);
    if (known || late.size >= maxLateHours) return known ?? own;
    const part = createPart();
    late.set(happenedHour, part);
    return part;
  }

  const parts = () => [[hour, own] as const, ...late];

  return {
    add({ events, deliveries }) {
      const byEvent = Map.groupBy(deliveries, ({ eventId }) => eventId);
      for (const event of events) {
        if (event.mode === "test") {
          own.all.count("test");
          continue;
        }
        const part = partOf(event.happenedHour);
        if (event.status === "filtered") {
          part.all.count("filtered", countedReason(event.filterReasons));
          continue;
        }
        const conversion = toConversion(event);
        const deliveriesOf = byEvent.get(event.id) ?? [];
        if (deliveriesOf.some(({ state }) => state === "queued" || state === "parked")) isOpen = true;
        part.addConversion(conversion, deliveriesOf);
        // Deliveries are made when the event arrives, and the sync log looks for them in that hour.
        own.addDeliveries(conversion, deliveriesOf);
      }
    },
    figures: () => parts().flatMap(([at, part]) => part.all.figures().map((figure) => ({ ...figure, hour: at }))),
    segments: () => parts().flatMap(([at, part]) => part.segments().map((segment) => ({ ...segment, hour: at }))),
    isOpen: () => isOpen,
  };
}

/** The figures that charts show in one hour. */
function createPart() {
  const all = createTally(maxNames, maxCounted);
  const segments: Record<SegmentKind, Map<string, { conversions: number; tally: Tally }>> = {
    event: new Map(),
    source: new Map(),
    campaign: new Map(),
    platform: new Map(),
  };

  function segmentOf(kind: SegmentKind, name: string) {
    let segment = segments[kind].get(name);
    if (!segment && segments[kind].size < maxCountedSegments) {
      segment = { conversions: 0, tally: createTally(maxSegmentNames, maxCountedSegments) };
      segments[kind].set(name, segment);
    }
    return segment;
  }

  /** Calls `add` for each segment of a conversion, with the deliveries that belong to it. */
  function forEachSegment(
    conversion: Conversion,
    deliveries: readonly Delivery[],
    add: (segment: { conversions: number; tally: Tally }, some: readonly Delivery[]) => void,
  ): void {
    const addTo = (kind: SegmentKind, name: string, some: readonly Delivery[]) => {
      const segment = segmentOf(kind, name);
      if (segment) add(segment, some);
    };
    addTo("event", conversion.conversion, deliveries);
    addTo("source", conversion.source, deliveries);
    addTo("campaign", conversion.campaign, deliveries);
    // A skipped delivery did not apply to the platform.
    for (const [platform, some] of Map.groupBy(deliveries, (one) => one.platform))
      if (some.some(({ state }) => state !== "skipped")) addTo("platform", platform, some);
  }

  return {
    all,
    addConversion(conversion: Conversion, deliveries: readonly Delivery[]): void {
      all.addConversion(conversion, deliveries);
      forEachSegment(conversion, deliveries, (segment, some) => {
        segment.conversions += 1;
        segment.tally.addConversion(conversion, some);
      });
    },
    addDeliveries(conversion: Conversion, deliveries: readonly Delivery[]): void {
      all.addDeliveries(deliveries);
      forEachSegment(conversion, deliveries, ({ tally }, some) => tally.addDeliveries(some));
    },
    segments: () =>
      (Object.keys(segments) as SegmentKind[]).flatMap((kind) =>
        [...segments[kind]]
          .toSorted(([, one], [, other]) => other.conversions - one.conversions)
          .slice(0, maxNames)
          .map(([name, { tally }]) => ({ segment: kind, name, figures: tally.figures() }))
          .filter(({ figures }) => figures.length > 0),
      ),
  };
}

function toConversion(event: CountedEvent): Conversion {
  return {
    // Statistics outlive the erasure of a person.
    conversion: eraseMasks(event.event),
    source: eraseMasks(sourceOf(event)),
    campaign: eraseMasks(campaignOf(event)),
    isRefund: isRefund(event.event),
    currency: event.currency,
    value: event.value,
    moves: movesOf(isRefund(event.event) ? { ...event, value: null } : event),
    clickIds: clicksOf(event.clickIds, event.cookies),
    isIdentified: event.identity === "found",
    isWithheld: event.withheld !== null,
  };
}

type Tally = ReturnType<typeof createTally>;

/** Counts conversions, and keeps the `maxKept` most common names of each kind. */
function createTally(maxKept: number, maxInMemory: number) {
  const figures = new Map<string, Figure>();
  const names: Record<Named, Map<string, number>> = {
    conversion: new Map(),
    source: new Map(),
    campaign: new Map(),
  };

  function count(kind: StatisticsKind, name = "", currency = "", value = 0, by = 1): void {
    const key = `${kind}\n${name}\n${currency}`;
    const figure = figures.get(key);
    if (figure) {
      figure.count += by;
      figure.value = cappedSum(figure.value, value);
    } else figures.set(key, { kind, name, currency, count: by, value: cappedSum(0, value) });
  }

  function countValue(kind: StatisticsKind, name: string, { value, currency }: Conversion, hasValue: boolean) {
    if (value === null || !hasValue) count(kind, name);
    else count(kind, name, currency, value);
  }

  /** Returns the name under which it is counted. */
  function keepName(kind: Named, given: string): string {
    const known = names[kind];
    const name = known.has(given) || known.size < maxInMemory ? given : groupNameOf(kind, given);
    known.set(name, (known.get(name) ?? 0) + 1);
    return name;
  }

  function countNamed(kind: Named, conversion: Conversion): void {
    const name = keepName(kind, conversion[kind]);
    countValue(kind, name, conversion, kind === "conversion" || !conversion.isRefund);
  }

  function countMoves({ moves, value, currency, isRefund: isReturned }: Conversion): void {
    for (const { kind, name, parts, value: moved } of moves)
      count(kind, keepName(namedBy(kind), eraseMasks(name)), value === null || isReturned ? "" : currency, moved, parts);
  }

  return {
    count,
    addConversion(conversion: Conversion, deliveries: readonly Delivery[]): void {
      countNamed("conversion", conversion);
      countNamed("source", conversion);
      countNamed("campaign", conversion);
      countMoves(conversion);
      if (conversion.isIdentified) count("identified");
      if (conversion.isWithheld) count("withheld");
      if (conversion.clickIds.length) count("with click id");
      for (const name of conversion.clickIds) count("click id", name);
      // A platform that has two connections accepted the conversion once.
      const accepted = new Set(deliveries.filter(({ state }) => state === "sent").map((one) => one.platform));
      for (const platform of accepted) countValue("delivered", platform, conversion, !conversion.isRefund);
    },
    addDeliveries(deliveries: readonly Delivery[]): void {
      for (const { platform, state } of deliveries) count("delivery", `${platform} ${state}`);
    },
    figures: () => limitNames([...figures.values()], names, maxKept),
  };
}

/** An event with several reasons is counted once: as a bot's if that is among them, else under the first. */
function countedReason(reasons: readonly FilterReason[]): string {
  const codes = reasons.map(({ code }) => code);
  return codes.find((code) => code === botReason) ?? codes[0] ?? "";
}

const isNamed = (kind: StatisticsKind): kind is Named | Move["kind"] =>
  kind === "conversion" || kind === "source" || kind === "campaign" || /^(first|linear) /.test(kind);

const namedBy = (kind: Named | Move["kind"]): Named =>
  kind === "conversion" ? kind : kind.endsWith("source") ? "source" : "campaign";

function limitNames(figures: Figure[], names: Readonly<Record<Named, ReadonlyMap<string, number>>>, max: number): Figure[] {
  const kept = {
    conversion: commonNames(names.conversion, max),
    source: commonNames(names.source, max),
    campaign: commonNames(names.campaign, max),
  };
  const others = new Map<string, Figure>();
  const rest = figures.filter((figure) => {
    const { kind } = figure;
    if (!isNamed(kind)) return true;
    const by = namedBy(kind);
    const isKept = kept[by] === null || (kept[by].has(figure.name) && figure.name !== otherNames);
    if (isKept) return true;
    const name = groupNameOf(by, figure.name);
    const key = `${kind}\n${name}\n${figure.currency}`;
    const other = others.get(key) ?? { ...figure, name, count: 0, value: 0 };
    other.count += figure.count;
    other.value = cappedSum(other.value, figure.value);
    others.set(key, other);
    return false;
  });
  // What one event moves away from a name, another may move back.
  return [...rest, ...others.values()].filter(({ count, value }) => count !== 0 || value !== 0);
}

/** Returns null if all names are kept. */
function commonNames(names: ReadonlyMap<string, number>, max: number): ReadonlySet<string> | null {
  if (names.size <= max) return null;
  const common = [...names].toSorted(([, one], [, other]) => other - one).slice(0, max);
  return new Set(common.map(([name]) => name));
}
