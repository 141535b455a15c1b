// An import is killed, started twice, stopped, and run together with live traffic.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freshFolder } from "../support/databases.ts";
import { startReceiver } from "../support/receiver.ts";
import { engines, eventually, newInstallation, type Installation } from "../support/relay.ts";
import { deliveryStates, setUpSite, rows } from "../support/installation.ts";

const total = Number(process.env.IMPORT_ROWS ?? 3000);
const isLong = total > 20_000;

const start = (home: Installation, ...args: string[]) => home.launch("import", "conversions", "shop.example.com", ...args);

async function lineOf(home: Installation): Promise<number> {
  const [row] = await rows(home, `SELECT line FROM imports`);
  return Number(row?.line ?? 0);
}

async function numberOf(home: Installation, sql: string): Promise<number> {
  return Number((await rows(home, sql))[0]?.n);
}

/** Writes a file: every fiftieth row is a copy of an earlier one, every hundredth is invalid, every third has no order id. */
function write(count: number): { path: string; distinct: number; copies: number; bad: number } {
  const startedAt = Math.floor(Date.now() / 1000) - 86_400;
  const row = (i: number) => `p${i % 997}@example.com,purchase,${i % 3 ? `N-${i}` : ""},${i},EUR,${startedAt - i * 30}`;
  const lines = ["email,event,orderId,value,currency,eventTime"];
  let copies = 0;
  let bad = 0;
  for (let i = 0; i < count; i++) {
    if (i % 100 === 99) {
      bad += 1;
      lines.push(`nobody,purchase,B-${i},1,EUR,${startedAt}`);
    } else if (i % 50 === 49) {
      copies += 1;
      lines.push(row(i - 40));
    } else lines.push(row(i));
  }
  const path = join(freshFolder(), "orders.csv");
  writeFileSync(path, `${lines.join("\n")}\n`);
  return { path, copies, bad, distinct: count - copies - bad };
}

describe.concurrent.each(engines)("an import on %s", { timeout: isLong ? 1_800_000 : 600_000 }, (engine) => {
  test(`an import of ${total} rows, killed three times and then started twice at once, stores each row exactly once`, async () => {
    const home = await newInstallation(engine);
    await setUpSite(home, [["sandbox", {}]]);
    const relay = await home.start();
    const { path, distinct, copies, bad } = write(total);
    const refused = join(freshFolder(), "refused.csv");
    const args = [path, "--deliver", "all", "--yes", "--refused", refused, "--allow-refused"];

    const startedAt = Date.now();
    for (const part of [0.15, 0.3, 0.45]) {
      const before = await lineOf(home);
      const run = start(home, ...args);
      await eventually(
        "the import has reached the line",
        async () => {
          if (run.child.exitCode !== null) throw new Error(`the import ended by itself: ${run.printed.err}${run.printed.out}`);
          return (await lineOf(home)) > total * part;
        },
        isLong ? 600 : 240,
      );
      run.child.kill("SIGKILL");
      await run.ended;
      const after = await lineOf(home);
      expect(after).toBeGreaterThan(before);
      expect(after).toBeLessThan(total);
      if (before) expect(run.printed.err).toContain(`resuming after line ${before}`);
    }
    const both = [start(home, ...args), start(home, ...args)];
    const codes = await Promise.all(both.map(({ ended }) => ended));
    const output = both.map(({ printed }) => printed.out + printed.err).join("\n");
    expect(codes.toSorted(), output).toEqual([0, 4]);
    expect(output).toMatch(/This import is running|Another process has just started/);
    const seconds = (Date.now() - startedAt) / 1000;

    const [stored] = await rows(home, `SELECT state, tally FROM imports`);
    expect(stored?.state).toBe("done");
    expect(JSON.parse(String(stored?.tally))).toMatchObject({
      rows: total,
      imported: distinct,
      duplicates: copies,
      refused: bad,
    });
    expect(await numberOf(home, `SELECT COUNT(*) AS n FROM events`)).toBe(distinct);
    // The value is the number of the row.
    expect(await numberOf(home, `SELECT COUNT(DISTINCT value) AS n FROM events`)).toBe(distinct);
    await eventually("everything is sent", async () => (await deliveryStates(home)).sent === distinct, isLong ? 600 : 240);
    expect(await numberOf(home, `SELECT COUNT(*) AS n FROM attempts`)).toBe(distinct);
    // The pushed totals count each row once, too.
    expect(await numberOf(home, `SELECT SUM(conversions) AS n FROM totals`)).toBe(distinct);
    const list = readFileSync(refused, "utf8").trim().split("\n");
    expect(list).toHaveLength(bad + 1);
    expect(new Set(list).size).toBe(bad + 1);
    if (isLong) {
      const shares = [...output.matchAll(/^(\d+) %/gm)].map(([, share]) => Number(share));
      expect(shares.length).toBeGreaterThan(1);
      expect(shares).toEqual(shares.toSorted((one, other) => one - other));
      process.stdout.write(`${engine}: ${total} rows, killed three times, in ${seconds} s\n`);
    }
    await relay.stop();
  });

  test.skipIf(isLong)("live events overtake the rows of an import, and Ctrl-C ends the import cleanly", async () => {
    const home = await newInstallation(engine);
    const receiver = await startReceiver();
    // 32 lanes that take 500 ms each send about 60 events a second, fewer than an import reads.
    receiver.behave = (_got, response) => void setTimeout(() => response.writeHead(200).end(), 500);
    const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    const relay = await home.start();
    const { path } = write(2000);
    const run = start(home, path, "--deliver", "all", "--yes");
    const waiting = async () => (await deliveryStates(home)).queued ?? 0;
    await eventually("a backlog builds up", async () => (await waiting()) > 200);

    const before = receiver.got.length;
    const live = await relay.post(key, { email: "live@example.com", event: "purchase", orderId: "live" });
    expect(JSON.parse(live.text)).toMatchObject({ results: { webhook: { ok: true } } });
    const position = receiver.bodies().findIndex((body) => body.orderId === "live") - before;
    const left = await waiting();
    // Only rows that were already in the lanes, or on their way to them, come first.
    expect(position).toBeLessThan(100);
    expect(left).toBeGreaterThan(100);
    expect(left).toBeLessThanOrEqual(320);

    run.child.kill("SIGINT");
    expect(await run.ended).toBe(130);
    expect(run.printed.out).toMatch(/Stopped after line \d+\.[^]*Run the same command again to continue\./);
    const [row] = await rows(home, `SELECT state, owner, tally FROM imports`);
    expect(row).toMatchObject({ state: "stopped", owner: "" });
    // The report matches the rows in the database.
    const { imported } = JSON.parse(String(row?.tally)) as { imported: number };
    expect(await numberOf(home, `SELECT COUNT(*) AS n FROM events WHERE key_id = 'import'`)).toBe(imported);
    await relay.stop();
  });
});
