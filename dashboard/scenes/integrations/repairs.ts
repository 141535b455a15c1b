// Where a reason that keeps a delivery, or a whole connection, from being sent is mended, and the words of the button.

import { unselectedReason } from "../../../src/kernel/event.ts";
import { guardText } from "../../messages/guard.ts";
import { resultsText } from "../../messages/results.ts";

export type Repair = {
  label: string;
  path: string;
  search: Record<string, string>;
  /** False where the reason may also be right as it is: a conversion without a click. */
  isLikely: boolean;
  /** Only owners of the installation can make it. */
  needsOwner: boolean;
};

type At = { platform: string; connection: string; name: string };

/** By the beginning of a reason that the relay gives: the words of the button, and the tab that it leads to. */
const places: readonly [RegExp, Exclude<keyof typeof resultsText.repair, "resume" | "title" | "waiting">, string][] = [
  [/^test event, but the connection has no /, "testCode", "test"],
  [/^no conversion action/, "conversionAction", "connection"],
  [/^no conversion rule/, "conversionRule", "events"],
  [/^no event tag/, "eventTag", "events"],
  [/^no Floodlight activity/, "floodlightActivity", "connection"],
  [/\boffline conversions are not set up\b/, "offlineConversions", "connection"],
  [/^none of the selected events /, "events", "events"],
];

/** Reasons that a visit, or a visit with a click id, would have prevented. */
const needsVisit =
  /^no .*\b(?:click ids?|\w+clid|msclkid|w?braid|gbraid|li_fat_id|tblci|dicbo|oppref|aleid|alart|visit|Google Analytics client id)\b/;

const needsOAuthApp = /^no OAuth app is set for /;

/** Null for reasons that nobody can mend, such as an opt-out or the age of an event. */
export function repairOf(reason: string, { platform, connection, name }: At): Repair | null {
  const to = (label: string, tab: string): Repair => ({
    label,
    path: `integrations/${platform}`,
    search: { connection, tab },
    isLikely: true,
    needsOwner: false,
  });
  if (reason.startsWith("needs reconnection")) return to(guardText.alerts.repair.reconnect(name), "connection");
  if (reason === "paused") return to(resultsText.repair.resume(name), "connection");
  if (reason === unselectedReason) return to(resultsText.repair.events, "events");
  if (needsOAuthApp.test(reason))
    return {
      ...to(resultsText.repair.oauthApp, ""),
      path: "settings/oauth-apps",
      search: {},
      needsOwner: true,
    };
  const found = places.find(([pattern]) => pattern.test(reason));
  if (found) return to(resultsText.repair[found[1]], found[2]);
  return needsVisit.test(reason)
    ? { ...to(resultsText.repair.tag, ""), path: "configuration/tag", search: {}, isLikely: false }
    : null;
}

type Delivery = Omit<At, "name"> & { reason: string | null; reasonPersists: boolean };

/** Null also once the connection would no longer give the reason: an old delivery keeps it after the repair. */
export function repairOfDelivery(delivery: Delivery, name: string): Repair | null {
  const repair = repairOf(delivery.reason ?? "", { ...delivery, name });
  return repair?.isLikely && !delivery.reasonPersists ? null : repair;
}

export type PlatformRepair = Repair & { platform: string };

/** The repairs of all deliveries, of which thousands have few reasons. An event that is not selected is left out by choice. */
export function repairsOf(deliveries: Iterable<Delivery>, nameOf: (platform: string) => string): PlatformRepair[] {
  const known = new Map<string, PlatformRepair | null>();
  const repairs: PlatformRepair[] = [];
  for (const delivery of deliveries) {
    const { connection, reason, reasonPersists } = delivery;
    if (reason === null || reason === unselectedReason) continue;
    const key = `${connection} ${reasonPersists} ${reason}`;
    let repair = known.get(key);
    if (repair === undefined) {
      const platform = nameOf(delivery.platform);
      const found = repairOfDelivery(delivery, platform);
      repair = found && { ...found, platform };
      known.set(key, repair);
    }
    if (repair) repairs.push(repair);
  }
  return repairs;
}
