// Snapshots of the platforms' own reports of quality, against the stand-ins, with the real sender and a real store.

import { afterAll, describe, expect, test } from "vitest";
import { knownAt, standinConnections } from "../../scripts/standinConnections.ts";
import { readQuality } from "../../src/delivery/quality/read.ts";
import { createQualityJob } from "../../src/delivery/quality/worker.ts";
import { createSender } from "../../src/delivery/send.ts";
import { dayMs, hourMs } from "../../src/kernel/time.ts";
import { connectPlatform, disconnect } from "../../src/sites/connect.ts";
import { createDirectory } from "../../src/sites/directory.ts";
import { findSite } from "../../src/sites/manage.ts";
import { startStandins } from "../../standins/shared/start.ts";
import { newSite } from "../support/events.ts";
import { createNodes } from "../support/nodes.ts";

const platforms = ["meta", "snapchat", "pinterest"] as const;
const standins = await startStandins({ only: platforms, rateLimits: false });
const allow = { hosts: new Set<string>(), networks: [] };
const sender = createSender({ connectMs: 60_000, attemptMs: 60_000, allow, origins: standins.origins });
afterAll(async () => {
  await sender.close();
  await standins.close();
});

describe.each(["sqlite", "postgres"] as const)("snapshots on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  const directory = createDirectory(store);
  const context = { store, directory };
  afterAll(close);
  let now = Date.UTC(2026, 10, 15, 12);
  const by = { actor: "test", now, checkAddress: () => null };
  const job = createQualityJob({
    store,
    directory,
    sender,
    tokens: { fresh: (one) => Promise.resolve(one) },
    owner: "node-a",
    now: () => now,
    elapsed: () => now,
    onDefect: (error) => expect.unreachable(String(error)),
  });
  const run = () => job.run();

  async function connect(platform: (typeof platforms)[number], changes: Record<string, string> = {}) {
    const siteId = await newSite(store);
    await directory.refresh();
    const settings = { ...standinConnections[platform], ...changes };
    const site = findSite(context, siteId);
    const { connection } = await connectPlatform(context, site, platform, { settings }, by);
    await directory.refresh();
    return connection;
  }
  const calls = (platform: (typeof platforms)[number]) =>
    standins.of(platform).received.filter(({ path }) => /quality|eqs/.test(path) && !path.includes("dedupe_key")).length;

  test.each([
    ["meta", {}, { event: "Purchase", score: 6.8, maxScore: 10 }],
    ["snapchat", {}, { event: "PURCHASE", score: 7.2, notes: ["P1: Send hashed phone numbers."] }],
    ["pinterest", { access_token: knownAt("pinterest", "accessToken") }, { event: "", rating: "FAIR" }],
  ] as const)("%s is asked once a day, and its answer is shown", async (platform, changes, first) => {
    const connection = await connect(platform, changes);
    const key = { siteId: connection.siteId, connectionId: connection.id };
    const before = calls(platform);
    await run();
    await run();
    expect(calls(platform) - before).toBe(1);
    now += dayMs;
    await run();
    const found = await store.snapshots.list(key, 10);
    expect(found.map(({ day }) => day)).toHaveLength(2);
    expect(found[0]?.reports[0]).toMatchObject(first);
    const [quality] = await readQuality(store, findSite(context, connection.siteId), now);
    expect(quality?.snapshot).toEqual(found[0]);
    await disconnect(context, connection, by);
    expect(await store.snapshots.list(key, 10)).toEqual([]);
    await directory.refresh();
  });

  test.each([
    ["pixelId", ["event coverage 62 %, the goal is 75 %", "freshness: real_time", expect.stringMatching(/^dedup/)]],
    ["otherPixelId", ["event coverage 62 %, the goal is 75 %", "freshness: real_time"]],
  ] as const)("Meta's feedback on deduplication is added where the dataset has it: %s", async (pixel, notes) => {
    const connection = await connect("meta", { pixel_id: knownAt("meta", pixel) });
    await run();
    const [found] = await store.snapshots.list({ siteId: connection.siteId, connectionId: connection.id }, 1);
    expect(found?.reports[0]?.notes).toEqual(notes);
    await disconnect(context, connection, by);
    await directory.refresh();
  });

  test("a token without the permission leaves the connection alone, and is tried again after six hours", async () => {
    const token = knownAt("pinterest", "conversionToken");
    const connection = await connect("pinterest", { access_token: token });
    const before = calls("pinterest");
    await run();
    now += hourMs;
    await run();
    expect(calls("pinterest") - before).toBe(1);
    now += 5 * hourMs;
    await run();
    expect(calls("pinterest") - before).toBe(2);
    await directory.refresh();
    expect(directory.connection(connection.siteId, connection.id)?.state).toBe("active");
    await disconnect(context, connection, by);
    await directory.refresh();
  });
});
