// Asks platforms what became of the conversions that they accepted. One node does it for all sites, some minutes behind the
// clock: it reads the accepted deliveries of each connection, groups them into questions, and asks each question until the
// platform has decided, later and later. Nothing of this is on the path of an event, and a platform that fails, lies or never
// answers costs only its own confirmations, which stay unknown.

import { setTimeout as sleep } from "node:timers/promises";
import { createLeaderJob, type JobNode, type LeaderJob } from "../../background/leaderJob.ts";
import type { Confirmation, ConfirmationState, CountedAs } from "../../kernel/confirmation.ts";
import { idAt } from "../../kernel/ids.ts";
import { dayMs, hourMs, maxSkewMs, minuteMs } from "../../kernel/time.ts";
import { platformOf } from "../../platforms/index.ts";
import type { ConfirmationReading, Confirmations, ConnectionSettings, Platform } from "../../platforms/platform.ts";
import { isWorking, type Connection, type Directory } from "../../sites/directory.ts";
import { headText, type AcceptedDelivery } from "../../store/deliveries/acceptedDeliveries.ts";
import type { NewQuestion, Question } from "../../store/confirmations/questions.ts";
import { notCountedReason, type ConnectionKey } from "../../store/deliveries/delivery.ts";
import type { Store } from "../../store/store.ts";
import { askPlatform } from "../askPlatform.ts";
import { takeQuota, type Quota } from "../lanes/quota.ts";
import type { Tokens } from "../oauth/tokens.ts";
import type { Sender } from "../send.ts";

export type ConfirmationOptions = JobNode & {
  store: Pick<Store, "confirmations" | "events" | "syncLog" | "leases">;
  directory: Pick<Directory, "sites">;
  sender: Sender;
  tokens: Tokens;
  quota: Quota;
  /** A question was asked, or given up. */
  onAsked: (platform: string, result: string) => void;
  /** A conversion got an answer that is counted. */
  onConfirmed: (platform: string, state: ConfirmationState) => void;
};

/**
 * First attempts and retries are settled by then, so that reading on in their order misses none. For events of a node whose clock is
 * behind the store moves the head back.
 */
const lagMs = 10 * minuteMs;
/** A clock that ran ahead has read beyond the ids of what comes in after its correction. Reading begins again this far back. */
const againMs = hourMs;
/** Events, and attempts, of one page, and the pages of a connection in one step. */
const pageSize = 200;
const maxPages = 500;
/** The questions of a connection in one step, so that it does not keep the others waiting. */
const maxQuestions = 100;
/** A delivery is sent again this often because of a temporary reason. */
const maxRetries = 3;

export function createConfirmationJob(options: ConfirmationOptions): LeaderJob {
  const { store, directory } = options;
  let runs = 0;
  return createLeaderJob({
    everyMs: minuteMs,
    ...options,
    name: "confirmations",
    leases: store.leases,
    leaseMs: 30_000,
    work({ each, mayContinue }) {
      const connections = [...directory.sites()]
        .filter(isWorking)
        .flatMap((site) => site.connections)
        .filter(({ platform, unreadable }) => !unreadable && platformOf(platform)?.confirmations);
      // Connections may share a quota, so each run begins with another one.
      const first = runs++ % Math.max(1, connections.length);
      return each(
        [...connections.slice(first), ...connections.slice(0, first)],
        ({ id }) => ({ connection: id }),
        (connection) => confirmConnection(options, connection, mayContinue),
      );
    },
  });
}

type ConfirmingPlatform = Platform & { confirmations: Confirmations };

const canConfirm = (platform: Platform): platform is ConfirmingPlatform => platform.confirmations !== undefined;

