// Opens lanes with a fake directory and a sender that answers when the test decides. The platforms are the real ones.

import { afterAll, afterEach, expect } from "vitest";
import { createBreaker } from "../../src/delivery/lanes/breaker.ts";
import { createLanes, type Lanes, type LanesOptions } from "../../src/delivery/lanes/lanes.ts";
import type { Ownership } from "../../src/delivery/ownership.ts";
import type { Job } from "../../src/delivery/job.ts";
import { createQuota } from "../../src/delivery/lanes/quota.ts";
import type { Sender, Answer } from "../../src/delivery/send.ts";
import type { Mode, Result } from "../../src/kernel/event.ts";
import { platformOf } from "../../src/platforms/index.ts";
import type { PlatformRequest } from "../../src/platforms/platform.ts";
import { sampleConversion } from "../../src/platforms/shared/sample.ts";
import type { Connection, Directory } from "../../src/sites/directory.ts";
import type { Settlement } from "../../src/store/deliveries/delivery.ts";

export const start = Date.UTC(2026, 10, 14, 12);
export const attemptMs = 8000;
export const leaseMs = 30_000;

type Call = { request: PlatformRequest; to: { platform: string; customerAddress: boolean }; ids: string[] };

export const http = (status: number, body = "{}", headers: Record<string, string> = {}): Answer => ({
  ok: true,
  response: { status, headers, body },
});

export const connectionTo = (platform: string, changes: Partial<Connection> = {}): Connection => ({
  siteId: "site1",
  id: `to-${platform}`,
  platform,
  account: platform,
  settings: platform === "webhook" ? { url: "https://hooks.example.com/path?token=s3cret" } : {},
  events: null,
  state: "active",
  stateReason: null,
  createdAt: 0,
  ...changes,
});

/** The platform event ids of a request, in its order. */
function idsOf({ body }: PlatformRequest): string[] {
  const parsed = JSON.parse(body) as {
    platformEventId?: string;
    conversions?: { platformEventId: string }[];
  };
  return parsed.conversions?.map((one) => one.platformEventId) ?? [parsed.platformEventId ?? ""];
}

type Given = Partial<Pick<LanesOptions, "settle" | "markForReconnection" | "recheck" | "clock">> & {
  connectionNow?: Directory["connectionNow"];
  /** Answers each call; without it every call waits for `answer`. */
  reply?: (call: Call) => Answer | Promise<Answer>;
};

export function setUp(connections: Connection[], given: Given = {}) {
  const known = new Map(connections.map((one) => [`${one.siteId} ${one.id}`, one]));
  const directory: Directory = {
    refresh: () => Promise.resolve(),
    follow: () => ({ stop: async () => {} }),
    sites: () => [],
    site: () => undefined,
    siteOfHost: () => undefined,
    host: () => undefined,
    key: () => undefined,
    keyNow: async () => undefined,
    source: () => undefined,
    sourceNow: async () => undefined,
    connectionNow: given.connectionNow ?? (async (siteId, id) => directory.connection(siteId, id)),
    connection: (siteId, id) => known.get(`${siteId} ${id}`),
  };
  /** `set` is how far the wall clock was set; the monotonic clock does not follow it. */
  const clock = { now: start, set: 0 };
  const calls: Call[] = [];
  const open: { call: Call; answer: (sent: Answer) => void }[] = [];
  const settled: Settlement[] = [];
  const defects: { error: unknown; about: Record<string, unknown> }[] = [];
  const reconnections: { connection: Connection; reason: string }[] = [];
  let maxOpen = 0;
  let inFlight = 0;

  const sender: Sender = {
    async send(request, to) {
      const call = { request, to, ids: idsOf(request) };
      calls.push(call);
      inFlight += 1;
      maxOpen = Math.max(maxOpen, inFlight);
      try {
        if (given.reply) return await given.reply(call);
        return await new Promise<Answer>((resolve) => open.push({ call, answer: resolve }));
      } finally {
        inFlight -= 1;
      }
    },
    close: () => Promise.resolve(),
  };
  const lanes = createLanes({
    directory,
    sender,
    settle: async (settlement) => {
      await given.settle?.(settlement);
      settled.push(settlement);
    },
    markForReconnection: async (connection, reason) => {
      reconnections.push({ connection, reason });
      await given.markForReconnection?.(connection, reason);
    },
    tokens: {
      fresh: async (connection, rejected) =>
        rejected === undefined ? connection : { fault: "refused", error: "cannot be renewed" },
    },
    ...(given.recheck && { recheck: given.recheck }),
    ...(given.clock && { clock: given.clock }),
    breaker: createBreaker(),
    quota: createQuota(),
    retry: { scheduleMs: [10_000, 60_000], random: () => 0.5 },
    attemptMs,
    now: () => clock.now + clock.set,
    elapsed: () => clock.now - start,
    onDefect: (error, about) => defects.push({ error, about }),
  });
  return {
    lanes,
    clock,
    calls,
    settled,
    defects,
    reconnections,
    maxOpen: () => maxOpen,
    change: (connection: Connection) => known.set(`${connection.siteId} ${connection.id}`, connection),
    remove: (connection: Connection) => known.delete(`${connection.siteId} ${connection.id}`),
    /** Answers the oldest open call. */
    async answer(sent: Answer = http(200)) {
      const next = open.shift();
      if (!next) throw new Error("no call is waiting");
      next.answer(sent);
      await nextTick();
    },
    openCalls: () => open.length,
  };
}

