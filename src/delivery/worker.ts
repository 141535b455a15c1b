// Delivers what was accepted and not yet sent: retries that fall due, what a dead node had in hand, what was
// released. Looks once a second, takes no more than the lanes have room for, and is safe beside other nodes.
//
// A look gives every connection one turn, and a turn is small: whatever waits for one of them, the others wait for one
// step of it. What is left of it comes with the next look, which follows at once.

import type { Attribution } from "../kernel/event.ts";
import { readConsent } from "../identity/attribution.ts";
import { platformOf } from "../platforms/index.ts";
import type { Connection, Directory } from "../sites/directory.ts";
import type { Delivery, ConnectionKey } from "../store/deliveries/delivery.ts";
import type { StoredEvent } from "../store/events/eventRow.ts";
import type { Store } from "../store/store.ts";
import { conversionOf } from "./conversion.ts";
import { whyParked, type Job } from "./attempt.ts";
import type { Lanes } from "./lanes.ts";
import { expiryOf, maxAgeOf } from "./retry.ts";

export type WorkerOptions = {
  store: Store;
  directory: Directory;
  lanes: Lanes;
  /** This node. */
  owner: string;
  leaseMs: number;
  now: () => number;
  /** It has looked, whatever it found. */
  onLook?: () => void;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

const pollMs = 1000;
const sweepMs = 2000;
const thoroughMs = 60_000;
/** Lanes that free up together are filled together. */
const gatherMs = 5;
const maxAtOnce = 200;
/** Of what is released, or ends without being sent. In the embedded store the relay waits meanwhile. */
const maxChanged = 100;

/** Starts the worker; the returned function stops it and resolves when its last look has ended. */
export function startWorker(options: WorkerOptions): () => Promise<void> {
  const { now, onDefect } = options;
  let stopped = false;
  /** Something was due for which there was no room: look again as soon as there is. */
  let more = false;
  let roomSinceLook = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | null = null;
  let sweptAt = 0;
  let thoroughAt = 0;

  function isThorough(): boolean {
    if (now() - thoroughAt < thoroughMs) return false;
    thoroughAt = now();
    return true;
  }

  async function look(): Promise<void> {
    more = false;
    roomSinceLook = false;
    try {
      if (now() - sweptAt >= sweepMs) {
        sweptAt = now();
        const isLeft = await sweepParked(options).catch((error: unknown) =>
          onDefect(error, { worker: "parked" }),
        );
        if (isLeft) goOn();
      }
      for (const due of await dueNow(options, isThorough())) {
        if (stopped) return;
        more = (await takeOne(due)) || more;
      }
    } catch (error) {
      onDefect(error, { worker: "look" });
    }
  }

  /** A connection that cannot be looked after must not cost the others their turn. */
  async function takeOne(due: ConnectionKey): Promise<boolean> {
    try {
      return await take(options, due, { madeRoom, goOn });
    } catch (error) {
      onDefect(error, { worker: "take", connection: due.connectionId });
      return false;
    }
  }

  function start(): void {
    clearTimeout(timer);
    looking ??= look().finally(() => {
      looking = null;
      options.onLook?.();
      if (stopped) return;
      const soon = more && roomSinceLook;
      timer = setTimeout(start, soon ? gatherMs : pollMs * (0.8 + 0.4 * Math.random()));
    });
  }

  /** The next look follows this one, whether there is room in lanes or not, and looks for the same. */
  function goOn(): void {
    more = true;
    roomSinceLook = true;
    sweptAt = 0;
    thoroughAt = 0;
  }

  function madeRoom(): void {
    roomSinceLook = true;
    if (!more || stopped || looking) return;
    more = false;
    clearTimeout(timer);
    timer = setTimeout(start, gatherMs);
  }

  timer = setTimeout(start, 0);
  return async () => {
    stopped = true;
    clearTimeout(timer);
    await looking;
  };
}

/** Connections that have something due. Now and then also those that were removed while a node still held their work. */
function dueNow({ store, directory, now }: WorkerOptions, thorough: boolean): Promise<ConnectionKey[]> {
  return thorough
    ? store.deliveries.findAllDue(now())
    : store.deliveries.findDue(now(), connectionsIn(directory));
}

function connectionsIn(
  directory: Directory,
  wanted: (connection: Connection) => boolean = () => true,
): ConnectionKey[] {
  return [...directory.sites()].flatMap((site) =>
    site.connections.filter(wanted).map(({ id }) => ({ siteId: site.id, connectionId: id })),
  );
}

/**
 * Lets go what is parked at a connection that works. Whoever resumes or reconnects one does that too; this is for what a
 * node parked in the second before it heard of it. True when there is more.
 */
async function sweepParked({ store, directory, now }: WorkerOptions): Promise<boolean> {
  const active = connectionsIn(directory, ({ state }) => state === "active");
  let isLeft = false;
  for (const { siteId, connectionId } of await store.deliveries.findParked(active)) {
    const released = await store.deliveries.releaseParked(siteId, connectionId, now(), maxChanged);
    isLeft ||= released >= maxChanged;
  }
  return isLeft;
}

type Ways = {
  /** A job has left its lane. */
  madeRoom: () => void;
  /** There is more to do that needs no lane. */
  goOn: () => void;
};

/** Takes due deliveries of one connection in hand and puts them into its lanes. True when there may be more. */
async function take(options: WorkerOptions, due: ConnectionKey, { madeRoom, goOn }: Ways): Promise<boolean> {
  const { store, directory, lanes, owner, leaseMs, now } = options;
  const connection = await directory.connectionNow(due.siteId, due.connectionId);
  if (connection?.state !== "active") {
    const outcome = connection
      ? ({ state: "parked", reason: whyParked(connection) } as const)
      : ({ state: "skipped", reason: "disconnected" } as const);
    const ended = await store.deliveries.endPending(due, outcome, now(), maxChanged);
    if (ended >= maxChanged) goOn();
    return false;
  }
  const limit = Math.min(lanes.room(connection), maxAtOnce);
  if (limit === 0) return true;
  const platform = platformOf(connection.platform);
  const until = now() + leaseMs;
  const claimed = await store.deliveries.claimDue(due, { now: now(), owner, until, limit });
  const ids = claimed.map((delivery) => delivery.eventId);
  const events = await store.events.getMany(due.siteId, ids);
  await Promise.all(
    claimed.map(async (delivery) => {
      const event = events.get(delivery.eventId) ?? "damaged";
      if (event === "damaged") return giveUp(options, delivery);
      const attribution = await withConsentOfNow(store, directory, event);
      const job = jobOf(delivery, event, attribution, connection, until);
      // Consent, settings and age may have changed since it was planned.
      const unfit = platform?.unfit?.(job.conversion, connection.settings, now());
      if (unfit) return settleUnsent(options, delivery, "skipped", unfit);
      void lanes.send(job).then(madeRoom);
    }),
  );
  return claimed.length === limit;
}

/** An event that cannot be read cannot be sent, today or later. */
async function giveUp(options: WorkerOptions, delivery: Delivery): Promise<void> {
  options.onDefect(new Error("a stored event cannot be read"), { event: delivery.eventId });
  await settleUnsent(options, delivery, "rejected", "the stored event is damaged");
}

async function settleUnsent(
  { store, owner, now }: WorkerOptions,
  { siteId, eventId, connectionId, attempts }: Delivery,
  state: "skipped" | "rejected",
  reason: string,
): Promise<void> {
  const settlement = { owner, state, reason, dueAt: 0, attempts, at: now(), attempt: null };
  await store.deliveries.settle({ siteId, eventId, connectionId, ...settlement });
}

/** Consent may have been withdrawn since the event came: what it withholds now stays here. */
async function withConsentOfNow(
  store: Store,
  directory: Directory,
  event: StoredEvent,
): Promise<Attribution> {
  if (event.attribution.withheld) return event.attribution;
  const mode = directory.site(event.siteId)?.settings.consentMode ?? "opt-in";
  const { consent, withheld } = await readConsent(store.people, event.siteId, event.person.emailSha256, mode);
  return { ...event.attribution, consent, withheld };
}

function jobOf(
  delivery: Delivery,
  event: StoredEvent,
  attribution: Attribution,
  connection: Connection,
  leaseUntil: number,
): Job {
  const conversion = conversionOf(event, event.platformEventId, attribution);
  const maxAgeDays = maxAgeOf(conversion, platformOf(delivery.platform), connection.settings);
  return {
    siteId: delivery.siteId,
    eventId: delivery.eventId,
    connectionId: delivery.connectionId,
    conversion,
    attempts: delivery.attempts,
    expiresAt: expiryOf(event, maxAgeDays),
    owner: delivery.owner,
    leaseUntil,
  };
}
