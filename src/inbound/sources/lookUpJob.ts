// Ends the waiting of requests of sources, after their senders were answered: it makes the look-ups that they wait for, and looks
// again for the customer or order that another request was to bring. One node does it for all sites. What waits is a row: a
// process that dies loses nothing, and an attempt that ran twice gives a duplicate, which is not counted.

import { createLeaderJob, type JobNode, type LeaderJob } from "../../background/leaderJob.ts";
import { nextAttemptAt, type RetryRules } from "../../delivery/decide.ts";
import type { Sender } from "../../delivery/send.ts";
import { clickIdName } from "../../identity/clickIds.ts";
import { forEachConcurrently } from "../../kernel/concurrency.ts";
import { english } from "../../kernel/messages/message.ts";
import { dayMs } from "../../kernel/time.ts";
import { isWorking, type Directory, type Site, type Source } from "../../sites/directory.ts";
import { compiledKindOf, settingsOfSource, validValues } from "../../sites/sources.ts";
import type { Kind } from "../../sources/kind.ts";
import { kindOf } from "../../sources/kinds/index.ts";
import { lookUpOf, nextCall, readLookUp, withAnswers, type LookUpReading, type WaitingEvent } from "../../sources/lookUp.ts";
import type { Mapped } from "../../sources/run.ts";
import type { SourceOutcome, WaitingRequest } from "../../store/sources/sourceRequests.ts";
import type { Store } from "../../store/store.ts";
import { mayComeLater, relayOutcomes, type RelayOptions, type SourceResult } from "./relayOutcomes.ts";

type LookUpJobOptions = JobNode &
  RelayOptions & {
    store: RelayOptions["store"] & Pick<Store, "leases">;
    directory: Pick<Directory, "sites">;
    sender: Sender;
    retry: RetryRules;
    answerMs: number;
    onLookedUp: (source: Source, outcome: SourceOutcome, at: number) => void;
  };

/** Requests of a source in one run, so that it does not keep the others waiting. */
const maxRequests = 50;
/** Sources whose look-ups run at the same time. */
const maxSources = 8;
/** So long do requests wait at most: most senders repeat theirs for as long. */
const giveUpMs = 3 * dayMs;

export function createLookUpJob(options: LookUpJobOptions): LeaderJob {
  const { store, directory, onDefect } = options;
  return createLeaderJob({
    everyMs: 1000,
    ...options,
    name: "lookUps",
    leases: store.leases,
    leaseMs: 30_000,
    async work({ mayContinue }) {
      const sources = [...directory.sites()]
        .filter(isWorking)
        .flatMap((site) => site.sources.map((source) => ({ site, source, kind: kindOf(source.kind) })));
      const asking = sources.filter(({ source, kind }) => kind && mayWait(source) && source.state === "active");
      await forEachConcurrently(asking, maxSources, async ({ site, source, kind }) => {
        try {
          if (kind) await lookUpAll({ site, source, kind }, options, mayContinue);
        } catch (error) {
          onDefect(error, { worker: "lookUps", source: source.id });
        }
      });
    },
  });
}

type Asking = { site: Site; source: Source; kind: Kind };

/** Some rule of the source may give an event that waits. */
const mayWait = (source: Source) =>
  !source.unreadable &&
  compiledKindOf(source).rules.some(({ rule, customer }) => rule.gives === "refund" || rule.lookUp !== undefined || customer);

async function lookUpAll(asking: Asking, options: LookUpJobOptions, mayContinue: () => Promise<boolean>): Promise<void> {
  const { store, now } = options;
  const { siteId, id } = asking.source;
  for (const request of await store.sourceRequests.listDue(siteId, id, now(), maxRequests)) {
    if (!(await mayContinue())) return;
    // What one look-up met, a limit or a wrong key, the next one would meet too.
    if (!(await lookUpOne(request, asking, options))) return;
  }
}

/** False where the look-up is to be repeated. */
async function lookUpOne(request: WaitingRequest, asking: Asking, options: LookUpJobOptions): Promise<boolean> {
  const { store, now, retry, onLookedUp } = options;
  const event = request.waiting === null ? null : (JSON.parse(request.waiting) as WaitingEvent);
  const found: Found = event
    ? await ask(event, asking, options)
    : { is: "final", why: "look-up failed: the request cannot be read" };
  const ended = await endOf(found, asking, options);
  const isLookUp = found.is === "retry";
  if ((isLookUp || (event && mayComeLater(event, ended))) && now() - request.at < giveUpMs) {
    const failures = request.attempts + 1;
    const askedSeconds = isLookUp ? found.retryAfterSeconds : 0;
    const dueAt = nextAttemptAt({ failures, askedSeconds, maxAskedMs: dayMs }, retry, now());
    const reason = isLookUp ? "look-up" : ended.reason;
    await store.sourceRequests.noteLookUp(request, { ...ended, outcome: "waiting", reason, dueAt });
    return !isLookUp;
  }
  await store.sourceRequests.noteLookUp(request, { ...ended, dueAt: null });
  onLookedUp(asking.source, ended.outcome, now());
  return true;
}

type Ended = Pick<SourceResult, "outcome" | "reason" | "detail" | "eventId">;

/** Relays what was found, and returns what became of it. */
async function endOf(found: Found, { site, source }: Asking, options: LookUpJobOptions): Promise<Ended> {
  if (found.is !== "found") return { outcome: "ignored", reason: "look-up failed", detail: found.why, eventId: null };
  const receivedAt = options.now();
  const context = { site, source, receivedAt, deadline: receivedAt + options.answerMs, hasWaited: true } as const;
  const [result] = await relayOutcomes([found.outcome], context, options);
  if (!result) throw new Error("a request that waited has no result");
  return result;
}

type Found = Exclude<LookUpReading, { is: "answer" }> | { is: "found"; outcome: Mapped };

/** Asks the sender one thing after the other, until the event is complete. */
async function ask(event: WaitingEvent, { source, kind }: Asking, { sender, now }: LookUpJobOptions): Promise<Found> {
  // The event may wait for long: it happened when its request came.
  const dated = { ...event, fields: { eventTime: new Date(event.receivedAt).toISOString(), ...event.fields } };
  if (event.lookUp === null) return { is: "found", outcome: { ...dated, lookUp: null } };
  const lookUp = lookUpOf(kind, event.lookUp);
  if (!lookUp) return { is: "final", why: "look-up failed: the request cannot be read" };
  const [key] = validValues(source, lookUp.key, now());
  if (key === undefined) return { is: "retry", why: "look-up refused: the source has no key", retryAfterSeconds: 0 };
  const answers: Record<string, unknown> = {};
  for (let call = nextCall(lookUp, event, answers); call; call = nextCall(lookUp, event, answers)) {
    const headers = { authorization: `Bearer ${key}`, accept: "application/json" };
    const sent = await sender.send(
      { method: "GET", url: call.url, headers, body: "" },
      { platform: kind.id, customerAddress: false },
    );
    if (!sent.ok) return { is: "retry", why: `look-up failed: ${english(sent.error)}`, retryAfterSeconds: 0 };
    const reading = readLookUp(sent.response, call);
    if (reading.is !== "answer") return reading;
    answers[call.name] = reading.body;
  }
  return { is: "found", outcome: withAnswers(lookUp, dated, answers, settingsOfSource(source), clickIdName) };
}
