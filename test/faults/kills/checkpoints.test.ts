import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { freshFolder } from "../../support/databases.ts";
import { eventually } from "../../support/relay.ts";
import { randomFrom } from "../random.ts";

const program = fileURLToPath(new URL("./steadyWriter.ts", import.meta.url));

/** How often the log began anew, counted in its header. */
function restarts(file: string): number {
  if (!existsSync(`${file}-wal`)) return 0;
  const header = Buffer.alloc(32);
  const opened = openSync(`${file}-wal`, "r");
  readSync(opened, header);
  closeSync(opened);
  return header.readUInt32BE(12);
}

/** Lets a process write until some time after a checkpoint, kills it, and returns the numbers that it said were durable. */
async function writeAndKill(file: string, ms: number): Promise<number[]> {
  const before = restarts(file);
  const child = spawn(process.execPath, [program, file], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (text += part));
  const closed = once(child, "close");
  // A process that starts checkpoints what it finds, and its first write begins the log anew: that one does not count.
  await eventually("the log was checkpointed", () => restarts(file) > before + 1);
  await sleep(ms);
  child.kill("SIGKILL");
  await closed;
  // The last line may be cut off.
  return text.split("\n").slice(0, -1).map(Number);
}

test("a writer that is killed while its log is checkpointed loses no text that was durable", { timeout: 900_000 }, async () => {
  const file = `${freshFolder()}/test.db`;
  const random = randomFrom(Date.now());
  const durable = new Map<number, number>();
  for (let kills = 0; kills < 6; kills++) {
    const numbers = await writeAndKill(file, random.below(300));
    expect(numbers.length).toBeGreaterThan(0);
    for (const n of numbers) durable.set(n % 100, n);
    // Leaves the log to the next process.
    const db = new DatabaseSync(file, { readOnly: true });
    expect(db.prepare(`PRAGMA integrity_check`).get()).toEqual({ integrity_check: "ok" });
    const found = new Map<number, number>();
    for (const { slot, n, text } of db.prepare(`SELECT slot, n, text FROM lines`).iterate()) {
      found.set(Number(slot), Number(n));
      expect(text === `${Number(n)} `.repeat(10_000)).toBe(true);
    }
    db.close();
    expect([...durable].filter(([slot, n]) => (found.get(slot) ?? 0) < n)).toEqual([]);
  }
});
