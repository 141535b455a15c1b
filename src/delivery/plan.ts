// Plans the deliveries of an event. Every connection gets one; those that cannot be sent say why, the others have a job.

import { unselectedReason, type Attribution, type Conversion, type DeliveryState, type Event } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import { foldName, usualEventOf } from "../platforms/shared/eventNames.ts";
import type { Connection } from "../sites/directory.ts";
import type { NewDelivery } from "../store/deliveries/delivery.ts";
import { expiryOf, maxAgeDaysOf } from "./retry.ts";

/** `until` is the end of the lease in the store; `endsAt` the same on the monotonic clock, for a job that may wait for long. */
type Lease = { owner: string; until: number; endsAt?: number };

/** One delivery whose lease this node holds. */
export type Job = {
  siteId: string;
  eventId: string;
  connectionId: string;
  conversion: Conversion;
  /** Attempts made before this one. */
  attemptsMade: number;
  expiresAt: number;
  owner: string;
  leaseUntil: number;
  /** The end of the lease on the monotonic clock; absent where the node's own lease covers the event. */
  leaseEndsAt?: number | undefined;
  /** A first attempt of a backfill, which live events overtake. */
  isBackfill?: boolean;
};

/** `job` is null unless the delivery can be sent now. */
export type PlannedDelivery = NewDelivery & { job: Job | null };

/** Returns the part of an event that platforms may see. Nothing that identifies a person is in it when consent withholds that. */
export function toConversion(event: Event, platformEventId: string, attribution: Attribution): Conversion {
  const { withheld } = attribution;
  const conversion: Conversion = {
    platformEventId,
    name: event.name,
    mode: event.mode,
    value: event.value,
    currency: event.currency,
    orderId: event.orderId,
    time: event.time,
    receivedAt: event.receivedAt,
    person: withheld ? null : event.person,
    clickIds: withheld ? {} : attribution.clickIds,
    browserIds: withheld ? {} : attribution.browserIds,
    utm: withheld ? {} : attribution.utm,
    browser: withheld ? null : attribution.browser,
    consent: withheld || attribution.consent === "unreadable" ? "denied" : attribution.consent,
    extra: withheld ? {} : (event.extra ?? {}),
  };
  // Like the value, they say nothing about the person.
  if (event.items) conversion.items = event.items;
  return conversion;
}

/** Without a lease there are no jobs: the deliveries are left to the worker. */
export function planDeliveries(
  { event, attribution, platformEventId }: { event: Event; attribution: Attribution; platformEventId: string },
  connections: readonly Connection[],
  lease: Lease | null,
  now: number,
): PlannedDelivery[] {
  const conversion = toConversion(event, platformEventId, attribution);
  return connections.map((connection) => {
    const { settings } = connection;
    const platform = platformOf(connection.platform);
    if (!platform) return withoutJob(connection, "skipped", "this version does not know the platform");
    // Whether the event is selected and fit to be sent is not known before the connection can be read.
    if (connection.unreadable) return withoutJob(connection, "parked", parkedReason(connection));
    if (!isSelected(connection, event.name)) return withoutJob(connection, "skipped", unselectedReason);
    const maxAgeDays = maxAgeDaysOf(conversion, platform, settings);
    const expiresAt = expiryOf(event, maxAgeDays);
    if (expiresAt <= now) return withoutJob(connection, "skipped", tooOldReason(platform, maxAgeDays));
    const unfit = platform.skipReason?.(conversion, settings, now);
    if (unfit) return withoutJob(connection, "skipped", unfit);
    if (connection.state !== "active") return withoutJob(connection, "parked", parkedReason(connection));
    const job = lease && createJob(event, conversion, connection, expiresAt, lease);
    return { connectionId: connection.id, platform: connection.platform, state: "queued", reason: null, job };
  });
}

/** The reason of an event that is older than the platform takes. */
export const tooOldReason = ({ name }: { name: string }, maxAgeDays: number | undefined): string =>
  `older than the ${maxAgeDays} days that ${name} takes`;

function withoutJob(connection: Connection, state: DeliveryState, reason: string): PlannedDelivery {
  return { connectionId: connection.id, platform: connection.platform, state, reason, job: null };
}

export function createJob(
  event: Event,
  conversion: Conversion,
  connection: Connection,
  expiresAt: number,
  lease: Lease,
  attemptsMade = 0,
): Job {
  return {
    siteId: event.siteId,
    eventId: event.id,
    connectionId: connection.id,
    conversion,
    attemptsMade,
    expiresAt,
    owner: lease.owner,
    leaseUntil: lease.until,
    leaseEndsAt: lease.endsAt,
  };
}

/** Copies the plan only when the store gave the event another id than planned, which is rare. */
export function withPlatformEventId(planned: readonly PlannedDelivery[], platformEventId: string): readonly PlannedDelivery[] {
  const conversion = planned.find(({ job }) => job)?.job?.conversion;
  if (!conversion || conversion.platformEventId === platformEventId) return planned;
  const renamed = { ...conversion, platformEventId };
  return planned.map((one) => (one.job ? { ...one, job: { ...one.job, conversion: renamed } } : one));
}

/** Names match as platforms match them: by the usual event too, and regardless of case and of _, - and spaces. */
export function isSelected({ events }: Connection, name: string): boolean {
  if (events === null) return true;
  const names = [foldName(name), foldName(usualEventOf(name) ?? name)];
  return events.some((one) => names.includes(foldName(one)));
}

export function parkedReason(connection: Connection): string {
  return connection.state === "paused" ? "paused" : `needs reconnection: ${connection.stateReason ?? ""}`.replace(/: $/, "");
}
