// Confirmations on both engines: questions from accepted deliveries, answers, back-off, retries, two nodes, erase and purge.

import { afterAll, describe, expect, test } from "vitest";
import { byNode, newAttempt, newEvent, newSite, queuedDelivery, settlementOf } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { storeSent } from "../../../test/support/sentEvents.ts";
import { sha256 } from "../../../test/support/sha256.ts";
import type { ConfirmationReason, ConfirmationState } from "../../kernel/confirmation.ts";
import { shortId } from "../../kernel/ids.ts";
import { dayMs, hourMs, minuteMs } from "../../kernel/time.ts";
import { confirmations as examples } from "../../platforms/google_ads/confirmationExamples.ts";
import { connectPlatform, disconnect } from "../../sites/connect.ts";
import { createDirectory, type Connection } from "../../sites/directory.ts";
import { findSite } from "../../sites/manage.ts";
import { maxOpenQuestions } from "../../store/confirmations/questions.ts";
import type { NewEvent } from "../../store/events/events.ts";
import type { Store } from "../../store/store.ts";
import { createQuota } from "../lanes/quota.ts";
import type { Answer } from "../send.ts";
import { confirmConnection, type ConfirmationOptions } from "./worker.ts";

const now = Date.UTC(2026, 10, 15, 12);
const by = { actor: "test", now, checkAddress: () => null };
const settings = { customer_id: "123-456-7890", access_token: "token", conversion_action: "7700000001" };
const titled = (title: string) => examples.responses.find((one) => one.title === title) ?? expect.unreachable(title);
const processing = titled("Google processes the request").body;
const noClick = titled("no conversion has a click").body;
const tooNew = titled("the click is too new: the conversion is sent again").body;
const counted = titled("every conversion counts").body;

