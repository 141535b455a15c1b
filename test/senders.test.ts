// Runs the senders of the guides for Zoho and Google Sheets as these services would, against a real relay.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import { call, eventually, newInstallation, type Installation, type Relay } from "./support/relay.ts";
import { examples } from "./support/servers/exampleSenders.ts";

const read = (name: string) => readFileSync(join(examples, name), "utf8");

let home: Installation;
let relay: Relay;
let key: string;
let inbound: string;

beforeAll(async () => {
  home = await newInstallation("sqlite");
  ({ key } = await home.addSite("shop.example.com"));
  await home.run("connection", "add", "shop.example.com", "sandbox");
  relay = await home.start();
  inbound = `${relay.url}/__cc/inbound`;
});

/** Lists the relay's events of an order: event, value and currency, newest first. */
async function known(orderId: string): Promise<[string, number, string][]> {
  const { items: events } = await home.run("event", "list", "--order", orderId);
  return events.map((one: { event: string; value: number; currency: string }) => [one.event, one.value, one.currency]);
}

describe("Zoho's webhook", () => {
  let path: string;
  beforeAll(async () => {
    const guide = readFileSync(join(examples, "../how-to/zoho.md"), "utf8");
    const [, line = ""] = /^npx cleancast (source add .*)$/m.exec(guide) ?? [];
    path = new URL((await home.run(...line.replace("SITE", "shop.example.com").split(" "))).address).pathname;
  });

  const report = (amount: string, id: string) =>
    call(relay.url, {
      path,
      headers: { host: "shop.example.com", "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ email: "ada@example.com", amount, deal_id: id, first_name: 'Ada "the first"' }).toString(),
    });

  test("a deal that Zoho reports to the source of its guide counts", async () => {
    await eventually("the source is known", async () => (await report("49.90", "4876876000000525023")).status === 200);
    expect(await known("4876876000000525023")).toEqual([["purchase", 49.9, "EUR"]]);
  });

  test.each(["€ 1.234,50", "1,234.50", "null"])("the source never takes the amount %j for another one", async (amount) => {
    expect((await report(amount, `zoho-${amount}`)).status).toBe(200);
    expect(await known(`zoho-${amount}`)).toEqual([]);
  });
});

describe("the script for Google Sheets", () => {
  type Cell = string | number | Date;
  const head = ["orderId", "email", "event", "value", "currency", "eventTime", "cleancast"];

  /** Runs `sendConversions` with Google's services in memory; HTTP is real. Returns the rows after the run. */
  function run(rows: Cell[][], { url = inbound, apiKey = key, isLocked = false } = {}): Cell[][] {
    const cells: Cell[][] = [head, ...rows].map((row) => [...row]);
    const properties: Record<string, string> = { CLEANCAST_INBOUND: url, CLEANCAST_KEY: apiKey };
    const sheet = {
      getDataRange: () => ({ getValues: () => cells.map((row) => [...row]) }),
      getRange: (line: number, column: number) => ({
        setValue: (value: Cell) => void ((cells[line - 1] as Cell[])[column - 1] = value),
      }),
    };
    const services = {
      LockService: { getScriptLock: () => ({ tryLock: () => !isLocked, releaseLock: () => {} }) },
      PropertiesService: {
        getScriptProperties: () => ({ getProperty: (name: string) => properties[name] ?? null }),
      },
      SpreadsheetApp: { getActiveSpreadsheet: () => ({ getSheetByName: () => sheet }) },
      UrlFetchApp: { fetch: fetchSync },
      Date,
    };
    runInNewContext(`${read("google-sheets.js")}\nsendConversions();`, services);
    return cells.slice(1);
  }

  /** UrlFetchApp.fetch waits for the answer. */
  function fetchSync(url: string, options: { headers: Record<string, string>; payload: string }) {
    const headers = Object.entries(options.headers).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const type = ["-H", "Content-Type: application/json"];
    const args = ["-s", "-w", "\n%{http_code}", ...headers, ...type, "--data-binary", "@-", url];
    const output = execFileSync("curl", args, { input: options.payload, encoding: "utf8" });
    const end = output.lastIndexOf("\n");
    return {
      getResponseCode: () => Number(output.slice(end + 1)),
      getContentText: () => output.slice(0, end),
    };
  }

  const row = (orderId: string, changes: Partial<Record<string, Cell>> = {}): Cell[] => {
    const cells: Record<string, Cell> = {
      orderId,
      email: "ada@example.com",
      event: "purchase",
      value: 49.9,
      currency: "EUR",
      eventTime: new Date(Date.now() - 60_000),
      cleancast: "",
      ...changes,
    };
    return head.map((name) => cells[name] ?? "");
  };
  const results = (rows: Cell[][]) => rows.map((cells) => cells.at(-1));

  test("open rows are sent once, and each gets its result", async () => {
    const after = run([row("S-1"), row("S-2", { cleancast: "sent" }), row("S-3", { email: "nobody" })]);
    expect(results(after)).toEqual(["sent", "sent", "refused: email is not an email address"]);
    expect(await known("S-1")).toEqual([["purchase", 49.9, "EUR"]]);
    expect(await known("S-2")).toEqual([]);
    expect(results(run([row("S-1")]))).toEqual(["duplicate"]);
  });

  test("a row with a wrong amount or an empty field is not sent, and says so", async () => {
    const after = run([
      row("S-4", { value: "1.234,50" }),
      row("S-5", { value: "" }),
      row("S-6", { currency: "" }),
      row("", {}),
      row("S-7"),
    ]);
    expect(results(after)).toEqual([
      "not sent: value is not a number",
      "not sent: value is not a number",
      "not sent: currency is empty",
      "not sent: orderId is empty",
      "sent",
    ]);
    for (const order of ["S-4", "S-5", "S-6"]) expect(await known(order)).toEqual([]);
  });

  test("rows stay open if the relay cannot be reached, another server answers, or another run is at work", async () => {
    expect(() => run([row("S-8")], { apiKey: "cc_wrong" })).toThrow("Cleancast: 401");
    expect(() => run([row("S-8")], { url: "http://127.0.0.1:1" })).toThrow();
    expect(results(run([row("S-8")], { isLocked: true }))).toEqual([""]);
    expect(await known("S-8")).toEqual([]);
  });
});
