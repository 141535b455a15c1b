// How platforms answered in the demo's past: nearly always well, now and then not, and one of them was down for two hours.
// Requests and readings are those of the connectors; nothing is sent.

import { exchange } from "../../src/delivery/exchange.ts";
import type { Lanes } from "../../src/delivery/lanes.ts";
import type { Job } from "../../src/delivery/plan.ts";
import { decide, type Decision } from "../../src/delivery/retry.ts";
import type { Sender, Sent } from "../../src/delivery/send.ts";
import type { Reading } from "../../src/kernel/event.ts";
import { platformOf } from "../../src/platforms/index.ts";
import type { Connection } from "../../src/sites/directory.ts";
import type { Store } from "../../src/store/store.ts";
import { alphanumeric, uuidFrom, type Chance } from "./chance.ts";

/** What a platform says when it takes a conversion: the first that its connector reads so. */
const thanks: Record<string, (chance: Chance) => string[]> = {
  google_ads: (chance) => [`{"requestId":"${uuidFrom(chance)}"}`],
  meta: (chance) => [`{"events_received":1,"messages":[],"fbtrace_id":"A${chance.text(alphanumeric, 22)}"}`],
  tiktok: (chance) => [
    `{"code":0,"message":"OK","request_id":"2026${chance.text("0123456789ABCDEF", 30)}","data":{}}`,
  ],
  microsoft_ads: () => ['{"eventsReceived":1}', '{"PartialErrors":[]}'],
  linkedin: () => ['{"elements":[{"status":201}]}'],
  pinterest: () => [
    '{"num_events_received":1,"num_events_processed":1,"events":[{"status":"processed","error_message":"","warning_message":""}]}',
  ],
  snapchat: () => ['{"status":"VALID"}'],
  reddit: () => ['{"data":{"message":"Successfully processed 1 conversion events."}}'],
  x: (chance) => [
    `{"request":{"params":{}},"data":{"conversions_processed":1,"debug_id":"${uuidFrom(chance)}"}}`,
  ],
  ga4: () => [""],
  segment: () => ['{"success":true}'],
  sandbox: () => ['{"accepted":true,"by":"sandbox"}'],
};

/** Those that refuse a conversion by itself now and then. */
const choosy = new Set(["google_ads", "meta", "pinterest", "snapchat", "reddit"]);

export type Trouble = { platform: string; from: number; to: number };
type Wanted = Reading["outcome"] | "down" | "slow";

export type Past = {
  store: Pick<Store, "deliveries">;
  connectionOf: (siteId: string, id: string) => Connection | undefined;
  chance: Chance;
  /** The present: what would be tried later is still to do. */
  now: number;
  outages: readonly Trouble[];
  /** From this moment on a platform refuses the token. */
  revoked: readonly { platform: string; siteId: string; at: number }[];
  onRevoked: (connection: Connection, reason: string, at: number) => Promise<void>;
};

const scheduleMs = [10, 60, 300, 1800, 7200, 18_000].map((seconds) => seconds * 1000);

/** Lanes that lead nowhere: every delivery is settled as if it had been attempted then. */
export function lanesOfThePast(past: Past): Lanes {
  const { store, chance } = past;

  function wantedAt(platform: string, siteId: string, at: number, attempts: number): Wanted {
    if (past.revoked.some((one) => one.platform === platform && one.siteId === siteId && at >= one.at))
      return "unauthorized";
    const isDown = past.outages.some((one) => one.platform === platform && at >= one.from && at < one.to);
    if (isDown) return chance.happens(0.25) ? "slow" : "down";
    if (attempts === 0 && chance.happens(0.006)) return chance.happens(0.5) ? "slow" : "down";
    return attempts === 0 && choosy.has(platform) && chance.happens(0.007) ? "rejected" : "accepted";
  }

  async function attempt(job: Job, connection: Connection, at: number, attempts: number, owner: string) {
    const platform = platformOf(connection.platform);
    if (!platform) throw new Error(`the demo knows no platform ${connection.platform}`);
    const wanted = wantedAt(platform.id, job.siteId, at, attempts);
    const durationMs = wanted === "slow" ? 8003 : 60 + Math.round(320 * chance.number() ** 2);
    const read = (sent: Sent) =>
      sent.ok
        ? platform.readResponse(sent.response, [job.conversion], connection.settings, at)[0]?.outcome
        : "retry";
    const answer = answersTo(wanted, platform, chance).find(
      (sent) => read(sent) === (wanted === "down" || wanted === "slow" ? "retry" : wanted),
    );
    if (!answer) throw new Error(`the demo has no answer of ${platform.name} that is read as ${wanted}`);
    const sender: Sender = { send: () => Promise.resolve(answer), close: () => Promise.resolve() };
    const made = await exchange(sender, platform, connection.settings, [job.conversion], at);
    if (made.defect) throw made.defect;
    const reading = made.readings[0] as Reading;
    const endedAt = at + durationMs;
    const decision = decide(
      reading,
      { attemptsMade: attempts + 1, expiresAt: job.expiresAt },
      { scheduleMs, random: () => chance.number() },
      endedAt,
    );
    if (reading.outcome === "unauthorized") await past.onRevoked(connection, reading.error, endedAt);
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
        request: made.requestOf(job.conversion),
        ...made.log,
      },
    });
    return decision;
  }

  return {
    async send(job) {
      const connection = past.connectionOf(job.siteId, job.connectionId);
      if (!connection) throw new Error("the demo lost a connection");
      let at = job.conversion.receivedAt + chance.whole(2, 15);
      let decision: Decision = { state: "queued", reason: null, dueAt: at };
      // Once settled, a delivery that waits is in nobody's hand.
      for (let attempts = 0; decision.state === "queued" && at < past.now; attempts++) {
        decision = await attempt(job, connection, at, attempts, attempts === 0 ? job.owner : "");
        at = decision.dueAt;
      }
      return decision;
    },
    withdraw: () => false,
    capacity: () => 0,
    depths: () => [],
    idle: () => Promise.resolve(),
    close: () => Promise.resolve(),
  };
}

type Asked = NonNullable<ReturnType<typeof platformOf>>;

const answerOf = (status: number, body: string): Sent => ({
  ok: true,
  response: { status, headers: { "content-type": "application/json" }, body },
});

function answersTo(wanted: Wanted, platform: Asked, chance: Chance): Sent[] {
  if (wanted === "slow") return [{ ok: false, blocked: false, error: "no answer within 8 s" }];
  if (wanted === "down") return [answerOf(503, '{"message":"Service temporarily unavailable"}')];
  if (wanted !== "accepted")
    return (platform.responses ?? []).map(({ status, body }) => answerOf(status, body));
  return (thanks[platform.id]?.(chance) ?? ['{"ok":true}']).map((body) => answerOf(body ? 200 : 204, body));
}
