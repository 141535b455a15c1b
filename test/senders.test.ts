// Runs the senders of the guides for Pipedrive, Typeform, Zoho and Google Sheets as these services would, against a real relay.

import { execFileSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import { call, newInstallation, type Installation, type Relay } from "./support/relay.ts";
import {
  elsewhere,
  empty200,
  examples,
  startExampleSender,
  startFakeRelay,
  startServer,
} from "./support/servers/exampleSenders.ts";

const read = (name: string) => readFileSync(join(examples, name), "utf8");

let home: Installation;
let relay: Relay;
let key: string;
let inbound: string;

beforeAll(async () => {
  home = await newInstallation("sqlite");
  ({ key } = await home.addSite("shop.example.com"));
  await home.run("connect", "shop.example.com", "sandbox");
  relay = await home.start();
  inbound = `${relay.url}/__cc/inbound`;
});

/** Lists the relay's events of an order: event, value and currency, newest first. */
async function known(orderId: string): Promise<[string, number, string][]> {
  const { items: events } = await home.run("event", "list", "--order", orderId);
  return events.map((one: { event: string; value: number; currency: string }) => [one.event, one.value, one.currency]);
}

const startSender = (name: string, env: Record<string, string>) =>
  startExampleSender(name, { CLEANCAST_INBOUND: inbound, CLEANCAST_KEY: key, ...env });

describe("Pipedrive's webhook", () => {
  const people: Record<string, object> = {
    "7": {
      first_name: "Ada",
      last_name: "Lovelace",
      emails: [
        { value: "office@example.com", primary: false },
        { value: "ada@example.com", primary: true },
      ],
      phones: [{ value: "+4930123456", primary: true }],
    },
    "8": { emails: [] },
  };
  const env = { PIPEDRIVE_USER: "cleancast", PIPEDRIVE_PASSWORD: "hush", PIPEDRIVE_TOKEN: "token" };
  let api: string;
  let url: string;
  beforeAll(async () => {
    api = await startServer((request, response) => {
      const person = people[/^\/api\/v2\/persons\/(\d+)$/.exec(request.url ?? "")?.[1] ?? ""];
      const isAllowed = request.headers["x-api-token"] === "token" && person;
      response.writeHead(isAllowed ? 200 : 404).end(JSON.stringify({ success: true, data: person }));
    });
    url = await startSender("pipedrive.mjs", { ...env, PIPEDRIVE_API: api });
  });

  const deal = {
    id: 501,
    title: "Ten mugs",
    value: 1200.5,
    currency: "EUR",
    status: "won",
    person_id: 7,
    won_time: new Date(Date.now() - 60_000).toISOString(),
  };
  type Sent = { action?: string; previous?: object | null; password?: string; to?: string };
  const hook = (changes: object, { action = "change", previous = { status: "open" }, password = "hush", to = url }: Sent = {}) =>
    call(to, {
      path: "/",
      headers: { Authorization: `Basic ${Buffer.from(`cleancast:${password}`).toString("base64")}` },
      body: JSON.stringify({
        meta: { action, entity: "deal", version: "2.0" },
        data: { ...deal, ...changes },
        previous,
      }),
    });

  test("a deal that was won is sent once, however often Pipedrive reports it", async () => {
    expect((await hook({})).status).toBe(200);
    expect((await hook({})).status).toBe(200);
    expect((await hook({ title: "Eleven mugs" }, { previous: { title: "Ten mugs" } })).status).toBe(200);
    expect(await known("501")).toEqual([["purchase", 1200.5, "EUR"]]);
    expect((await hook({ id: 502 }, { action: "create", previous: null })).status).toBe(200);
    expect(await known("502")).toHaveLength(1);
  });

  test("open and lost deals, deals without an email and calls without the password are not sent", async () => {
    expect((await hook({ id: 503, status: "open" })).status).toBe(200);
    expect((await hook({ id: 503, person_id: 8 })).status).toBe(200);
    expect((await hook({ id: 503, person_id: null })).status).toBe(200);
    expect((await hook({ id: 503 }, { action: "delete" })).status).toBe(200);
    expect((await hook({ id: 503 }, { password: "wrong" })).status).toBe(401);
    expect((await call(url, { path: "/", body: "{}" })).status).toBe(401);
    expect(await known("503")).toEqual([]);
  });

  test.each([
    ["value", null],
    ["value", "1.234,50"],
    ["currency", ""],
    ["id", undefined],
    ["person_id", 9],
  ])("a deal whose %s is %j is not sent, and Pipedrive sees the failure", async (name, value) => {
    const { url: address, asked } = await startFakeRelay(empty200);
    const to = await startSender("pipedrive.mjs", { ...env, PIPEDRIVE_API: api, CLEANCAST_INBOUND: address });
    expect((await hook({ [name]: value }, { to })).status).toBe(503);
    expect(asked).toEqual([]);
  });

  test("Pipedrive is asked to try again while the relay is down or another server answers", async () => {
    for (const address of ["http://127.0.0.1:1/", (await startFakeRelay(empty200)).url]) {
      const to = await startSender("pipedrive.mjs", {
        ...env,
        PIPEDRIVE_API: api,
        CLEANCAST_INBOUND: address,
      });
      expect([address, (await hook({}, { to })).status]).toEqual([address, 503]);
    }
  });
});

describe("Typeform's webhook", () => {
  let url: string;
  beforeAll(async () => void (url = await startSender("typeform.mjs", { TYPEFORM_SECRET: "hush" })));

  const response = {
    form_id: "lT4Z3j",
    token: "a3a12ec67a1365927098a606107fac15",
    submitted_at: new Date(Date.now() - 60_000).toISOString(),
    hidden: {} as Record<string, string>,
    answers: [
      { type: "text", text: "Ada", field: { ref: "first_name", type: "short_text" } },
      { type: "email", email: "ada@example.com", field: { ref: "email", type: "email" } },
      { type: "phone_number", phone_number: "+4930123456", field: { ref: "phone", type: "phone_number" } },
    ] as object[],
  };
  const hook = (changes: object, { secret = "hush", to = url } = {}) => {
    const body = JSON.stringify({
      event_id: "01",
      event_type: "form_response",
      form_response: { ...response, ...changes },
    });
    const signature = `sha256=${createHmac("sha256", secret).update(body).digest("base64")}`;
    return call(to, { path: "/", headers: { "Typeform-Signature": signature }, body });
  };

  test("a response is sent once as a lead, however often Typeform reports it", async () => {
    expect((await hook({})).status).toBe(200);
    expect((await hook({})).status).toBe(200);
    expect((await known(response.token)).map(([event]) => event)).toEqual(["lead"]);
  });

  test("the email may come from a hidden field, and a response without one is not sent", async () => {
    const answers = response.answers.filter((one) => !("email" in one));
    expect((await hook({ token: "hidden-1", answers, hidden: { email: "ada@example.com" } })).status).toBe(200);
    expect(await known("hidden-1")).toHaveLength(1);
    expect((await hook({ token: "hidden-2", answers })).status).toBe(200);
    expect(await known("hidden-2")).toEqual([]);
  });

  test("unsigned responses are refused, and a response without its token is a failure that Typeform shows", async () => {
    expect((await hook({ token: "forged" }, { secret: "wrong" })).status).toBe(401);
    expect((await call(url, { path: "/", body: "{}" })).status).toBe(401);
    expect(await known("forged")).toEqual([]);
    expect((await hook({ token: "" })).status).toBe(503);
  });

  test("Typeform is asked to retry while the relay is down or another server answers", async () => {
    for (const address of ["http://127.0.0.1:1/", (await startFakeRelay(empty200)).url]) {
      const to = await startSender("typeform.mjs", { TYPEFORM_SECRET: "hush", CLEANCAST_INBOUND: address });
      expect([address, (await hook({}, { to })).status]).toEqual([address, 503]);
    }
  });
});

test.each([
  ["pipedrive.mjs", "PIPEDRIVE_PASSWORD"],
  ["pipedrive.mjs", "PIPEDRIVE_TOKEN"],
  ["typeform.mjs", "TYPEFORM_SECRET"],
])("%s does not start without %s", async (name, missing) => {
  const all = {
    PIPEDRIVE_USER: "a",
    PIPEDRIVE_PASSWORD: "b",
    PIPEDRIVE_API: "http://127.0.0.1:1",
    PIPEDRIVE_TOKEN: "c",
    TYPEFORM_SECRET: "d",
  };
  await expect(startSender(name, { ...all, [missing]: "" })).rejects.toThrow(`${name} ended`);
});

describe("Zoho's webhook", () => {
  const body = (values: Record<string, string>) =>
    read("zoho-body.txt").replaceAll(/\$\{(.+?)\}/g, (_, name: string) => values[name] ?? "");
  const deal = {
    "Contacts.Email": "ada@example.com",
    "Deals.Amount": "49.90",
    "Deals.Deal Id": "4876876000000525023",
  };

  test("the endpoint accepts the body of Zoho's webhook", async () => {
    expect(JSON.parse((await relay.post(key, body(deal))).text)).toMatchObject({ ok: true });
    expect(await known("4876876000000525023")).toEqual([["purchase", 49.9, "EUR"]]);
  });

  test.each(["", "€ 1.234,50", "1,234.50", "null"])("the endpoint never takes the amount %j for another one", async (amount) => {
    const id = `zoho-${amount}`;
    const answer = await relay.post(key, body({ ...deal, "Deals.Amount": amount, "Deals.Deal Id": id }));
    // JSON's null is "no value"; Zoho writes an empty text for an empty field.
    expect(answer.status).toBe(amount === "null" ? 200 : 400);
    expect((await known(id)).map(([, value]) => value)).toEqual(amount === "null" ? [null] : []);
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

test("the senders send the key to no other address", async () => {
  const away = await startFakeRelay(elsewhere);
  const to = await startSender("typeform.mjs", { TYPEFORM_SECRET: "hush", CLEANCAST_INBOUND: away.url });
  const body = JSON.stringify({
    event_type: "form_response",
    form_response: { token: "away", answers: [{ type: "email", email: "ada@example.com", field: {} }] },
  });
  const signature = `sha256=${createHmac("sha256", "hush").update(body).digest("base64")}`;
  const answer = await call(to, { path: "/", headers: { "Typeform-Signature": signature }, body });
  expect([answer.status, away.asked.length]).toEqual([503, 1]);
});
