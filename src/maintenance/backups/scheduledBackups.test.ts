import { describe, expect, onTestFinished, test } from "vitest";
import { createNodes } from "../../../test/support/nodes.ts";
import { engines, type Engine } from "../../../test/support/relay.ts";
import { minuteMs } from "../../kernel/time.ts";
import { createBackupJob } from "./scheduledBackups.ts";

async function open(engine: Engine) {
  const { store, other, close } = await createNodes(engine);
  onTestFinished(close);
  const clock = { at: Date.parse("2026-11-16T04:00:00Z") };
  const defects: string[] = [];
  const runs: string[] = [];
  const reported: string[] = [];
  let behave = async (): Promise<string | null> => {
    await store.backups.save({ last: { at: clock.at, bytes: 1 }, failure: null });
    return null;
  };
  const node = (owner: string, nodeStore = store) =>
    createBackupJob({
      store: nodeStore,
      schedule: [3 * 60 * minuteMs],
      runBackup: () => {
        runs.push(owner);
        return behave();
      },
      owner,
      now: () => clock.at,
      elapsed: () => clock.at,
      onMade: () => {},
      onFailed: (reason) => reported.push(reason),
      onDefect: (error) => defects.push(String(error)),
    });
  const setBehaviour = (next: typeof behave) => (behave = next);
  return { store, other, clock, defects, runs, reported, node, setBehaviour };
}

describe.each(engines)("scheduled backups on %s", (engine) => {
  test("a backup is made once for each scheduled time", async () => {
    const { node, runs, clock } = await open(engine);
    const first = node("a");
    await first.run();
    await first.run();
    expect(runs).toEqual(["a"]);
    clock.at += 22 * 60 * minuteMs;
    await first.run();
    expect(runs).toEqual(["a"]);
    clock.at += 60 * minuteMs + 1;
    await first.run();
    expect(runs).toEqual(["a", "a"]);
  });

  test("of two nodes one makes the backup, and the other takes over only when the lease has ended", async () => {
    const { node, other, runs, clock, setBehaviour, defects, store } = await open(engine);
    const running = Promise.withResolvers<string | null>();
    setBehaviour(() => running.promise);
    const [first, second] = [node("a"), node("b", other)];
    const checked = first.run();
    await expect.poll(() => runs).toEqual(["a"]);
    await second.run();
    expect(runs).toEqual(["a"]);
    running.resolve("it was killed");
    await checked;
    expect(defects).toEqual(["Error: the scheduled backup failed: it was killed"]);
    expect((await store.backups.read()).failure).toEqual({ at: clock.at, step: "backup" });
    await first.release();
    clock.at += 16 * minuteMs;
    await second.run();
    expect(runs).toEqual(["a", "b"]);
  });

  test("a backup that failed is tried again after a quarter of an hour, and reported once a day", async () => {
    const { node, runs, reported, clock, setBehaviour, store } = await open(engine);
    setBehaviour(async () => {
      await store.backups.save({ failure: { at: clock.at, step: "backup" } });
      return "the disk is full";
    });
    const first = node("a");
    await first.run();
    clock.at += 14 * minuteMs;
    await first.run();
    expect(runs).toEqual(["a"]);
    clock.at += minuteMs;
    await first.run();
    expect(runs).toEqual(["a", "a"]);
    expect(reported).toEqual(["the disk is full"]);
    clock.at += 24 * 60 * minuteMs;
    await first.run();
    expect(reported).toHaveLength(2);
  });

  test("a failed hook does not repeat the backup", async () => {
    const { node, runs, clock, setBehaviour, store } = await open(engine);
    setBehaviour(async () => {
      await store.backups.save({
        last: { at: clock.at, bytes: 1 },
        failure: { at: clock.at, step: "hook" },
      });
      return "rclone ended with exit code 1";
    });
    const first = node("a");
    await first.run();
    clock.at += 60 * minuteMs;
    await first.run();
    expect(runs).toEqual(["a"]);
    expect(await store.backups.read()).toMatchObject({ failure: { step: "hook" } });
  });
});
