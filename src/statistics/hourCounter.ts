// Counts events and their deliveries into the figures of an hour.

import { eraseMasks } from "../kernel/maskAddresses.ts";
import type { FilterReason } from "../kernel/event.ts";
import type { Figure, Portion, StatisticsKind } from "../store/statistics/statistics.ts";
import { cappedSum, botReason, isRefund } from "./aggregate.ts";

/** An hour keeps this many event names; the others are counted together, refunds apart. */
const maxNames = 50;
/** Up to this many names are counted in memory, to find the most common ones. */
const maxCounted = 5000;
export const otherNames = "(other)";
const groupNameOf = (name: string) => (isRefund(name) ? "refund" : otherNames);

type HourCounter = {
  add(portion: Portion): void;
  figures(): Figure[];
  /** True while a delivery waits: the figures will change. */
  isOpen(): boolean;
};

export function openHourCounter(): HourCounter {
  const figures = new Map<string, Figure>();
  const names = new Map<string, number>();
  let isOpen = false;

  function count(kind: StatisticsKind, name = "", currency = "", value = 0): void {
    const key = `${kind}\n${name}\n${currency}`;
    const figure = figures.get(key);
    if (figure) {
      figure.count += 1;
      figure.value = cappedSum(figure.value, value);
    } else figures.set(key, { kind, name, currency, count: 1, value: cappedSum(0, value) });
  }

  function countConversion(givenName: string, currency: string, value: number | null): void {
    // Statistics outlive the erasure of a person.
    const eventName = eraseMasks(givenName);
    const name = names.has(eventName) || names.size < maxCounted ? eventName : groupNameOf(eventName);
    names.set(name, (names.get(name) ?? 0) + 1);
    if (value === null) count("conversion", name);
    else count("conversion", name, currency, value);
  }

  return {
    add({ events, deliveries }) {
      const conversions = new Set<string>();
      for (const event of events) {
        if (event.mode === "test") count("test");
        else if (event.status === "filtered") count("filtered", countedReason(event.filterReasons));
        else {
          conversions.add(event.id);
          countConversion(event.event, event.currency, event.value);
          if (event.identity === "found") count("identified");
          if (event.withheld !== null) count("withheld");
          if (event.clickIds.length) count("with click id");
          for (const name of event.clickIds) count("click id", name);
        }
      }
      for (const { eventId, platform, state } of deliveries) {
        if (!conversions.has(eventId)) continue;
        count("delivery", `${platform} ${state}`);
        if (state === "queued" || state === "parked") isOpen = true;
      }
    },
    figures: () => limitNames([...figures.values()], names),
    isOpen: () => isOpen,
  };
}

/** An event with several reasons is counted once: as a bot's if that is among them, else under the first. */
function countedReason(reasons: readonly FilterReason[]): string {
  const codes = reasons.map(({ code }) => code);
  return codes.find((code) => code === botReason) ?? codes[0] ?? "";
}

function limitNames(figures: Figure[], names: ReadonlyMap<string, number>): Figure[] {
  if (names.size <= maxNames) return figures;
  const kept = new Set(
    [...names]
      .toSorted(([, one], [, other]) => other - one)
      .slice(0, maxNames)
      .map(([name]) => name),
  );
  const others = new Map<string, Figure>();
  const rest = figures.filter((figure) => {
    if (figure.kind !== "conversion" || (kept.has(figure.name) && figure.name !== otherNames)) return true;
    const name = groupNameOf(figure.name);
    const key = `${name}\n${figure.currency}`;
    const other = others.get(key) ?? { ...figure, name, count: 0, value: 0 };
    other.count += figure.count;
    other.value = cappedSum(other.value, figure.value);
    others.set(key, other);
    return false;
  });
  return [...rest, ...others.values()];
}
