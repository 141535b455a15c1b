// The long form of disk.test.ts, `npm run test:long`: records every call that relays make to their files, from the first start
// over kills, stops and checkpoints, and cuts the power after thousands of them; cuts it again while a relay recovers from a
// cut; and lets each single call fail once. It needs strace, and no rights.

import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freshFolder } from "../support/databases.ts";
import { newInstallation, post } from "../support/relay.ts";
import type { DiskCall, Image } from "./diskModel.ts";
import { cutPower, faultsAfterCut, faultsOf, readFolder, writeFolder, type Cut } from "./powerCut.ts";
import { hasStrace, readTrace, startTraced, type TracedRelay } from "./strace.ts";

const images = Number(process.env.DISK_IMAGES ?? 0);
const seed = Number(process.env.DISK_SEED ?? 20_261_115);
/** The first write that fails: a run that found something, or was ended early, goes on there. */
const firstWrite = Number(process.env.DISK_WRITE ?? 1);
const isSkipped = images === 0 || !hasStrace();
if (isSkipped && images > 0)
  process.stderr.write("test/disk/everyCall.test.ts is skipped: there is no strace, or it may not trace.\n");

/** A relay sends to the platform that its first start connects, which is built in. */
async function installation(folder: string): Promise<Record<string, string>> {
  const { env } = await newInstallation("sqlite");
  return { ...env, CLEANCAST_DATA: folder, CLEANCAST_RETRY_SECONDS: "0.5" };
}

/** Several senders at once, each of which sends the next event when the last was answered. */
async function sendAll(relay: TracedRelay, key: string, names: readonly string[], senders: number): Promise<number[]> {
  const waiting = [...names];
  const statuses: number[] = [];
  await Promise.all(
    Array.from({ length: senders }, async () => {
      for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
        const event = { email: `${name}@example.com`, event: name, orderId: name, value: 1 };
        const answer = await post(relay.url, key, event).catch(() => null);
        statuses.push(answer?.status ?? 0);
      }
    }),
  );
  return statuses;
}

const keyOf = (relay: TracedRelay) => /X-CC-Api-Key: (\w+)/.exec(relay.output())?.[1] ?? "";
const namesFrom = (prefix: string, count: number) => Array.from({ length: count }, (_, i) => `${prefix}-${i}`);

type Life = { events: number; senders: number; end: "SIGKILL" | "SIGTERM" };

/** Lets relays live one after the other on the same folder. Returns all their calls, and the key of the first site. */
async function recordLives(folder: string, lives: readonly Life[]): Promise<{ calls: DiskCall[]; key: string }> {
  const env = await installation(folder);
  const traces = freshFolder();
  const calls: DiskCall[] = [];
  let key = "";
  for (const [number, { events, senders, end }] of lives.entries()) {
    const trace = join(traces, String(number));
    const relay = await startTraced(env, trace);
    if (!relay) throw new Error("the relay did not start");
    key ||= keyOf(relay);
    const statuses = await sendAll(relay, key, namesFrom(`life-${number}`, events), senders);
    expect(new Set(statuses)).toEqual(new Set([200]));
    await relay.end(end);
    append(calls, await readTrace(trace, folder));
  }
  return { calls, key };
}

/** Calls count from the start of their recording. */
function append(calls: DiskCall[], more: readonly DiskCall[]): void {
  const before = calls.length;
  for (const one of more) calls.push("began" in one ? { ...one, began: one.began + before } : one);
}

const countOf = (calls: readonly DiskCall[], kind: DiskCall["kind"]) => calls.filter((one) => one.kind === kind).length;

function report(what: string, cuts: readonly Cut[], calls: readonly DiskCall[]): void {
  const torn = cuts.filter(({ sectors }) => sectors > 0).length;
  const { length } = cuts;
  process.stdout.write(
    `${what}: ${calls.length} calls, ${countOf(calls, "write")} writes, ${countOf(calls, "sync")} syncs, ${countOf(calls, "answer")} answers; ${length} images, ${torn} with unsynced sectors\n`,
  );
}

