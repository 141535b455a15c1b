// Tells reasons that a connection would still give from those that its settings no longer give. The reason of a delivery is
// stored when it ends; a repair since then does not change it.

import { english } from "../kernel/messages/message.ts";
import { unselectedReason, type Conversion, type DeliveryState } from "../kernel/event.ts";
import { repeatedStageReason } from "../identity/leadStages.ts";
import { dayMs, minuteMs } from "../kernel/time.ts";
import { platformOf } from "../platforms/index.ts";
import { withheld } from "../platforms/shared/sample.ts";
import { skipOf } from "../platforms/shared/skips.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import { tooOldReason } from "../delivery/expiry.ts";
import { isSelected } from "../delivery/plan.ts";
import { maxAgeDaysOf } from "../delivery/expiry.ts";
import { sampleNow } from "../delivery/testDelivery.ts";

type Ended = {
  connectionId: string;
  state: DeliveryState;
  reason: string | null;
  event: string;
  mode: Conversion["mode"];
};

/** One age is above the limits of platforms that treat old events in another way. */
const sampleAgesMs = [minuteMs, 8 * dayMs];

/**
 * Returns a function that is true while the connection would give the next event of the same name and mode the same reason: it
 * is paused, needs reconnection, leaves the event out, or lacks a setting; or it leaves out people who opted out, or events of that
 * age; or the person was erased, or the lead reached the stage before. It is false for other reasons that lie in the event.
 */
export function persistingReasons(
  directory: Pick<Directory, "connection">,
  siteId: string,
  now: number,
): (delivery: Ended) => boolean {
  // Most rows of a page share a few names.
  const given = new Map<string, ReadonlySet<string>>();
  const reasonsFor = (connection: Connection, name: string, mode: Conversion["mode"]) => {
    const key = `${connection.id} ${mode} ${name}`;
    const known = given.get(key) ?? skipReasons(connection, name, mode, now);
    given.set(key, known);
    return known;
  };
  return ({ connectionId, state, reason, event, mode }) => {
    const connection = reason === null ? undefined : directory.connection(siteId, connectionId);
    if (reason === null || !connection) return false;
    if (state === "parked") return connection.unreadable !== undefined || english(reason).split(":")[0] === connection.state;
    if (state !== "skipped" || connection.unreadable) return false;
    if (reason === "person erased" || reason === repeatedStageReason) return true;
    if (reason === unselectedReason) return !isSelected(connection, event);
    return reasonsFor(connection, event, mode).has(reason);
  };
}

/** A sample with every id and field: what is skipped nevertheless lacks a setting. Without them, it is of a person who opted out. */
function skipReasons(
  { platform: id, settings }: Connection,
  name: string,
  mode: Conversion["mode"],
  now: number,
): ReadonlySet<string> {
  const platform = platformOf(id);
  if (!platform) return new Set();
  const sample: Conversion = { ...sampleNow(name, now), mode };
  const reasons = sampleAgesMs.flatMap((age) => {
    const aged = { ...sample, time: now - age };
    const ofOptedOut = skipOf(platform, { ...aged, ...withheld, extra: {} }, settings);
    return [
      skipOf(platform, aged, settings)?.reason ?? [],
      ofOptedOut?.code === "opted_out" ? ofOptedOut.reason : [],
      tooOldReason(platform, maxAgeDaysOf(aged, platform, settings)),
    ].flat();
  });
  return new Set(reasons);
}
