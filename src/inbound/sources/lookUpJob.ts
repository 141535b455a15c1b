// Ends the waiting of requests of sources, after their senders were answered: it makes the look-ups that they wait for, and looks
// again for the customer or order that another request was to bring. One node does it for all sites, and for each site one request
// after the other: two refunds of an order, of whichever sources, must not be counted at the same moment. What waits is a row: a
// process that dies loses nothing, and an attempt that ran twice gives a duplicate, which is not counted.

import { setTimeout as sleep } from "node:timers/promises";
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
import { lookUpReason, type SourceOutcome, type WaitingRequest } from "../../store/sources/sourceRequests.ts";
import type { Store } from "../../store/store.ts";
import { mayComeLater, relayOutcomes, type RelayOptions } from "./relayOutcomes.ts";
import type { SourceResult } from "./results.ts";

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
/** Sites, or sources with look-ups, that are worked on at the same time. */
const maxAtOnce = 8;
/** So long are look-ups of a source begun in one run: the other sources wait for it. */
const maxLookUpMs = 5000;
/** The pause between two looks at what waits for no look-up. */
const pauseMs = 1000;
/** So long do requests wait at most: most senders repeat theirs for as long. */
const giveUpMs = 3 * dayMs;

export function createLookUpJob(options: LookUpJobOptions): LeaderJob {
  const { store, directory, onDefect } = options;
  return createLeaderJob({
    everyMs: pauseMs,
    ...options,
    name: "lookUps",
    leases: store.leases,
    leaseMs: 30_000,
    async work({ mayContinue }) {
      const inTurn = createTurns();
      const endAll = async (asking: Asking, isLookUp: boolean) => {
        const run: Run = { isLookUp, until: options.elapsed() + maxLookUpMs, mayContinue, inTurn };
        await endWaits(asking, run, options).catch((error: unknown) =>
          onDefect(error, { worker: "lookUps", source: asking.source.id }),
        );
      };
      const sources = listAsking(directory);
      let isOver = false;
      const lookUps = forEachConcurrently(sources, maxAtOnce, (asking) => endAll(asking, true)).finally(() => (isOver = true));
      // A sender may let its look-ups wait: the refunds of all sites do not wait for them.
      do {
        const bySite = Map.groupBy(listAsking(directory), ({ site }) => site.id);
        await forEachConcurrently(bySite.values(), maxAtOnce, async (ofSite) => {
          for (const asking of ofSite) await endAll(asking, false);
        });
        await Promise.race([lookUps, sleep(pauseMs, undefined, { ref: false })]);
      } while (!isOver && (await mayContinue()));
      await lookUps;
    },
  });
}

const listAsking = (directory: LookUpJobOptions["directory"]): Asking[] =>
  [...directory.sites()].filter(isWorking).flatMap((site) =>
    site.sources.flatMap((source): Asking[] => {
      const kind = kindOf(source.kind);
      return kind && source.state === "active" && mayWait(source, kind) ? [{ site, source, kind }] : [];
    }),
  );

type InTurn = <T>(siteId: string, work: () => Promise<T>) => Promise<T>;

/** Does the work of a site one after the other. */
function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>();
  return (siteId, work) => {
    const own = (last.get(siteId) ?? Promise.resolve()).then(work);
    last.set(
      siteId,
      own.catch(() => {}),
    );
    return own;
  };
}

type Asking = { site: Site; source: Source; kind: Kind };

type Run = {
  /** Requests that wait for a look-up; otherwise the others. */
  isLookUp: boolean;
  /** No look-up begins later, on the monotonic clock. */
  until: number;
  mayContinue: () => Promise<boolean>;
  inTurn: InTurn;
};

/** Some rule of the source may give an event that waits. The rules of a source that is mapped may have changed since. */
const mayWait = (source: Source, kind: Kind) =>
  !source.unreadable &&
  (kind.isMapped ||
    compiledKindOf(source).rules.some(({ rule, customer }) => rule.gives === "refund" || rule.lookUp !== undefined || customer));

async function endWaits(asking: Asking, run: Run, options: LookUpJobOptions): Promise<void> {
  const { store, now, elapsed, onDefect } = options;
  const { siteId, id } = asking.source;
  const { isLookUp, until, mayContinue } = run;
  for (const request of await store.sourceRequests.listDue(siteId, id, { isLookUp, now: now(), limit: maxRequests })) {
    if ((isLookUp && elapsed() > until) || !(await mayContinue())) return;
    const tried = await attempt(request, asking, run, options).catch((error: unknown): Tried => {
      onDefect(error, { worker: "lookUps", source: id });
      // Those behind it must not wait for one that the store refuses each time.
      return { ...unstored, waitsFor: request.reason, askedSeconds: 0, isRefused: false };
    });
    if (!tried) return;
    await note(request, tried, asking, options);
    // What one look-up met, a limit or a wrong key, the next one would meet too.
    if (tried.isRefused) return;
  }
}

type Ended = Pick<SourceResult, "outcome" | "reason" | "detail" | "eventId">;

const unstored: Ended = { outcome: "ignored", reason: "unavailable", detail: "the relay could not store it", eventId: null };

/** How an attempt ended. */
type Tried = Ended & {
  /** The reason to wait for another attempt; null for one that ended the wait. */
  waitsFor: string | null;
  /** So long does the sender want to be left alone. */
  askedSeconds: number;
  /** The look-up is to be repeated. */
  isRefused: boolean;
};

/** Null where another node may lead by now. */
async function attempt(
  request: WaitingRequest,
  asking: Asking,
  { mayContinue, inTurn }: Run,
  options: LookUpJobOptions,
): Promise<Tried | null> {
  const event = request.waiting === null ? null : (JSON.parse(request.waiting) as WaitingEvent);
  const found: Found = event
    ? await ask(event, asking, options)
    : { is: "final", why: "look-up failed: the request cannot be read" };
  if (event?.lookUp && !(await mayContinue())) return null;
  const ended = await inTurn(asking.site.id, () => endOf(found, asking, options));
  if (found.is === "retry") return { ...ended, waitsFor: lookUpReason, askedSeconds: found.retryAfterSeconds, isRefused: true };
  const tried = { ...ended, waitsFor: null, askedSeconds: 0, isRefused: false };
  if (!event || !mayComeLater(event, ended)) return tried;
  return event.lookUp ? { ...tried, detail: ended.reason, waitsFor: lookUpReason } : { ...tried, waitsFor: ended.reason };
}

async function note(request: WaitingRequest, tried: Tried, { source }: Asking, options: LookUpJobOptions): Promise<void> {
  const { store, now, retry, onLookedUp } = options;
  const { waitsFor, askedSeconds, outcome, reason, detail, eventId } = tried;
  if (waitsFor !== null && now() - request.at < giveUpMs) {
    const dueAt = nextAttemptAt({ failures: request.attempts + 1, askedSeconds, maxAskedMs: dayMs }, retry, now());
    await store.sourceRequests.noteLookUp(request, { outcome: "waiting", reason: waitsFor, detail, eventId, dueAt });
    return;
  }
  await store.sourceRequests.noteLookUp(request, { outcome, reason, detail, eventId, dueAt: null });
  onLookedUp(source, outcome, now());
}

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
