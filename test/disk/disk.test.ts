// Cuts the power of a running relay between two syncs, breaks its disk and fills it. Whatever part of the unsynced sectors is
// on the disk, the relay opens its data again, finds them consistent, and has every event that it answered. `npm run test:long`
// does the same with every call that the process makes.

import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { randomFrom } from "../faults/random.ts";
import { freshFolder } from "../support/databases.ts";
import { call, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { Disk } from "./diskModel.ts";
import { cutPower, faultsAfterCut, faultsOf, type Recording } from "./powerCut.ts";
import { buildRecordingRelay, readRecording } from "./recording.ts";

const recordingRelay = await buildRecordingRelay();
const seed = 20_261_115;

/** Sends an event and returns the status of its answer. */
async function send(relay: Relay, key: string, name: string): Promise<number> {
  const event = { email: `${name}@example.com`, event: name, orderId: name, value: 1 };
  return (await relay.post(key, event, { "x-test-event": name })).status;
}

/** Lets a relay answer the events of four senders, kills it, and returns what it did to its disk. */
async function recordRelay(eventsOfSender: number): Promise<Recording> {
  const home = await newInstallation("sqlite");
  const { key } = await home.addSite("shop.example.com");
  const record = freshFolder();
  const relay = await home.start({ CLEANCAST_TEST_RECORD: record }, recordingRelay);
  const statuses: number[] = [];
  const sendSome = async (sender: number) => {
    for (let i = 0; i < eventsOfSender; i++) statuses.push(await send(relay, key, `event-${sender}-${i}`));
  };
  await Promise.all([0, 1, 2, 3].map(sendSome));
  expect(new Set(statuses)).toEqual(new Set([200]));
  await relay.kill();
  return readRecording(record);
}

describe("a power cut", async () => {
  const recording = await recordRelay(10);

  test("is tested with answers, syncs, and writes between them", () => {
    const kinds = Map.groupBy(recording.calls, ({ kind }) => kind);
    expect(kinds.get("answer")?.length).toBe(40);
    expect(kinds.get("sync")?.length).toBeGreaterThanOrEqual(10);
    expect(kinds.get("write")?.length).toBeGreaterThan(30);
  });

  test("loses nothing that was answered, whatever part of the unsynced sectors is on the disk", async () => {
    const cuts = await cutPower(recording, 40, seed);
    expect(faultsOf(cuts)).toEqual([]);
    expect(cuts.filter(({ sectors }) => sectors > 0).length).toBeGreaterThan(10);
  });

  test("on a disk that does not keep what was synced loses answered events, and the test notices", async () => {
    const calls = recording.calls.filter(({ kind }) => kind !== "sync");
    const cuts = await cutPower({ ...recording, calls }, 10, seed);
    expect(faultsOf(cuts).filter((fault) => fault.endsWith(" is lost"))).not.toEqual([]);
  });

  test("damage to what was synced is found by the check, or the database is refused", async () => {
    const disk = new Disk(recording.start);
    for (const one of recording.calls) disk.take(one);
    const image = disk.imageAfterCut("everything", randomFrom(seed));
    const pages = Buffer.from(image.get("cleancast.db") ?? []);
    for (let at = 4096; at < pages.length; at += 8192) pages.fill(0x5a, at, at + 512);
    const folder = join(freshFolder(), "data");
    expect(await faultsAfterCut(folder, image.set("cleancast.db", pages), disk.promises)).not.toEqual([]);
  });
});

const isReady = async (relay: Relay) => (await call(relay.url, { method: "GET", path: "/readyz" })).status === 200;

test("after a sync that failed nothing is accepted until a restart, and nothing that was answered is lost", async () => {
  const home = await newInstallation("sqlite");
  const { key } = await home.addSite("shop.example.com");
  const record = freshFolder();
  const env = { CLEANCAST_TEST_RECORD: record, CLEANCAST_TEST_FAIL_SYNC: "8" };
  const broken = await home.start(env, recordingRelay);
  const answers: number[] = [];
  for (let i = 0; i < 12; i++) answers.push(await send(broken, key, `event-${i}`));
  const accepted = answers.indexOf(503);
  expect(accepted).toBeGreaterThan(0);
  expect(answers).toEqual(answers.map((_status, i) => (i < accepted ? 200 : 503)));
  expect(await isReady(broken)).toBe(false);
  await broken.kill();

  // The kernel drops what it could not write, as if the power had been cut.
  const { start, calls } = readRecording(record);
  const disk = new Disk(start);
  for (const one of calls) disk.take(one);
  expect(disk.promises.size).toBe(accepted);
  const left = disk.imageAfterCut("nothing", randomFrom(seed));
  expect(await faultsAfterCut(join(freshFolder(), "data"), left, disk.promises)).toEqual([]);

  const restarted = await home.start();
  expect(await send(restarted, key, "afterwards")).toBe(200);
  expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
});

const logSize = (home: Installation) => statSync(join(home.env["CLEANCAST_DATA"] ?? "", "cleancast.db-wal")).size;

/**
 * Lets no file of the process grow beyond a size, as if the disk were full. A write that crosses the limit ends there, and the
 * next one fails with EFBIG instead of ENOSPC, which everyCall.test.ts has.
 */
function limitFiles({ process: { pid } }: Relay, bytes: number | "unlimited"): void {
  execFileSync("prlimit", ["--pid", String(pid), `--fsize=${bytes}:unlimited`]);
}

function hasPrlimit(): boolean {
  try {
    return execFileSync("prlimit", ["--version"]).length > 0;
  } catch {
    return false;
  }
}

const isLimitable = hasPrlimit();
if (!isLimitable) process.stderr.write("test/disk/disk.test.ts fills no disk: there is no prlimit.\n");

test.skipIf(!isLimitable)(
  "whichever write of an event finds no space, the event is refused, and accepted when there is space again",
  async () => {
    const home = await newInstallation("sqlite");
    const { key } = await home.addSite("shop.example.com");
    const relay = await home.start();
    expect(await send(relay, key, "first")).toBe(200);
    const before = logSize(home);
    expect(await send(relay, key, "second")).toBe(200);
    const grownBy = logSize(home) - before;
    expect(grownBy).toBeGreaterThan(8192);

    const names = ["first", "second"];
    let refused = 0;
    // In the middle of a frame's header, of its page, and between two frames.
    for (let left = 0; left < grownBy; left += 1500) {
      const name = `event-${left}`;
      names.push(name);
      limitFiles(relay, logSize(home) + left);
      const status = await send(relay, key, name);
      limitFiles(relay, "unlimited");
      if (status === 200) continue;
      expect(status).toBe(503);
      refused += 1;
      expect(await send(relay, key, name)).toBe(200);
    }
    expect(refused).toBeGreaterThan(3);
    await relay.kill();
    expect(await home.run("check")).toEqual({ ok: true, wrong: [] });
    const { items: events } = await home.run("event", "list", "shop.example.com", "--limit", "200");
    const found = events.map((event: { event: string }) => event.event);
    expect(found.toSorted()).toEqual(names.toSorted());
  },
);
