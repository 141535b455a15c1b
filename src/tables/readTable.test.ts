import { setImmediate as nextTurn } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { Refusal } from "../kernel/refusal.ts";
import { readTable } from "./readTable.ts";
import type { TableRow } from "./table.ts";

async function* once(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text);
}

/** A source that is slow, such as a feed. */
async function* unending(): AsyncGenerator<Buffer> {
  yield Buffer.from("a,b\n1,2\n");
  await new Promise(() => {});
}

async function readAll(text: string): Promise<{ columns: string[]; rows: TableRow[] }> {
  const { columns, rows } = await readTable("site", once(text), "The file");
  return { columns, rows: await Array.fromAsync(rows) };
}

/** The CPU time of the longest turn of this thread's event loop meanwhile; the clock would also count what other programs use. */
async function longestTurnMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let began = process.threadCpuUsage();
  const endTurn = () => {
    const { user, system } = process.threadCpuUsage(began);
    longest = Math.max(longest, (user + system) / 1000);
    began = process.threadCpuUsage();
  };
  // Each turn ends with it, and none begins for it alone.
  const watch = () => {
    endTurn();
    watching = setImmediate(watch).unref();
  };
  let watching = setImmediate(watch).unref();
  await work();
  clearImmediate(watching);
  endTurn();
  return longest;
}

const messageOf = (reading: Promise<unknown>) =>
  reading.then(
    () => "read",
    (error: unknown) => (error instanceof Refusal ? error.message : String(error)),
  );

afterEach(async () => {
  // Every thread has ended: two may run for one site.
  const tables = await Promise.all([1, 2].map(() => readTable("site", unending(), "The file")));
  for (const { close } of tables) close();
});

test("rows arrive in order, across many groups", async () => {
  const lines = Array.from({ length: 5000 }, (_, i) => `${i},"name ""${i}"""`);
  const { columns, rows } = await readAll(`id,name\n${lines.join("\n")}\n`);
  expect(columns).toEqual(["id", "name"]);
  expect(rows.map((row) => ("cells" in row ? row.cells["id"] : row.fault))).toEqual(lines.map((_, i) => String(i)));
  expect(rows.at(-1)).toMatchObject({ line: 5001, cells: { name: 'name "4999"' } });
});

test("a refusal of the file arrives as one, and so does one in a later row", async () => {
  expect(await messageOf(readAll(""))).toBe("The file is empty.");
  expect(await messageOf(readAll(`a,b\n1,2\n3,"open\n`))).toMatch(/^The quote/);
});

test("of one site two files are read at once, and others wait for nobody", async () => {
  const tables = await Promise.all([1, 2].map(() => readTable("site", unending(), "The file")));
  expect(await messageOf(readAll("a\n"))).toBe("Other files of this site are being read. Wait until they are done.");
  expect((await readTable("other", once("a\n1\n"), "The file")).columns).toEqual(["a"]);
  for (const { close } of tables) close();
});

test("neither a slow reader nor a slow source is taken for a file that takes too long", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const half = "1,2\n".repeat(100_000);
    const arrival = Promise.withResolvers<void>();
    const slow = async function* (): AsyncGenerator<Buffer> {
      yield Buffer.from(`a,b\n${half}`);
      await arrival.promise;
      yield Buffer.from(half);
    };
    const { rows } = await readTable("site", slow(), "The file");
    let count = 0;
    const reading = (async () => {
      for await (const _row of rows) {
        count += 1;
        if (count % 20_000 !== 0) continue;
        // The thread reads ahead, and then waits for this reader.
        for (let turns = 0; turns < 300; turns += 1) await nextTurn();
        vi.advanceTimersByTime(60_000);
      }
    })();
    while (count < 80_000) await nextTurn();
    vi.advanceTimersByTime(60_000);
    arrival.resolve();
    await reading;
    expect(count).toBe(200_000);
  } finally {
    vi.useRealTimers();
  }
});

test("a source that fails ends the reading with its error", async () => {
  const failing = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.from("a,b\n1,2\n");
    throw new Error("the connection broke");
  };
  const reading = readTable("site", failing(), "The file").then(({ rows }) => Array.fromAsync(rows));
  expect(await messageOf(reading)).toContain("the connection broke");
});

test.each([
  ["semicolons", ";".repeat(7 << 20)],
  ["quotes", '"'.repeat(7 << 20)],
  ["one endless line", "a".repeat(7 << 20)],
  ["commas and quotes", '",'.repeat(3 << 20)],
  ["rows of semicolons", `${";".repeat(900)}\n`.repeat(7000)],
  ["opening brackets as NDJSON", `{"a":${"[".repeat(7 << 20)}`],
  ["many names as NDJSON", `{${Array.from({ length: 5000 }, (_, i) => `"${i}":1`).join()}}\n`.repeat(100)],
  ["empty lines", "a\n" + "\n".repeat(7 << 20)],
])("a file of %s is read or refused in a bounded time, and holds nobody up", { timeout: 120_000 }, async (_what, text) => {
  let outcome = "";
  const turnMs = await longestTurnMs(async () => (outcome = await messageOf(readAll(text))));
  expect(outcome).not.toContain("took longer");
  expect(outcome).not.toContain("RangeError");
  // Bytes and rows are handed over in small pieces, which takes 10 ms at most, and longer where garbage is collected.
  expect(turnMs).toBeLessThan(150);
});
