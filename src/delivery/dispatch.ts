// The first attempt of every delivery of one event, while the sender waits for the answer.

import type { Attribution, DeliveryState, Event, Result } from "../kernel/event.ts";
import { platformOf } from "../platforms/index.ts";
import { foldName } from "../platforms/shared/eventNames.ts";
import type { Connection } from "../sites/directory.ts";
import type { NewDelivery } from "../store/deliveries/delivery.ts";
import { companionsOf } from "./settleTogether.ts";
import { conversionOf } from "./conversion.ts";
import { whyParked, type Job, type Outcome } from "./attempt.ts";
import type { Lanes } from "./lanes.ts";
import { expiryOf, maxAgeOf } from "./retry.ts";

/** What can be said of each connection before anything is sent: every one gets a delivery, many leave at once. */
export function planDeliveries(
  event: Event,
  attribution: Attribution,
  connections: readonly Connection[],
  now: number,
): NewDelivery[] {
  const conversion = conversionOf(event, event.id, attribution);
  return connections.map((connection) => {
    const platform = platformOf(connection.platform);
    const delivery = { connectionId: connection.id, platform: connection.platform };
    if (!platform)
      return { ...delivery, state: "skipped", reason: "this version does not know the platform" };
    if (!isSelected(connection, event.name)) {
      return { ...delivery, state: "skipped", reason: "event not selected" };
    }
    const maxAgeDays = maxAgeOf(conversion, platform, connection.settings);
    if (expiryOf(event, maxAgeDays) <= now) {
      return {
        ...delivery,
        state: "skipped",
        reason: `older than the ${maxAgeDays} days that ${platform.name} takes`,
      };
    }
    const unfit = platform.unfit?.(conversion, connection.settings, now);
    if (unfit) return { ...delivery, state: "skipped", reason: unfit };
    if (connection.state !== "active") return { ...delivery, state: "parked", reason: whyParked(connection) };
    return { ...delivery, state: "queued", reason: null };
  });
}

/** Names match as platforms' do: whatever their case, and with or without _, - and spaces. */
export function isSelected({ events }: Connection, name: string): boolean {
  return events === null || events.some((one) => foldName(one) === foldName(name));
}

export type Dispatched = {
  event: Event;
  platformEventId: string;
  attribution: Attribution;
  planned: readonly NewDelivery[];
  connections: readonly Connection[];
};
export type Lease = { owner: string; until: number };

/** Sends everything that can go, all at once, and returns the results by platform: by `deadline` at the latest. */
export async function dispatch(
  { event, platformEventId, attribution, planned, connections }: Dispatched,
  lease: Lease,
  lanes: Lanes,
  deadline: number,
): Promise<Record<string, Result>> {
  const conversion = conversionOf(event, platformEventId, attribution);
  const companions = companionsOf(planned.filter(({ state }) => state === "queued").length);
  const waiting = planned.map(async (delivery): Promise<Outcome> => {
    if (delivery.state !== "queued") return delivery;
    const job: Job = {
      siteId: event.siteId,
      eventId: event.id,
      connectionId: delivery.connectionId,
      conversion,
      attempts: 0,
      expiresAt: expiryOf(
        event,
        maxAgeOf(
          conversion,
          platformOf(delivery.platform),
          connections.find(({ id }) => id === delivery.connectionId)?.settings ?? {},
        ),
      ),
      owner: lease.owner,
      leaseUntil: lease.until,
      companions,
    };
    return outcomeBy(deadline, job, lanes);
  });
  return resultsOf(planned, await Promise.all(waiting));
}

/** The outcome, or `queued` when the deadline comes first; then the attempt goes on without the sender. */
function outcomeBy(deadline: number, job: Job, lanes: Lanes): Promise<Outcome> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      lanes.withdraw(job);
      resolve({ state: "queued", reason: "no answer yet" });
    }, deadline - Date.now());
    void lanes.send(job).then((outcome) => {
      clearTimeout(timer);
      resolve(outcome);
    });
  });
}

/** Which state speaks for a platform with several connections: the one that most needs a person. */
const severity: readonly DeliveryState[] = ["sent", "skipped", "queued", "parked", "expired", "rejected"];

function resultsOf(planned: readonly NewDelivery[], outcomes: readonly Outcome[]): Record<string, Result> {
  const worst: Record<string, Outcome> = {};
  planned.forEach(({ platform }, i) => {
    const outcome = outcomes[i] as Outcome;
    const known = worst[platform];
    if (!known || severity.indexOf(outcome.state) > severity.indexOf(known.state)) worst[platform] = outcome;
  });
  return Object.fromEntries(
    Object.entries(worst).map(([platform, outcome]) => [platform, resultOf(outcome)]),
  );
}

function resultOf({ state, reason }: Outcome): Result {
  return state === "sent" ? { ok: true } : { ok: false, status: state, error: reason ?? state };
}
