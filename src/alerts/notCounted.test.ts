// A platform that suddenly counts fewer conversions: with a real store, whose sums come from answers of platforms.

import { afterAll, describe, expect, test } from "vitest";
import { newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import { storeSent } from "../../test/support/sentEvents.ts";
import type { Confirmation } from "../kernel/confirmation.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import { connectPlatform, disconnect } from "../sites/connect.ts";
import { createDirectory, type Connection, type Site } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import type { Alert } from "../store/statistics/alerts.ts";
import { createNotCountedCheck } from "./notCounted.ts";
import { english } from "../kernel/messages/message.ts";

const now = Date.UTC(2026, 10, 15, 12);
const settings = { customer_id: "123-456-7890", access_token: "token", conversion_action: "7700000001" };
const confirmed: Confirmation = { state: "confirmed", reason: null, detail: null };
const noClick: Confirmation = { state: "not counted", reason: "no ad click", detail: null };
const consent: Confirmation = { state: "not counted", reason: "consent", detail: null };
const unknown: Confirmation = { state: "unknown", reason: "no answer", detail: null };

const inEnglish = (texts: readonly string[]) => texts.map(english);

describe("conversions that are not counted", async () => {
  const { store, close } = await createNodes("sqlite");
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  async function setUp(): Promise<Connection> {
    const siteId = await newSite(store);
    await directory.refresh();
    const by = { actor: "test", now, checkAddress: () => null };
    const site = findSite(context, siteId);
    return (await connectPlatform(context, site, "google_ads", { settings }, by)).connection;
  }

  /** Stores as many conversions of a time, with this answer to each. */
  async function answer(connection: Connection, at: number, count: number, confirmation: Confirmation) {
    const eventIds: string[] = [];
    for (let i = 0; i < count; i++) eventIds.push((await storeSent(store, connection, "{}", at)).event.id);
    const { siteId, id: connectionId } = connection;
    const question = { siteId, connectionId, subject: "t", eventIds, acceptedAt: at, asked: 1, dueAt: at };
    const answers = eventIds.map((eventId) => ({ eventId, confirmation, countedAs: confirmation }));
    await store.confirmations.answer(question, "google_ads", answers, 0, at);
  }

  async function check(connection: Connection, open: readonly Alert[] = [], notCounted = createNotCountedCheck()) {
    await directory.refresh();
    const site = directory.site(connection.siteId) as Site;
    return (await notCounted.check(store, site, open, now)).map(({ subject, text }) => {
      expect(subject).toBe(connection.id);
      return text;
    });
  }

  const alertOf = ({ id, siteId }: Connection): Alert => ({
    kind: "not counted",
    subject: id,
    text: "",
    siteId,
    beganAt: now,
    notifiedAt: null,
    endedAt: null,
    notifications: {},
  });

  test("a share that jumps above that of the week before raises an alert, which names reason and shares", async () => {
    const connection = await setUp();
    await answer(connection, now - 3 * dayMs, 28, confirmed);
    await answer(connection, now - 3 * dayMs, 2, noClick);
    await answer(connection, now - hourMs, 20, confirmed);
    await answer(connection, now - hourMs, 10, noClick);
    await answer(connection, now - hourMs, 30, unknown);
    expect(inEnglish(await check(connection))).toEqual([
      "Of the last 30 conversions that Google Ads (1234567890) accepted and decided on, it did not count more than usual: no ad click (33 %, usually 6.7 %).",
    ]);
  });

  test("a share that was always high raises no alert", async () => {
    const connection = await setUp();
    await answer(connection, now - 3 * dayMs, 12, confirmed);
    await answer(connection, now - 3 * dayMs, 12, noClick);
    await answer(connection, now - hourMs, 8, confirmed);
    await answer(connection, now - hourMs, 12, noClick);
    expect(inEnglish(await check(connection))).toEqual([]);
  });

  test("a new connection raises an alert when a reason takes half of its conversions, and at least ten", async () => {
    const connection = await setUp();
    await answer(connection, now - hourMs, 9, consent);
    expect(inEnglish(await check(connection))).toEqual([]);
    await answer(connection, now - hourMs, 1, consent);
    expect(inEnglish(await check(connection))).toEqual([
      "Of the last 10 conversions that Google Ads (1234567890) accepted and decided on, it did not count more than usual: consent (100 %).",
    ]);
    await answer(connection, now - hourMs, 12, confirmed);
    expect(inEnglish(await check(connection))).toEqual([]);
    // An open alert ends five points below the limit.
    expect(await check(connection, [alertOf(connection)])).toHaveLength(1);
  });

  test("what was found of a connection ends when it is removed, though the site has another", async () => {
    const connection = await setUp();
    const by = { actor: "test", now, checkAddress: () => null };
    const more = { ...settings, customer_id: "999-456-7890" };
    await connectPlatform(context, findSite(context, connection.siteId), "google_ads", { settings: more }, by);
    await answer(connection, now - hourMs, 10, consent);
    const notCounted = createNotCountedCheck();
    expect(await check(connection, [], notCounted)).toHaveLength(1);
    await disconnect(context, connection, by);
    expect(await check(connection, [], notCounted)).toEqual([]);
  });

  test("the sums are read again after a quarter of an hour, and not for a site that is never asked about", async () => {
    const connection = await setUp();
    const notCounted = createNotCountedCheck();
    await directory.refresh();
    const site = directory.site(connection.siteId) as Site;
    expect(notCounted.mayFind(site, now)).toBe(true);
    expect(await check(connection, [], notCounted)).toEqual([]);
    expect(notCounted.mayFind(site, now + 14 * minuteMs)).toBe(false);
    expect(notCounted.mayFind(site, now + 15 * minuteMs)).toBe(true);
    await answer(connection, now - hourMs, 20, consent);
    expect(await check(connection, [], notCounted)).toEqual([]);
    expect(createNotCountedCheck().mayFind({ ...site, connections: [] }, now)).toBe(false);
  });
});
