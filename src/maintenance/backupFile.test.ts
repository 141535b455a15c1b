import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { readBackup, writeLines, type Part } from "./backupFile.ts";

const header = {
  cleancast: "backup",
  format: 1,
  schema: 3,
  engine: "sqlite",
  version: "1.0.0",
  madeAt: "now",
};
const tables: Record<string, unknown[][]> = {
  sites: [
    ["s1", "Shop"],
    ["s2", "Ünï\ncode 😀"],
  ],
  hosts: [],
  events: Array.from({ length: 1200 }, (_, i) => [`e${i}`, i % 2 ? null : i / 3]),
};

function* lines(): Generator<string> {
  yield `${JSON.stringify(header)}\n`;
  let total = 0;
  for (const [table, rows] of Object.entries(tables)) {
    yield `${JSON.stringify({ table, columns: ["a", "b"] })}\n`;
    const text = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
    yield text;
    total += rows.length;
    const sha256 = createHash("sha256").update(text).digest("hex");
    yield `${JSON.stringify({ end: table, rows: rows.length, sha256 })}\n`;
  }
  yield `${JSON.stringify({ end: "backup", tables: 3, rows: total })}\n`;
}

async function written(some: Iterable<string>): Promise<string> {
  const file = join(freshFolder(), "backup");
  await writeLines(
    (async function* () {
      yield* some;
    })(),
    file,
  );
  return file;
}

async function all(file: string): Promise<Part[]> {
  const parts: Part[] = [];
  for await (const part of readBackup(file)) parts.push(part);
  return parts;
}

const fault = (file: string) =>
  all(file).then(
    () => "none",
    (error: Error) => error.message.replace(file, "FILE"),
  );

describe("the file of a backup", () => {
  let file: string;
  let whole: Buffer;

  beforeAll(async () => {
    file = await written(lines());
    whole = readFileSync(file);
  });

  test("a backup file is read as it was written, some rows at a time, and only its owner can read it", async () => {
    const parts = await all(file);
    expect(parts[0]).toEqual({ part: "header", header });
    const read: Record<string, unknown[][]> = {};
    for (const part of parts) {
      if (part.part === "table") read[part.table] = [];
      if (part.part !== "rows") continue;
      expect(part.rows.length).toBeLessThanOrEqual(500);
      read[part.table]?.push(...part.rows);
    }
    expect(read).toEqual(tables);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("a backup file that is cut off at any length is refused", async () => {
    const cut = join(freshFolder(), "cut");
    const step = Math.max(1, Math.floor(whole.length / 60));
    for (let length = 0; length < whole.length; length += length > whole.length - 50 ? 1 : step) {
      writeFileSync(cut, whole.subarray(0, length));
      expect(await fault(cut), `${length} bytes`).toMatch(
        /^FILE is (?:cut off (?:before its first table|after the table \w+); it is not a whole backup|not a Cleancast backup)\.$/,
      );
    }
    expect(await fault(cut)).toBe("FILE is cut off after the table events; it is not a whole backup.");
  });

  test("a backup file with any byte changed is refused", async () => {
    const flipped = join(freshFolder(), "flipped");
    const step = Math.max(1, Math.floor(whole.length / 60));
    for (let at = 0; at < whole.length; at += at < 20 || at > whole.length - 45 ? 1 : step) {
      const bytes = Buffer.from(whole);
      bytes[at] = (bytes[at] as number) ^ (1 << (at % 8));
      writeFileSync(flipped, bytes);
      expect(await fault(flipped), `byte ${at}`).not.toBe("none");
    }
  });

  test("a backup file with bytes after its end is refused", async () => {
    writeFileSync(`${file}.longer`, Buffer.concat([whole, Buffer.from("x")]));
    expect(await fault(`${file}.longer`)).toMatch(/damaged|cut off/);
  });

  test("a backup file with contradictory lines is refused, even with a correct hash", async () => {
    const good = [...lines()];
    const without = (i: number) => good.filter((_, at) => at !== i);
    const faults: Record<string, string[]> = {
      "no end": good.slice(0, -1),
      "a table without its end": without(3),
      "an end without its rows": without(2),
      "rows twice": [...good.slice(0, 3), good[2] as string, ...good.slice(3)],
      "something after the end": [...good, '["more"]\n'],
      "a row of another width": good.map((line, i) => (i === 2 ? '["s1"]\n["s2","x"]\n' : line)),
    };
    for (const [name, some] of Object.entries(faults)) expect(await fault(await written(some)), name).toMatch(/damaged|cut off/);
    expect(await fault(await written(['{"hello":1}\n']))).toBe("FILE is not a Cleancast backup.");
    const newer = [`${JSON.stringify({ ...header, format: 2 })}\n`, ...good.slice(1)];
    expect(await fault(await written(newer))).toContain("a backup of a newer version");
  });

  test("a backup file that does not exist is reported", async () => {
    expect(await fault("/nowhere/at/all")).toBe("The file FILE cannot be read.");
  });
});