/** Reads on and asks what is due. */
export async function confirmConnection(
  options: ConfirmationOptions,
  connection: Connection,
  mayContinue: () => Promise<boolean> = () => Promise.resolve(true),
): Promise<void> {
  const platform = platformOf(connection.platform);
  if (!platform || !canConfirm(platform)) return;
  await findQuestions(options, connection, platform.confirmations, mayContinue);
  const key = { siteId: connection.siteId, connectionId: connection.id };
  const due = await options.store.confirmations.listDue(key, options.now(), maxQuestions);
  for (const question of due) {
    if (!(await mayContinue())) return;
    if (isGivenUp(platform.confirmations, question, options.now())) {
      await giveUp(options, platform, question, null);
      continue;
    }
    // A connection that is paused, or has no valid token, cannot ask. Its questions wait until their age limit.
    if (connection.state !== "active") continue;
    const { perMinute } = platform.confirmations;
    if (takeQuota(options, connection, { kind: "confirmations", perMinute }) > 0) return;
    const outcome = await ask(options, connection, platform, question);
    // A platform that fails, or asks to wait, is left alone until the next step.
    if (outcome === "retry" || outcome === "unauthorized") return;
  }
}

async function findQuestions(
  { store, now }: ConfirmationOptions,
  { siteId, id, createdAt, settings }: Connection,
  confirmations: Confirmations,
  mayContinue: () => Promise<boolean>,
): Promise<void> {
  const key = { siteId, connectionId: id };
  let stored = await store.confirmations.readCursor(key);
  for (let pages = 0; pages < maxPages; pages++) {
    const at = now();
    const startedAt = performance.now();
    const latest = at - lagMs + maxSkewMs;
    const isAhead = stored !== null && (stored.eventId > idAt(latest) || stored.attemptAt > latest);
    const from = Math.max(createdAt - lagMs, at - (isAhead ? againMs : maxAgeMs(confirmations)));
    const head = stored && !isAhead ? stored : { eventId: idAt(from), attemptAt: from, attemptEventId: "" };
    const page = await store.confirmations.listAccepted(key, head, {
      beforeId: idAt(at - lagMs),
      before: at - lagMs,
      openFromId: idAt(at - dayMs),
      limit: pageSize,
    });
    if (headText(page.head) === headText(head)) return;
    const questions = toQuestions(confirmations, settings, await withoutAnswered(store, key, page.accepted));
    // Another node that moved the head asks these questions.
    if (!(await store.confirmations.addQuestions(key, stored, page.head, questions))) return;
    stored = page.head;
    // The embedded store works on the thread that accepts events.
    await sleep(performance.now() - startedAt);
    if (!(await mayContinue())) return;
  }
}

/** Some may be read again. The answer to a question that was answered before would undo that to the question of a later attempt. */
async function withoutAnswered(
  { confirmations }: ConfirmationOptions["store"],
  { siteId, connectionId }: ConnectionKey,
  accepted: readonly AcceptedDelivery[],
): Promise<AcceptedDelivery[]> {
  const ids = accepted.map(({ eventId }) => eventId);
  const rows = (await confirmations.listByEvents(siteId, ids)).filter((row) => row.connectionId === connectionId);
  const answeredAt = new Map(rows.map((row) => [row.eventId, row.updatedAt]));
  return accepted.filter(({ eventId, acceptedAt }) => acceptedAt >= (answeredAt.get(eventId) ?? 0));
}

const maxAgeMs = ({ askAfterMinutes }: Confirmations) => (askAfterMinutes.at(-1) ?? 0) * minuteMs;

function toQuestions(
  confirmations: Confirmations,
  settings: ConnectionSettings,
  accepted: readonly AcceptedDelivery[],
): NewQuestion[] {
  const named = accepted.flatMap((one) => {
    const subject = confirmations.subjectOf(one, settings);
    return subject === null || subject.length > maxSubjectLength ? [] : [{ ...one, subject }];
  });
  return [...Map.groupBy(named, ({ subject }) => subject)].map(([subject, some]) => {
    const acceptedAt = Math.min(...some.map((one) => one.acceptedAt));
    const [first = 0] = confirmations.askAfterMinutes;
    const eventIds = some.map(({ eventId }) => eventId);
    return { subject, eventIds, acceptedAt, dueAt: acceptedAt + first * minuteMs };
  });
}

const maxSubjectLength = 500;