describe.each(["sqlite", "postgres"] as const)("confirmations on %s", async (engine) => {
  const { store, other, close } = await createNodes(engine);
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  async function setUp(): Promise<Connection> {
    const siteId = await newSite(store);
    await directory.refresh();
    const site = findSite(context, siteId);
    return (await connectPlatform(context, site, "google_ads", { settings }, by)).connection;
  }

  /** Accepts an event whose first attempt the platform accepted in the request `requestId`. */
  const sendFirst = (connection: Connection, requestId: string, fields: Partial<NewEvent["event"]> = {}) =>
    storeSent(store, connection, JSON.stringify({ requestId }), now, fields);

  /** A worker at a time, and the addresses that it called. */
  function workerAt(at: number, body: string, on: Store = store, status = 200) {
    const calls: string[] = [];
    const sender: ConfirmationOptions["sender"] = {
      send({ url }): Promise<Answer> {
        calls.push(url);
        return Promise.resolve({ ok: true, response: { status, headers: {}, body } });
      },
      close: () => Promise.resolve(),
    };
    const options: ConfirmationOptions = {
      store: on,
      directory,
      sender,
      tokens: { fresh: (connection) => Promise.resolve(connection) },
      quota: createQuota(),
      owner: shortId(),
      now: () => at,
      elapsed: () => at,
      onDefect: (error) => expect.unreachable(String(error)),
      onAsked() {},
      onConfirmed() {},
    };
    return { calls, options, run: (connection: Connection) => confirmConnection(options, connection) };
  }

  async function step(connection: Connection, at: number, body: string, status?: number): Promise<string[]> {
    const worker = workerAt(at, body, store, status);
    await worker.run(connection);
    return worker.calls;
  }

  const confirmationsOf = async ({ siteId }: Connection, ...items: NewEvent[]) =>
    (
      await store.confirmations.listByEvents(
        siteId,
        items.map(({ event }) => event.id),
      )
    ).map(({ state, reason, retries }) => [state, reason, retries]);

  const url = (id: string) => `https://datamanager.googleapis.com/v1/requestStatus:retrieve?requestId=${id}`;

  test("conversions of one request are asked for once, half an hour later, and each gets the answer", async () => {
    const connection = await setUp();
    const items = [await sendFirst(connection, "t-1"), await sendFirst(connection, "t-1")];
    expect(await step(connection, now + 29 * minuteMs, counted)).toEqual([]);
    expect(await confirmationsOf(connection, ...items)).toEqual([]);
    expect(await step(connection, now + 31 * minuteMs, counted)).toEqual([url("t-1")]);
    expect(await confirmationsOf(connection, ...items)).toEqual([
      ["confirmed", null, 0],
      ["confirmed", null, 0],
    ]);
    expect(await step(connection, now + dayMs, counted)).toEqual([]);
  });

  test("a reason of the platform is stored with each conversion that was not counted", async () => {
    const connection = await setUp();
    const items = [await sendFirst(connection, "t-2"), await sendFirst(connection, "t-2")];
    await step(connection, now + hourMs, noClick);
    expect(await confirmationsOf(connection, ...items)).toEqual([
      ["not counted", "no ad click", 0],
      ["not counted", "no ad click", 0],
    ]);
  });

  test("test events are never asked for", async () => {
    const connection = await setUp();
    await sendFirst(connection, "v-1", { mode: "test" });
    expect(await step(connection, now + hourMs, counted)).toEqual([]);
  });

  test("a request that is never decided is asked seven times, later and later, and then stays unknown", async () => {
    const connection = await setUp();
    const item = await sendFirst(connection, "t-3");
    const askedAt: number[] = [];
    for (let at = now; at <= now + 4 * dayMs; at += 15 * minuteMs)
      if ((await step(connection, at, processing)).length) askedAt.push((at - now) / hourMs);
    expect(askedAt).toEqual([0.75, 1.25, 2.25, 4.25, 8.25, 24.25, 48.25]);
    expect(await confirmationsOf(connection, item)).toEqual([["unknown", "no answer", 0]]);
  });

  test("a failing platform leaves no confirmation, and an id that it does not know twice is given up", async () => {
    const connection = await setUp();
    const item = await sendFirst(connection, "t-4");
    expect(await step(connection, now + hourMs, "", 503)).toHaveLength(1);
    expect(await confirmationsOf(connection, item)).toEqual([]);
    expect(await step(connection, now + 3 * hourMs, "{}", 400)).toHaveLength(1);
    expect(await confirmationsOf(connection, item)).toEqual([["unknown", "no answer", 0]]);
    expect(await step(connection, now + dayMs, counted)).toEqual([]);
  });

  test("two nodes at the same moment ask once", async () => {
    const connection = await setUp();
    const item = await sendFirst(connection, "t-5");
    const workers = [workerAt(now + hourMs, counted), workerAt(now + hourMs, counted, other)];
    await Promise.all(workers.map((worker) => worker.run(connection)));
    await step(connection, now + hourMs, counted);
    expect(workers.flatMap(({ calls }) => calls).length).toBeLessThanOrEqual(1);
    expect(await confirmationsOf(connection, item)).toEqual([["confirmed", null, 0]]);
  });

  test("a question that another node asked meanwhile is not asked again", async () => {
    const connection = await setUp();
    await sendFirst(connection, "t-51");
    const late = workerAt(now + hourMs, counted, other);
    const first = workerAt(now + hourMs, processing);
    const { confirmations } = late.options.store;
    const listDue: typeof confirmations.listDue = async (...args) => {
      const due = await confirmations.listDue(...args);
      await first.run(connection);
      return due;
    };
    late.options.store = { ...late.options.store, confirmations: { ...confirmations, listDue } };
    await confirmConnection(late.options, connection);
    expect([first.calls, late.calls]).toEqual([[url("t-51")], []]);
  });

  test("an event that is committed minutes after its id was made is asked for too", async () => {
    const connection = await setUp();
    await sendFirst(connection, "t-52");
    await step(connection, now + 5 * minuteMs, counted);
    await storeSent(store, connection, '{"requestId":"t-53"}', now - minuteMs);
    expect((await step(connection, now + hourMs, counted)).toSorted()).toEqual([url("t-52"), url("t-53")]);
  });

  /** Accepts an event now that is sent later. */
  async function sendLater(connection: Connection, requestId: string, at: number): Promise<void> {
    const { siteId, id: connectionId, platform } = connection;
    const item = newEvent(siteId, { orderId: null }, { deliveries: [queuedDelivery(connectionId, platform)] });
    await store.events.accept(item);
    const attempt = newAttempt("sent", { startedAt: at, response: JSON.stringify({ requestId }) });
    await store.deliveries.settle(settlementOf(item, "sent", { connectionId, attempt, at }));
  }

  const sendAtOnce = (connection: Connection, requestId: string, at: number) =>
    storeSent(store, connection, JSON.stringify({ requestId }), at);

  test.each([
    ["at once", sendAtOnce],
    ["by a retry", sendLater],
  ])("what is sent %s after a clock that ran ahead is corrected is asked for, and others not again", async (_how, send) => {
    const connection = await setUp();
    // While the clock ran three hours ahead.
    const ahead = now + 3 * hourMs;
    await send(connection, "t-60", ahead);
    expect(await step(connection, ahead + 31 * minuteMs, counted)).toEqual([url("t-60")]);
    // The relay started again meanwhile: its ids begin at the present time.
    await send(connection, "t-61", now + 40 * minuteMs);
    expect(await step(connection, now + 55 * minuteMs, counted)).toEqual([]);
    expect(await step(connection, now + 71 * minuteMs, counted)).toEqual([url("t-61")]);
    expect(await step(connection, ahead + hourMs, counted)).toEqual([]);
  });

  test("an event is asked for that a node accepts whose clock is behind, and others not again", async () => {
    const connection = await setUp();
    const at = now + 2 * hourMs;
    const again = await storeSent(store, connection, '{"requestId":"t-62"}', at);
    expect(await step(connection, at + 31 * minuteMs, noClick)).toEqual([url("t-62")]);
    const ownership = { ...byNode(), at: at + 32 * minuteMs };
    const late = await storeSent(store, connection, '{"requestId":"t-63"}', at - hourMs, {}, ownership);
    expect(await step(connection, at + 33 * minuteMs, counted)).toEqual([url("t-63")]);
    expect(await confirmationsOf(connection, again, late)).toEqual([
      ["confirmed", null, 0],
      ["not counted", "no ad click", 0],
    ]);
  });

  test("a page that two nodes read becomes questions once", async () => {
    const { siteId, id: connectionId } = await setUp();
    const key = { siteId, connectionId };
    const head = { eventId: "1".repeat(26), attemptAt: now, attemptEventId: "" };
    const question = (subject: string) => ({ subject, eventIds: ["e"], acceptedAt: now, dueAt: now });
    expect(await store.confirmations.addQuestions(key, null, head, [question("t-57")])).toBe(true);
    expect(await other.confirmations.addQuestions(key, null, head, [question("t-58")])).toBe(false);
    const next = { ...head, attemptAt: now + 1 };
    expect(await store.confirmations.addQuestions(key, head, next, [])).toBe(true);
    expect(await other.confirmations.addQuestions(key, head, next, [question("t-58")])).toBe(false);
    const due = await store.confirmations.listDue(key, now, 10);
    expect(due.map(({ subject }) => subject)).toEqual(["t-57"]);
  });

  test("the answer about an event that was purged meanwhile leaves nothing", async () => {
    const { siteId, id: connectionId } = await setUp();
    const key = { siteId, connectionId };
    const question = { ...key, subject: "t-59", eventIds: [], acceptedAt: now, asked: 1, dueAt: now };
    const confirmation = { state: "confirmed", reason: null, detail: null } as const;
    const answers = [{ eventId: "1".repeat(26), confirmation, countedAs: confirmation }];
    await store.confirmations.answer(question, "google_ads", answers, 3, now);
    expect(await store.confirmations.listByEvents(siteId, ["1".repeat(26)])).toEqual([]);
    expect(await store.confirmations.listCounts(siteId, 0, Number.MAX_SAFE_INTEGER)).toEqual([]);
  });

  test("a platform that fails is asked nothing more in the same step", async () => {
    const connection = await setUp();
    await sendFirst(connection, "t-55");
    await sendFirst(connection, "t-56");
    expect(await step(connection, now + hourMs, "", 503)).toHaveLength(1);
    expect(await step(connection, now + 3 * hourMs, counted)).toHaveLength(2);
  });

  test("an id that the platform does not know the first time is asked for again", async () => {
    const connection = await setUp();
    const item = await sendFirst(connection, "t-54");
    await step(connection, now + hourMs, "{}", 400);
    expect(await confirmationsOf(connection, item)).toEqual([]);
    await step(connection, now + 3 * hourMs, counted);
    expect(await confirmationsOf(connection, item)).toEqual([["confirmed", null, 0]]);
  });

  test("a temporary reason sends the conversion again six hours after it was accepted, at most three times", async () => {
    const connection = await setUp();
    const item = await sendFirst(connection, "t-6");
    const { siteId } = connection;
    let at = now;
    for (const [i, retries] of [1, 2, 3, 3].entries()) {
      await step(connection, at + hourMs, tooNew);
      expect(await confirmationsOf(connection, item)).toEqual([["not counted", "click too new", retries]]);
      const [delivery] = await store.deliveries.listByEvent(siteId, item.event.id);
      if (i === 3) {
        expect(delivery?.state).toBe("sent");
        break;
      }
      expect(delivery).toMatchObject({ state: "queued", reason: "not counted yet" });
      expect(delivery?.dueAt).toBeGreaterThanOrEqual(at + 6 * hourMs);
      at += 7 * hourMs;
      const key = { siteId, connectionId: connection.id };
      const lease = { by: "row", owner: "node-a", at: at, dueAt: at + minuteMs } as const;
      expect(await store.deliveries.claimDue(key, lease, 1)).toHaveLength(1);
      const response = JSON.stringify({ requestId: `t-6-${i}` });
      const attempt = newAttempt("sent", { number: i + 2, startedAt: at, response });
      const settled = { connectionId: connection.id, attempts: i + 2, attempt, at };
      await store.deliveries.settle(settlementOf(item, "sent", settled));
    }
  });

  test("an erased person's conversion is not sent again, and its answer is no longer asked for", async () => {
    const connection = await setUp();
    const person = { emailSha256: sha256("9".repeat(64)) };
    const early = await sendFirst(connection, "t-7", { person });
    await step(connection, now + 15 * minuteMs, tooNew);
    const late = await sendFirst(connection, "t-8", { person });
    await store.erase.events(connection.siteId, person.emailSha256, now + 20 * minuteMs);
    expect(await step(connection, now + hourMs, tooNew)).toEqual([url("t-7")]);
    expect(await confirmationsOf(connection, early, late)).toEqual([["not counted", "click too new", 0]]);
    const [delivery] = await store.deliveries.listByEvent(connection.siteId, early.event.id);
    expect(delivery?.state).toBe("sent");
  });

  test("a paused connection reads on and asks nothing", async () => {
    const connection = await setUp();
    await sendFirst(connection, "t-9");
    const worker = workerAt(now + hourMs, counted);
    await worker.run({ ...connection, state: "paused" });
    expect(worker.calls).toEqual([]);
    expect(await step(connection, now + hourMs, counted)).toEqual([url("t-9")]);
  });

  const countsOf = async ({ siteId }: Connection) =>
    (await store.confirmations.listCounts(siteId, 0, Number.MAX_SAFE_INTEGER)).map(({ platform, state, reason, count }) => [
      platform,
      state,
      reason,
      count,
    ]);

  test("each conversion is counted once, also when its answer is written twice or changes", async () => {
    const connection = await setUp();
    const item = await sendFirst(connection, "t-10");
    const question = {
      siteId: connection.siteId,
      connectionId: connection.id,
      subject: "t-10",
      eventIds: [item.event.id],
      acceptedAt: now,
      asked: 1,
      dueAt: now,
    };
    const answer = (state: ConfirmationState, reason: ConfirmationReason | null) => {
      const confirmation = { state, reason, detail: null };
      const answers = [{ eventId: item.event.id, confirmation, countedAs: confirmation }];
      return store.confirmations.answer(question, "google_ads", answers, 3, now + hourMs);
    };
    await answer("not counted", "consent");
    await answer("not counted", "consent");
    expect(await countsOf(connection)).toEqual([["google_ads", "not counted", "consent", 1]]);
    await answer("confirmed", null);
    expect(await countsOf(connection)).toEqual([["google_ads", "confirmed", null, 1]]);
    await answer("unknown", "no answer");
    expect(await countsOf(connection)).toEqual([["google_ads", "confirmed", null, 1]]);
    expect(await confirmationsOf(connection, item)).toEqual([["confirmed", null, 0]]);
  });

  test("a node that dies after the answer was written repeats the step, and counts nothing twice", async () => {
    const connection = await setUp();
    const item = await sendFirst(connection, "t-11");
    const worker = workerAt(now + hourMs, tooNew);
    const dying: ConfirmationOptions = {
      ...worker.options,
      store: { ...store, syncLog: { ...store.syncLog, requeue: () => Promise.reject(new Error("died")) } },
    };
    await expect(confirmConnection(dying, connection)).rejects.toThrow("died");
    expect((await store.deliveries.listByEvent(connection.siteId, item.event.id))[0]?.state).toBe("sent");
    await step(connection, now + 3 * hourMs, tooNew);
    expect(await confirmationsOf(connection, item)).toEqual([["not counted", "click too new", 1]]);
    expect((await store.deliveries.listByEvent(connection.siteId, item.event.id))[0]?.state).toBe("queued");
    expect(await countsOf(connection)).toEqual([]);
  });

  test("the open questions of a connection are bounded, and what finds no place stays unknown", async () => {
    const connection = await setUp();
    const key = { siteId: connection.siteId, connectionId: connection.id };
    const head = { eventId: "1", attemptAt: 1, attemptEventId: "" };
    const questions = Array.from({ length: maxOpenQuestions + 5 }, (_, i) => ({
      subject: `t-${i}`,
      eventIds: [],
      acceptedAt: now,
      dueAt: now,
    }));
    await store.confirmations.addQuestions(key, null, head, questions);
    expect(await store.confirmations.listDue(key, now, 3000)).toHaveLength(maxOpenQuestions);
  });

  test("a purge takes the confirmations of its events, and leaves the sums", async () => {
    const connection = await setUp();
    const item = await sendFirst(connection, "t-12");
    await step(connection, now + hourMs, noClick);
    const { siteId } = connection;
    await store.purge.events(siteId, { before: now + dayMs, statisticsFrom: now + dayMs }, "", 100);
    expect(await store.events.get(siteId, item.event.id)).toBeNull();
    expect(await confirmationsOf(connection, item)).toEqual([]);
    expect(await countsOf(connection)).toEqual([["google_ads", "not counted", "no ad click", 1]]);
  });

  test("a removed connection leaves no question", async () => {
    const connection = await setUp();
    await sendFirst(connection, "t-13");
    await step(connection, now + 20 * minuteMs, counted);
    await directory.refresh();
    await disconnect(context, connection, by);
    const key = { siteId: connection.siteId, connectionId: connection.id };
    expect(await store.confirmations.listDue(key, now + dayMs, 10)).toEqual([]);
    expect(await store.confirmations.readCursor(key)).toBeNull();
  });
});
