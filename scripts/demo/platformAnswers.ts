// The platforms' answers in the demo's history: nearly all accept, a few fail, and one platform is down for two hours. The
// connectors build the requests and read the answers; nothing is sent.

import { callPlatform } from "../../src/delivery/platformCall.ts";
import type { Lanes } from "../../src/delivery/lanes/lanes.ts";
import type { Job } from "../../src/delivery/job.ts";
import { decide, toResult, type Decision } from "../../src/delivery/decide.ts";
import type { Answer, Sender } from "../../src/delivery/send.ts";
import type { Reading } from "../../src/kernel/event.ts";
import { examplesOf } from "../../src/platforms/examples.ts";
import { platformOf } from "../../src/platforms/index.ts";
import type { Platform } from "../../src/platforms/platform.ts";
import type { Connection } from "../../src/sites/directory.ts";
import { anyNode } from "../../src/store/deliveries/ownership.ts";
import type { Store } from "../../src/store/store.ts";
import { alphanumeric, uuidFrom, type Random } from "./random.ts";

/** Response bodies for an accepted conversion. The first one that the connector reads as accepted is used. */
const acceptedBodies: Record<string, (random: Random) => string[]> = {
  google_ads: (random) => [`{"requestId":"${uuidFrom(random)}"}`],
  meta: (random) => [`{"events_received":1,"messages":[],"fbtrace_id":"A${random.text(alphanumeric, 22)}"}`],
  tiktok: (random) => [`{"code":0,"message":"OK","request_id":"2026${random.text("0123456789ABCDEF", 30)}","data":{}}`],
  microsoft_ads: () => ['{"eventsReceived":1}', '{"PartialErrors":[]}'],
  linkedin: () => ['{"elements":[{"status":201}]}'],
  pinterest: () => [
    '{"num_events_received":1,"num_events_processed":1,"events":[{"status":"processed","error_message":"","warning_message":""}]}',
  ],
  snapchat: () => ['{"status":"VALID"}'],
  reddit: () => ['{"data":{"message":"Successfully processed 1 conversion events."}}'],
  x: (random) => [`{"request":{"params":{}},"data":{"conversions_processed":1,"debug_id":"${uuidFrom(random)}"}}`],
  openai_ads: () => ['{"accepted_events":1}'],
  nextdoor: () => ["{}"],
  axon: () => ["{}"],
  spotify: () => ['{"message":"SUCCESS"}'],
  quora: () => ['{"events_received":1,"events_errored":0,"events":[{"index":0,"status":"OK"}]}'],
  taboola: () => [""],
  outbrain: () => [""],
  amazon_ads: () => ['{"success":[{"index":0}],"error":[]}'],
  cm360: (random) => [`{"requestId":"${uuidFrom(random)}"}`],
  ga4: () => [""],
  segment: () => ['{"success":true}'],
  klaviyo: () => [""],
  hubspot: () => [""],
  sandbox: () => ['{"accepted":true,"by":"sandbox"}'],
};

/** The status of an accepted conversion, where it is not 200, or 204 without a body. */
const acceptedStatus: Record<string, number> = { amazon_ads: 207, klaviyo: 202 };

/** Platforms that reject a single conversion now and then. */
const rejecting = new Set(["google_ads", "meta", "pinterest", "snapchat", "reddit", "openai_ads"]);

type Wanted = Reading["kind"] | "down" | "slow";

type ReplayOptions = {
  store: Pick<Store, "deliveries">;
  connectionOf: (siteId: string, id: string) => Connection | undefined;
  random: Random;
  /** Attempts after this time stay queued. */
  now: number;
  outage: { platform: string; from: number; to: number };
  /** From this time on the platform rejects the token of this site. */
  revoked: { platform: string; siteId: string; at: number };
  onRevoked: (connection: Connection, reason: string, at: number) => Promise<void>;
};

const scheduleMs = [10, 60, 300, 1800, 7200, 18_000].map((seconds) => seconds * 1000);

