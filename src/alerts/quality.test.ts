// A platform that rates our events lower than before: with a real store, which keeps a snapshot of each day.

import { afterAll, describe, expect, test } from "vitest";
import { standinConnections } from "../../scripts/standinConnections.ts";
import { newSite } from "../../test/support/events.ts";
import { createNodes } from "../../test/support/nodes.ts";
import type { QualityReport } from "../kernel/quality.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import { connectPlatform, disconnect, pause, resume } from "../sites/connect.ts";
import { createDirectory, type Connection, type Site } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import { snapshotDay } from "../store/confirmations/snapshots.ts";
import type { Alert } from "../store/statistics/alerts.ts";
import { messageOf } from "./message.ts";
import { createQualityCheck } from "./quality.ts";
import { english } from "../kernel/messages/message.ts";

const now = Date.UTC(2026, 10, 15, 12);

describe("scores of platforms", async () => {
  const { store, close } = await createNodes("sqlite");
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);

  async function connect(platform: "meta" | "x" = "meta"): Promise<Connection> {
    const siteId = await newSite(store);
    await directory.refresh();
    const by = { actor: "test", now, checkAddress: () => null };
    const settings = { ...standinConnections[platform] };
    return (await connectPlatform(context, findSite(context, siteId), platform, { settings }, by)).connection;
  }

  const report = (score: number | null, event = "Purchase"): QualityReport => ({
    event,
    score,
    maxScore: 10,
    rating: null,
    keys: [],
    notes: [],
  });

  /** Stores the reports of as many days, the last of which is today. */
  async function rate({ siteId, id }: Connection, days: readonly QualityReport[][]): Promise<void> {
    for (const [i, reports] of days.entries()) {
      const day = snapshotDay(now - (days.length - 1 - i) * dayMs);
      await store.snapshots.add({ siteId, connectionId: id }, { day, reports });
    }
  }

  const scores = (...found: (number | null)[]) => found.map((score) => [report(score)]);
  const siteOf = ({ siteId }: Connection) => directory.site(siteId) as Site;
  const check = async (connection: Connection, open: readonly Alert[] = [], quality = createQualityCheck(), at = now) => {
    await directory.refresh();
    return quality.check(store, siteOf(connection), open, at);
  };

  const alertOf = ({ id, siteId }: Connection): Alert => ({
    kind: "quality",
    subject: id,
    text: "",
    siteId,
    beganAt: now,
    notifiedAt: null,
    endedAt: null,
    notifications: {},
  });

  test("a score that is a tenth of the scale lower for two days raises an alert, which names both scores", async () => {
    const connection = await connect();
    await rate(connection, [
      ...scores(6.8, 6.9, 6.8).map((day) => [...day, report(5, "Lead")]),
      [report(4.4), report(4.5, "Lead")],
      [report(4.1), report(4.5, "Lead")],
    ]);
    const [finding] = await check(connection);
    expect({ ...finding, text: english(finding?.text ?? "") }).toMatchObject({
      kind: "quality",
      subject: connection.id,
      text: expect.stringMatching(
        /^Meta .*rates the match quality of our events lower than in the days before: Purchase 6\.8 → 4\.1 \(0–10\)\.$/,
      ),
    });
    const message = messageOf(siteOf(connection), alertOf(connection), "began");
    expect({ ...message, title: english(message.title) }).toMatchObject({
      title: expect.stringMatching(/^match quality at Meta .*fell$/),
      whatToDo: expect.stringMatching(/^cleancast quality /),
    });
  });

  test.each([
    ["one bad day", scores(7, 7, 7, 7, 4)],
    ["a small fall", scores(7, 7, 7, 6.2, 6.1)],
    ["a score that was always low", scores(3, 3, 3, 3, 3)],
    ["a connection without three days to compare with", scores(7, 7, 4, 4)],
    ["words instead of scores", scores(null, null, null, null, null)],
    ["another scale", [...scores(7, 7, 7), ...scores(1, 1).map(([one]) => [{ ...one, maxScore: 2 }])]],
  ] as [string, QualityReport[][]][])("%s raises no alert", async (_name, days) => {
    const connection = await connect();
    await rate(connection, days);
    expect(await check(connection)).toEqual([]);
  });

  test("an open alert ends when the score is back, has become usual, or is some days old", async () => {
    const [half, back, usual] = [await connect(), await connect(), await connect()];
    await rate(half, scores(7, 7, 7, 4, 6.4));
    expect(await check(half, [alertOf(half)])).toHaveLength(1);
    await rate(back, scores(7, 7, 7, 4, 6.6));
    expect(await check(back, [alertOf(back)])).toEqual([]);
    await rate(usual, scores(7, 7, 7, 4, 4, 4, 4, 4, 4));
    expect(await check(usual, [alertOf(usual)])).toEqual([]);
    expect(await check(half, [alertOf(half)], createQualityCheck(), now + 4 * dayMs)).toEqual([]);
  });

  test("what was found of a connection ends when it is paused or removed, though another is rated", async () => {
    const connection = await connect();
    const by = { actor: "test", now, checkAddress: () => null };
    const settings = { ...standinConnections.meta, pixel_id: "99887766" };
    await connectPlatform(context, siteOf(connection), "meta", { settings }, by);
    await rate(connection, scores(7, 7, 7, 4, 4));
    const quality = createQualityCheck();
    const found = () => check(connection, [alertOf(connection)], quality);
    expect(await found()).toHaveLength(1);
    await pause(context, connection, by);
    expect(await found()).toEqual([]);
    await resume(context, connection, by);
    expect(await found()).toHaveLength(1);
    await disconnect(context, connection, by);
    expect(await found()).toEqual([]);
  });

  test("an event name with other signs stays out of the message", async () => {
    const connection = await connect();
    const name = "<https://example.com>";
    await rate(
      connection,
      [7, 7, 7, 4, 4].map((score) => [report(score, name)]),
    );
    const [finding] = await check(connection);
    expect(english(finding?.text ?? "")).toContain("… 7 → 4 (0–10).");
  });

  test("scores are read once an hour, and not for a site whose platforms give none", async () => {
    const connection = await connect();
    const other = await connect("x");
    await directory.refresh();
    const quality = createQualityCheck();
    expect(quality.mayFind(siteOf(connection), now)).toBe(true);
    expect(quality.mayFind(siteOf(other), now)).toBe(false);
    expect(await check(connection, [], quality)).toEqual([]);
    await rate(connection, scores(7, 7, 7, 4, 4));
    expect(await check(connection, [], quality, now + 59 * minuteMs)).toEqual([]);
    expect(quality.mayFind(siteOf(connection), now + 59 * minuteMs)).toBe(false);
    expect(await check(connection, [], quality, now + hourMs)).toHaveLength(1);
    // What was found is checked with every round until it is over.
    expect(quality.mayFind(siteOf(connection), now + hourMs + minuteMs)).toBe(true);
  });
});