/** Lets everything that is ready run. */
export const nextTick = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

let serial = 0;
export function job(connection: Connection, changes: Partial<Job> & { mode?: Mode } = {}): Job {
  serial += 1;
  const { mode = "live", ...rest } = changes;
  const id = `event-${String(serial).padStart(4, "0")}`;
  return {
    siteId: connection.siteId,
    eventId: id,
    connectionId: connection.id,
    conversion: sampleConversion({ platformEventId: id, mode }),
    // At the moment when it comes to its lane.
    lookedAt: Infinity,
    attemptsMade: 0,
    expiresAt: start + 7 * 86_400_000,
    ownership: leasedUntil(start + leaseMs),
    ...rest,
  };
}
export const jobs = (count: number, connection: Connection, changes: Partial<Job> & { mode?: Mode } = {}) =>
  Array.from({ length: count }, () => job(connection, changes));
export const ids = (some: readonly Job[]) => some.map((one) => one.eventId);
export const sendAll = (lanes: Lanes, some: readonly Job[]) => some.map((one) => lanes.send(one));
export const allOf = (lanes: Lanes, some: readonly Job[]) => Promise.all(sendAll(lanes, some));
export const within = <T>(ms: number, work: Promise<T>) =>
  Promise.race([work, new Promise<"never">((resolve) => setTimeout(() => resolve("never"), ms).unref())]);

export const sandbox = connectionTo("sandbox");
export const webhook = connectionTo("webhook");
export const sandboxLanes = platformOf("sandbox")?.lanes ?? 0;
export const sandboxBatch = platformOf("sandbox")?.batch ?? 0;
export const sent: Result = { ok: true };
export const stateOf = (result: Result) => (result.ok ? "sent" : result.status);
/** A row that `node-a` has leased until then. */
export const leasedUntil = (until: number, endsAt = Infinity): Ownership => ({
  by: "row",
  owner: "node-a",
  at: start,
  dueAt: until,
  until,
  endsAt,
});

/** Fills every lane of the sandbox, one conversion each. */
export async function fillLanes(relay: ReturnType<typeof setUp>): Promise<void> {
  for (const one of jobs(sandboxLanes, sandbox)) {
    void relay.lanes.send(one);
    await nextTick();
  }
  expect(relay.openCalls()).toBe(sandboxLanes);
}

/** An unhandled rejection ends the process in production, so it fails the test that caused it. */
export function failOnUnhandledRejections(): unknown[] {
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => void unhandled.push(reason);
  process.on("unhandledRejection", note);
  afterAll(() => void process.off("unhandledRejection", note));
  afterEach(async () => {
    await nextTick();
    expect(unhandled.splice(0)).toEqual([]);
  });
  return unhandled;
}