/** Lanes that send nothing: every delivery is settled as if it had been attempted at the time of its event. */
export function createReplayLanes(options: ReplayOptions): Lanes {
  const { store, random, outage, revoked } = options;

  function wantedAt(platform: string, siteId: string, at: number, attempts: number): Wanted {
    if (platform === revoked.platform && siteId === revoked.siteId && at >= revoked.at) return "unauthorized";
    if (platform === outage.platform && at >= outage.from && at < outage.to) return random.chance(0.25) ? "slow" : "down";
    if (attempts === 0 && random.chance(0.006)) return random.chance(0.5) ? "slow" : "down";
    return attempts === 0 && rejecting.has(platform) && random.chance(0.007) ? "rejected" : "accepted";
  }

  async function attempt(job: Job, connection: Connection, at: number, attempts: number, owner: string) {
    const platform = platformOf(connection.platform);
    if (!platform) throw new Error(`the demo knows no platform ${connection.platform}`);
    const wanted = wantedAt(platform.id, job.siteId, at, attempts);
    const durationMs = wanted === "slow" ? 8003 : 60 + Math.round(320 * random.number() ** 2);
    const read = (answer: Answer) =>
      answer.ok ? platform.readResponse(answer.response, [job.conversion], connection.settings, at)[0]?.kind : "retry";
    const chosen = answersFor(wanted, platform, random).find(
      (one) => read(one) === (wanted === "down" || wanted === "slow" ? "retry" : wanted),
    );
    if (!chosen) throw new Error(`the demo has no answer of ${platform.name} that is read as ${wanted}`);
    const sender: Sender = { send: () => Promise.resolve(chosen), close: () => Promise.resolve() };
    const result = await callPlatform(sender, { platform, settings: connection.settings }, [job.conversion], at);
    if (result.defect) throw result.defect;
    const reading = result.readings[0] as Reading;
    const endedAt = at + durationMs;
    const decision = decide(
      reading,
      { attemptsMade: attempts + 1, expiresAt: job.expiresAt },
      { scheduleMs, random: () => random.number() },
      endedAt,
    );
    if (reading.kind === "unauthorized") await options.onRevoked(connection, reading.error, endedAt);
    await store.deliveries.settle({
      siteId: job.siteId,
      eventId: job.eventId,
      connectionId: job.connectionId,
      owner,
      ...decision,
      attempts: attempts + 1,
      at: endedAt,
      attempt: {
        number: attempts + 1,
        startedAt: at,
        durationMs,
        state: decision.state,
        reason: decision.reason,
        batch: 1,
        request: result.requestOf(job.conversion),
        ...result.log,
      },
    });
    return decision;
  }

  return {
    async send(job) {
      const connection = options.connectionOf(job.siteId, job.connectionId);
      if (!connection) throw new Error("the demo lost a connection");
      let at = job.conversion.receivedAt + random.integer(2, 15);
      let decision: Decision = { state: "queued", reason: null, dueAt: at };
      // A queued delivery has no owner.
      for (let attempts = 0; decision.state === "queued" && at < options.now; attempts++) {
        decision = await attempt(job, connection, at, attempts, attempts === 0 ? job.ownership.owner : anyNode);
        at = decision.dueAt;
      }
      return toResult(decision);
    },
    withdraw: () => false,
    inHand: () => new Set(),
    capacity: () => 0,
    depths: () => [],
    idle: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

const answerOf = (status: number, body: string): Answer => ({
  ok: true,
  response: { status, headers: { "content-type": "application/json" }, body },
});

function answersFor(wanted: Wanted, platform: Platform, random: Random): Answer[] {
  if (wanted === "slow") return [{ ok: false, code: "timeout", error: "no answer within 8 s" }];
  if (wanted === "down") return [answerOf(503, '{"message":"Service temporarily unavailable"}')];
  if (wanted !== "accepted") return (examplesOf(platform.id).responses ?? []).map(({ status, body }) => answerOf(status, body));
  return (acceptedBodies[platform.id]?.(random) ?? ['{"ok":true}']).map((body) =>
    answerOf(acceptedStatus[platform.id] ?? (body ? 200 : 204), body),
  );
}