describe.skipIf(isSkipped)("every call to the disk", { timeout: 4 * 3_600_000 }, () => {
  test("a power cut after any call of a first start, of events, kills and stops loses nothing", async () => {
    const folder = join(freshFolder(), "new", "data");
    const { calls } = await recordLives(folder, [
      { events: 20, senders: 3, end: "SIGKILL" },
      { events: 20, senders: 1, end: "SIGTERM" },
      { events: 10, senders: 2, end: "SIGKILL" },
    ]);
    expect(countOf(calls, "answer")).toBeGreaterThanOrEqual(50);
    const cuts = await cutPower({ start: new Map(), calls }, images, seed);
    report("lives", cuts, calls);
    expect(faultsOf(cuts)).toEqual([]);

    // What a cut left is recovered by a relay, and the power fails again.
    for (const [number, cut] of cuts
      .filter(({ promises }) => promises.size > 5)
      .slice(-40)
      .entries()) {
      if (number % 8) continue;
      await cutAgain(cut, number);
    }
  });

  async function cutAgain(cut: Cut, number: number): Promise<void> {
    const folder = join(freshFolder(), "data");
    writeFolder(folder, cut.image);
    const start: Image = readFolder(folder);
    const trace = join(freshFolder(), "trace");
    const relay = await startTraced(await installation(folder), trace);
    const key = [...cut.promises].find((one) => one.startsWith("cc_")) ?? "";
    if (!relay) throw new Error("the relay did not start after a cut");
    expect(new Set(await sendAll(relay, key, namesFrom(`again-${number}`, 5), 1))).toEqual(new Set([200]));
    await relay.end("SIGKILL");
    const calls = await readTrace(trace, folder);
    const cuts = await cutPower({ start, promises: [...cut.promises], calls }, Math.ceil(images / 20), seed);
    report("recovery", cuts, calls);
    expect(faultsOf(cuts)).toEqual([]);
  }

  test("a power cut during a checkpoint of a long log loses nothing", async () => {
    const folder = join(freshFolder(), "data");
    mkdirSync(folder);
    const { calls } = await recordLives(folder, [{ events: 1000, senders: 2, end: "SIGKILL" }]);
    const isWriteTo = (file: string, one: DiskCall) => one.kind === "write" && one.file === file;
    const headers = calls.flatMap((one, i) => (isWriteTo("cleancast.db-wal", one) && "at" in one && one.at === 0 ? [i] : []));
    // The log begins anew when all of it was copied into the database.
    const [, restart = 0] = headers;
    const from = restart - 500;
    const copied = calls.slice(from, restart).filter((one) => isWriteTo("cleancast.db", one));
    expect(copied.length).toBeGreaterThan(50);
    const around = { start: new Map(), calls: calls.slice(0, restart + 200) };
    const cuts = await cutPower(around, images, seed, from);
    report("checkpoint", cuts, calls);
    expect(faultsOf(cuts)).toEqual([]);
  });

  test.each([
    ["pwrite64", "ENOSPC"],
    ["pwrite64", "EIO"],
    ["fdatasync", "EIO"],
    ["fsync", "EIO"],
  ])("any %s that fails with %s loses nothing that was answered", async (name, error) => {
    const base = join(freshFolder(), "data");
    mkdirSync(base);
    const { key } = await recordLives(base, [{ events: 3, senders: 1, end: "SIGKILL" }]);
    const start = readFolder(base);
    let failed = 0;
    for (let call = name === "pwrite64" ? firstWrite : 1; ; call += 1) {
      const folder = join(freshFolder(), "data");
      writeFolder(folder, start);
      const trace = join(freshFolder(), "trace");
      const env = await installation(folder);
      // From this call on all fail, as on a disk that stays full, or this one alone. strace counts for each thread.
      const relay = await startTraced(env, trace, [`${name}:error=${error}:when=${call}${error === "ENOSPC" ? "+" : ""}`]);
      if (relay) {
        const statuses = await sendAll(relay, key, namesFrom(`call-${call}`, 4), 1);
        expect(statuses.filter((status) => status !== 200 && status !== 503)).toEqual([]);
        await relay.end("SIGKILL");
      }
      const calls = await readTrace(trace, folder);
      const promises = calls.flatMap((one) => (one.kind === "answer" ? [one.promise] : []));
      const cuts = await cutPower({ start, promises: [key], calls }, 5, seed + call);
      expect(faultsOf(cuts), `call ${call}`).toEqual([]);
      expect(await faultsAfterCut(join(freshFolder(), "data"), readFolder(folder), new Set([key, ...promises]))).toEqual([]);
      if (!readFileSync(trace, "utf8").includes("(INJECTED)")) break;
      failed += 1;
    }
    process.stdout.write(`${name} ${error}: ${failed} calls failed, one after the other\n`);
    expect(failed).toBeGreaterThan(0);
  });
});
