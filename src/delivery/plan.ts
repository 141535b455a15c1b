// Plans the deliveries of an event: every connection gets one, and those that cannot be sent say why.

import { say } from "../kernel/messages/message.ts";
import { unselectedReason, type Conversion, type DeliveryState, type Event } from "../kernel/event.ts";
import { repeatedStageReason, stageClaimOf } from "../identity/leadStages.ts";
import { platformOf } from "../platforms/index.ts";
import { foldName, usualEventOf } from "../platforms/shared/eventNames.ts";
import { skipOf } from "../platforms/shared/skips.ts";
import type { Connection, Site } from "../sites/directory.ts";
import type { NewDelivery } from "../store/deliveries/delivery.ts";
import { expiryOf, maxAgeDaysOf, tooOldReason } from "./expiry.ts";

/** `expiresAt` is null unless the delivery can be sent now. */
export type PlannedDelivery = NewDelivery & { expiresAt: number | null };

/** Every connection gets a delivery; one that cannot be sent now says why. */
export function planDeliveries(conversion: Conversion, connections: readonly Connection[], now: number): PlannedDelivery[] {
  return connections.map((connection) => {
    const { id: connectionId, platform: platformId, settings } = connection;
    const unsent = (state: DeliveryState, reason: string): PlannedDelivery => ({
      connectionId,
      platform: platformId,
      state,
      reason,
      expiresAt: null,
    });
    const platform = platformOf(platformId);
    if (!platform) return unsent("skipped", "this version does not know the platform");
    // Whether the event is selected and fit to be sent is not known before the connection can be read.
    if (connection.unreadable) return unsent("parked", parkedReason(connection));
    if (!isSelected(connection, conversion.name)) return unsent("skipped", unselectedReason);
    const maxAgeDays = maxAgeDaysOf(conversion, platform, settings);
    // A filtered event may be released after weeks.
    const expiresAt = expiryOf(conversion, maxAgeDays, now);
    if (expiresAt <= now) return unsent("skipped", tooOldReason(platform, maxAgeDays));
    const unfit = skipOf(platform, conversion, settings);
    if (unfit) return unsent("skipped", unfit.reason);
    if (connection.state !== "active") return unsent("parked", parkedReason(connection));
    return { connectionId, platform: platformId, state: "queued", reason: null, expiresAt };
  });
}

/** The claim of the stage that an event of a lead reaches, and its deliveries if the lead has reached that before: it is only shown. */
export function stageFor(event: Event, { connections, settings }: Pick<Site, "connections" | "settings">, now: number) {
  const claim = stageClaimOf(event);
  const repeated = connections.map(({ id: connectionId, platform }): PlannedDelivery => ({
    connectionId,
    platform,
    state: "skipped",
    reason: repeatedStageReason,
    expiresAt: null,
  }));
  return claim === null ? null : { claim, until: now + settings.keepEventsMs, repeated };
}

/** Names match as platforms match them: by the usual event too, and regardless of case and of _, - and spaces. */
export function isSelected({ events }: Connection, name: string): boolean {
  if (events === null) return true;
  const names = [foldName(name), foldName(usualEventOf(name) ?? name)];
  return events.some((one) => names.includes(foldName(one)));
}

export function parkedReason(connection: Connection): string {
  if (connection.state === "paused") return "paused";
  const { stateReason } = connection;
  return stateReason ? say("needs_reconnection", { reason: stateReason }) : "needs reconnection";
}