/** A question that waited while its connection was paused ends some time after its last turn. */
const isGivenUp = (confirmations: Confirmations, { asked, acceptedAt }: Question, now: number) =>
  asked >= confirmations.askAfterMinutes.length || now - acceptedAt > 2 * maxAgeMs(confirmations);

async function giveUp(
  { store, now, onAsked }: ConfirmationOptions,
  { id: platform }: Platform,
  question: Question,
  detail: string | null,
): Promise<void> {
  const unknown: Confirmation = { state: "unknown", reason: "no answer", detail };
  const answers = question.eventIds.map((eventId) => ({
    eventId,
    confirmation: unknown,
    countedAs: unknown,
  }));
  await store.confirmations.answer(question, platform, answers, 0, now());
  await store.confirmations.end(question);
  onAsked(platform, "given up");
}

async function ask(
  options: ConfirmationOptions,
  connection: Connection,
  platform: ConfirmingPlatform,
  question: Question,
): Promise<ConfirmationReading["kind"] | "claimed"> {
  const { store, now, onAsked, onConfirmed } = options;
  const { confirmations } = platform;
  // The next time is stored before the call, so that a call that never ends is not repeated at once.
  if (!(await store.confirmations.claim(question, nextAt(confirmations, question, now())))) return "claimed";
  const { subject, eventIds } = question;
  const keys = await readKeys(options, confirmations, question);
  const reading = await askPlatform<ConfirmationReading>(options, connection, platform, {
    toRequest: (settings) => confirmations.toRequest(subject, settings, keys),
    read: (response, settings) => confirmations.read(response, { subject, conversions: eventIds.length, keys, settings }, now()),
  });
  if (reading.kind !== "answered") {
    onAsked(platform.id, reading.kind);
    // An id that is not known twice will not be known later.
    if (reading.kind === "rejected" && question.asked > 0) await giveUp(options, platform, question, reading.error);
    return reading.kind;
  }
  const at = now();
  const answers = toAnswers(question, reading);
  const again = await store.confirmations.answer(question, platform.id, answers, maxRetries, at);
  const dueAt = Math.max(at, question.acceptedAt + confirmations.retryAfterMinutes * minuteMs);
  const deliveries = again.map((eventId) => ({ eventId, connectionId: connection.id }));
  if (deliveries.length)
    await store.syncLog.requeue(connection.siteId, deliveries, ["sent"], at, { reason: notCountedReason, dueAt });
  const isDecided = answers.length === question.eventIds.length;
  if (isDecided) await store.confirmations.end(question);
  onAsked(platform.id, isDecided ? "answered" : "undecided");
  for (const { countedAs } of answers) onConfirmed(platform.id, countedAs.state);
  return reading.kind;
}

/** Events that were purged, or cannot be read, have no key. */
async function readKeys(
  { store }: ConfirmationOptions,
  confirmations: Confirmations,
  { siteId, eventIds }: Question,
): Promise<(string | null)[]> {
  if (!confirmations.keyOf) return [];
  const events = await store.events.getMany(siteId, eventIds);
  return eventIds.map((id) => {
    const event = events.get(id);
    return event && event !== "damaged" ? (confirmations.keyOf?.(event) ?? null) : null;
  });
}

function toAnswers({ eventIds }: Question, { confirmations, tally }: Extract<ConfirmationReading, { kind: "answered" }>) {
  return eventIds.flatMap((eventId, i) => {
    const confirmation = confirmations[i];
    const countedAs: CountedAs | null | undefined = tally?.[i] ?? confirmation;
    return confirmation && countedAs ? [{ eventId, confirmation, countedAs }] : [];
  });
}

/** A node that was away for hours does not ask for all that it missed at once. */
function nextAt({ askAfterMinutes }: Confirmations, { asked, acceptedAt }: Question, now: number): number {
  const [first = 0] = askAfterMinutes;
  const after = askAfterMinutes[asked + 1] ?? 0;
  return Math.max(acceptedAt + after * minuteMs, now + (first * minuteMs) / 2);
}
