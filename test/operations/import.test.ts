import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { timeOfId } from "../../src/kernel/ids.ts";
import { dayMs } from "../../src/kernel/time.ts";
import { freshFolder } from "../support/databases.ts";
import { deliveryStates, setUpSite, rows, type SiteSetup } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString();

function file(name: string, ...lines: (string | object)[]): string {
  const path = join(freshFolder(), name);
  writeFileSync(path, lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
  return path;
}

const countOf = async (home: Installation, table: string, where = "1 = 1") =>
  Number((await rows(home, `SELECT COUNT(*) AS n FROM ${table} WHERE ${where}`))[0]?.n);

/** Runs the command in a process of its own, with `input` on its standard input. */
async function piped(home: Installation, input: string, ...args: string[]): Promise<{ out: string; err: string }> {
  const { child, printed, ended } = home.launch(...args);
  child.stdin.end(input);
  await ended;
  return printed;
}

describe.each(endToEndEngines)("an import on %s", (engine) => {
  let home: Installation;
  let receiver: Receiver;
  let site: SiteSetup;
  let relay: Relay;
  beforeAll(async () => {
    home = await newInstallation(engine);
    receiver = await startReceiver();
    site = await setUpSite(home, [["webhook", { url: receiver.url }]]);
    relay = await home.start();
  });
  const conversions = (path: string, ...args: string[]) => home.run("import", "conversions", "shop.example.com", path, ...args);

  test("a dry run of an import reports everything and writes nothing", async () => {
    await relay.post(site.key, { email: "ada@example.com", event: "purchase", orderId: "live-1", value: 5 });
    const path = file(
      "orders.csv",
      "Order ID;E-mail;Total;Date;Comment",
      `live-1;Ada@example.com;5,00;${daysAgo(1)};known`,
      `dry-2;bob@example.com;1.234,50;${daysAgo(2)};"two`,
      `lines"`,
      `dry-2;bob@example.com;1.234,50;${daysAgo(2)};again`,
      `dry-3;nobody;1;${daysAgo(2)};`,
      `dry-4;eve@example.com;1;${daysAgo(91)};`,
      `dry-5;eve@example.com;1;${daysAgo(20)};for a platform too old`,
      `dry-6;eve@example.com;-1;${daysAgo(2)};`,
      `dry-7;eve@example.com`,
      `dry-8;eve@example.com;1.234;${daysAgo(2)};`,
      `dry-9;eve@example.com;€ 5;${daysAgo(2)};of a row without a currency`,
    );
    const tables = ["events", "deliveries", "dedup_claims", "imports", "audit"];
    const before = await Promise.all(tables.map((table) => countOf(home, table)));
    const report = await conversions(path, "--event", "purchase", "--dry-run");
    expect(report).toMatchObject({
      state: "dry run",
      mapping: { orderId: "Order ID", email: "E-mail", value: "Total", eventTime: "Date" },
      unused: ["Comment"],
      duplicates: { inFile: 1, known: 1 },
      tally: {
        rows: 10,
        imported: 2,
        duplicates: 2,
        refused: 6,
        deliveries: { webhook: { queued: 2 } },
        reasons: {
          "email is not an email address": { count: 1, lines: [6] },
          "eventTime is older than 90 days": { count: 1, lines: [7] },
          'value must not be negative; send a refund as an event named "refund"': { count: 1, lines: [9] },
          "the row has 2 cells, the header 5": { count: 1, lines: [10] },
          "value is ambiguous (1,234 or 1.234); choose the decimal separator: point or comma": {
            lines: [11],
          },
          "value names another currency than the row has (default USD); choose a column or a constant for currency": {
            lines: [12],
          },
        },
      },
    });
    // Without --yes, --deliver only reports what would be sent.
    expect(await conversions(path, "--event", "purchase", "--deliver", "all")).toMatchObject({
      state: "dry run",
    });
    expect(await Promise.all(tables.map((table) => countOf(home, table)))).toEqual(before);
  });

  test("items are imported from JSON in a cell and from NDJSON, and a wrong one is refused by its place", async () => {
    const mug = '[{""id"":1001,""name"":""Mug"",""price"":9.95,""quantity"":2}]';
    const csv = file(
      "items.csv",
      "email,event,orderId,eventTime,items",
      `items@example.com,purchase,items-1,${daysAgo(2)},"${mug}"`,
      `items@example.com,purchase,items-2,${daysAgo(2)},`,
      `items@example.com,purchase,items-3,${daysAgo(2)},2 x Mug`,
      `items@example.com,purchase,items-4,${daysAgo(2)},"[{""id"":""a"",""price"":-1}]"`,
    );
    const { tally } = await conversions(csv, "--deliver", "webhook", "--yes");
    expect(tally).toMatchObject({ rows: 4, imported: 2, refused: 2 });
    expect(tally.reasons).toMatchObject({
      "items[0].price must not be negative": { count: 1, lines: [5] },
      'items is not a JSON list like [{"id":"SKU-1","price":9.9,"quantity":2}]; correct it, or leave the column out': {
        count: 1,
        lines: [4],
      },
    });
    const ndjson = file("items.ndjson", {
      email: "items@example.com",
      event: "purchase",
      orderId: "items-5",
      eventTime: daysAgo(2),
      items: [{ id: "SKU-2", price: 30, quantity: 1 }],
    });
    expect((await conversions(ndjson, "--deliver", "webhook", "--yes")).tally).toMatchObject({ imported: 1 });
    const sent = () => receiver.bodies().filter((body) => String(body.orderId).startsWith("items-"));
    await eventually("all rows are sent", () => sent().length === 3);
    const itemsOf = Object.fromEntries(sent().map((body) => [String(body.orderId), body.items]));
    expect(itemsOf).toEqual({
      "items-1": [{ id: "1001", name: "Mug", price: 9.95, quantity: 2 }],
      "items-2": undefined,
      "items-5": [{ id: "SKU-2", price: 30, quantity: 1 }],
    });
  });

  test("imported conversions are delivered like live ones: once, with the identity of their persons", async () => {
    const identities = file("people.ndjson", {
      email: "fay@example.com",
      gclid: "click-of-fay",
      utm_source: "google",
      clickTime: daysAgo(12),
    });
    expect(
      (await home.run("import", "identities", "shop.example.com", identities, "--map", "seenAt=clickTime")).tally,
    ).toMatchObject({
      imported: 1,
    });
    await relay.post(site.key, { email: "gus@example.com", event: "lead", orderId: "both-1" });
    await eventually("the live event has arrived", () => receiver.got.length > 0);
    const sentBefore = receiver.got.length;
    const path = file(
      "orders.csv",
      "email,event,orderId,value,currency,eventTime",
      `fay@example.com,purchase,deliver-1,12.5,eur,${daysAgo(10)}`,
      `gus@example.com,Lead,both-1,,,${daysAgo(3)}`,
      `hal@example.com,purchase,,7,EUR,${daysAgo(3)}`,
    );
    const report = await conversions(path, "--deliver", "webhook", "--yes");
    expect(report.tally).toMatchObject({ rows: 3, imported: 2, duplicates: 1 });
    await eventually("both rows are sent", () => receiver.got.length === sentBefore + 2);
    const fay = receiver.bodies().find((body) => body.orderId === "deliver-1");
    expect(fay).toMatchObject({ event: "purchase", value: 12.5, currency: "EUR" });
    expect(JSON.stringify(fay)).toContain("click-of-fay");
    const [stored] = await rows(home, `SELECT id, time, key_id FROM events WHERE order_id = 'deliver-1'`);
    expect(stored?.key_id).toBe("import");
    // The id has the time of the conversion, by which lists and charts sort.
    expect(timeOfId(String(stored?.id))).toBe(Number(stored?.time));

    // The live event and the file are sent again: both are duplicates.
    expect((await relay.post(site.key, { email: "fay@example.com", event: "purchase", orderId: "deliver-1" })).text).toBe(
      '{"ok":true,"deduped":true}',
    );
    expect(await conversions(path, "--deliver", "webhook", "--yes")).toMatchObject({ state: "done before" });
    // An export that overlaps adds only what is new, also of rows without an order id.
    const later = file(
      "later.csv",
      ...readFileSync(path, "utf8").trim().split("\n"),
      `ida@example.com,purchase,,7,EUR,${daysAgo(1)}`,
    );
    expect((await conversions(later, "--deliver", "none")).tally).toMatchObject({
      rows: 4,
      imported: 1,
      duplicates: 3,
    });
    expect(await home.fails("import", "conversions", "shop.example.com", path, "--deliver", "none")).toMatchObject({
      field: "deliver",
    });
    expect(receiver.got.length).toBe(sentBefore + 2);
    expect((await deliveryStates(home)).queued).toBeUndefined();
  });

  test("missing columns of an import are reported before any row is imported", async () => {
    const path = file("odd.csv", "mail address,when", `a@example.com,${daysAgo(1)}`);
    const refusal = (...args: string[]) => home.fails("import", "conversions", "shop.example.com", path, ...args);
    expect((await refusal()).error).toMatch(/--deliver none stores them without sending/);
    expect((await refusal("--deliver", "none")).error).toBe(
      "No column was found for email (or hashed_email), event (or --event NAME for all rows), eventTime. " +
        "The file's columns: mail address, when. Name it with --map FIELD=COLUMN.",
    );
    expect((await refusal("--deliver", "tiktok")).error).toMatch(/no column|No column/);
    const mapped = ["--map", "email=mail address", "--map", "eventTime=when", "--event", "lead"];
    expect((await refusal(...mapped, "--deliver", "tiktok")).error).toMatch(
      /^The site has no connection tiktok\. Its connections: webhook \(/,
    );
    expect((await refusal(...mapped, "--time-zone", "Mars")).error).toMatch(/not a time zone/);
    expect((await refusal(...mapped, "--dates", "ymd")).field).toBe("dates");
    expect((await home.fails("import", "conversions", "shop.example.com", "/nowhere/x.csv", "--deliver", "none")).error).toMatch(
      /cannot|not a file/,
    );
    const latin = join(freshFolder(), "latin.csv");
    writeFileSync(latin, Buffer.from("email,event,eventTime\nä@example.com,x,2026-01-01\n", "latin1"));
    expect((await home.fails("import", "conversions", "shop.example.com", latin, "--deliver", "none")).error).toMatch(
      /not UTF-8/,
    );
    expect((await conversions(path, ...mapped, "--deliver", "none")).tally.imported).toBe(1);
  });

  test("rejected rows of an import are listed by line and reason, without personal data", async () => {
    const path = file(
      "rows.ndjson",
      {
        email: "kim@example.com",
        event: "lead",
        eventTime: Math.floor(Date.now() / 1000) - 60,
        orderId: 12345678901234567890n.toString(),
      },
      "not json",
      { email: "secret person", event: "lead", eventTime: daysAgo(1) },
      { email: "lee@example.com", event: "lead", eventTime: "31.12.2026 99:00" },
    );
    const refused = join(freshFolder(), "refused.csv");
    await conversions(path, "--deliver", "none", "--refused", refused);
    const list = readFileSync(refused, "utf8");
    // The rows that were refused are a reason to fail, also in a dry run and when the file was imported before.
    const again = ["import", "conversions", "shop.example.com", path, "--deliver", "none"];
    for (const more of [[], ["--dry-run"]])
      expect([await home.exitCode(...again, ...more), await home.exitCode(...again, ...more, "--allow-refused")]).toEqual([4, 0]);
    expect(list).toBe(
      'line,reason\n2,"the row is not valid JSON"\n3,"email is not an email address"\n' +
        '4,"eventTime is not a time that can be read; write it like 2026-10-31T12:30:00Z"\n',
    );
    const report = JSON.stringify([await home.run("import", "list"), await home.run("audit", "shop.example.com")]);
    expect(report).toContain("import done");
    expect(`${report}${relay.output()}`).not.toMatch(/secret person|kim@|lee@/);
    expect(await home.print("import", "list")).toMatch(/conversions +rows\.ndjson +done +4 +1 +0 +3/);
  });

  test("an import reads from a pipe too, and rows imported again are duplicates", async () => {
    const input = `{"email":"mia@example.com","event":"lead","eventTime":"${daysAgo(1)}","value":3}\n`;
    const args = ["import", "conversions", "shop.example.com", "-", "--deliver", "none"];
    const first = await piped(home, input, ...args);
    expect(first.err).toContain("cannot be resumed");
    expect(first.out).toMatch(/1 imported/);
    expect((await piped(home, input, ...args)).out).toMatch(/1 duplicates/);
  });

  test("imported identities bring visits and consent, and never a grant over a refusal", async () => {
    await home.run("consent", "set", "shop.example.com", "denied", "--email", "refuses@example.com");
    const path = file(
      "people.csv",
      "email,hashed_email,GCLID,utm_source,_fbp,seen at,consent",
      `nia@example.com,,g-1,google,fb.1.2,${daysAgo(5)},`,
      `nia@example.com,,g-0,,,${daysAgo(9)},`,
      `,${sha256Of("ola@example.com")},g-2,,,${daysAgo(5)},granted`,
      `refuses@example.com,,g-3,,,${daysAgo(5)},granted`,
      `pam@example.com,,,,,,denied`,
      `old@example.com,,g-4,,,${daysAgo(200)},`,
      `bad@example.com,,g-5,,,${daysAgo(1)},maybe`,
      `none@example.com,,,,,${daysAgo(1)},`,
    );
    const run = (...args: string[]) => home.run("import", "identities", "shop.example.com", path, ...args);
    const people = await countOf(home, "identities");
    expect((await run("--dry-run")).tally).toMatchObject({ imported: 5, refused: 3 });
    expect(await countOf(home, "identities")).toBe(people);
    expect((await run()).tally).toMatchObject({
      rows: 8,
      imported: 5,
      refused: 3,
      reasons: {
        "seenAt is older than visits are kept (90 days)": { lines: [7] },
        "consent must be granted or denied": { lines: [8] },
        "there is no click id, UTM field, browser id or consent in the row": { lines: [9] },
      },
    });
    const known = (email: string) => home.run("identity", "get", "shop.example.com", "--email", email);
    const nia = await known("nia@example.com");
    expect(nia.visits.map((visit: { clickIds: object }) => visit.clickIds)).toMatchObject([{ gclid: "g-1" }, { gclid: "g-0" }]);
    expect(nia.visits[0]).toMatchObject({
      utm: { utm_source: "google" },
      browserIds: { _fbp: "fb.1.2" },
    });
    const { identity } = await home.run("person", "export", "shop.example.com", "--email", "nia@example.com");
    expect(identity.forms.emailGoogleSha256).toBe(sha256Of("nia@example.com"));
    expect((await known("ola@example.com")).consent).toBe("granted");
    expect((await known("refuses@example.com")).consent).toBe("denied");
    expect((await known("pam@example.com")).consent).toBe("denied");

    // Consent decisions without any visit.
    const consents = file("consents.csv", "email,consent", "qia@example.com,denied");
    expect((await home.run("import", "identities", "shop.example.com", consents)).tally).toMatchObject({ imported: 1 });
    expect((await known("qia@example.com")).consent).toBe("denied");

    // The same rows in another file change nothing.
    const history = await countOf(home, "consent_history");
    const again = file("again.csv", readFileSync(path, "utf8"));
    expect((await home.run("import", "identities", "shop.example.com", again)).tally).toMatchObject({
      imported: 0,
      duplicates: 5,
    });
    expect((await known("nia@example.com")).visits).toHaveLength(2);
    expect(await countOf(home, "consent_history")).toBe(history);
  });
});

test("imported rows too old for a platform are skipped with the reason, and those too old for the site are rejected", async () => {
  const home = await newInstallation("sqlite");
  await setUpSite(home, [["meta", { pixel_id: "4000000000000001", access_token: "t".repeat(40) }]]);
  const path = file(
    "orders.csv",
    "email,event,orderId,value,eventTime",
    `ada@example.com,purchase,A-1,5,${daysAgo(1)}`,
    `ada@example.com,purchase,A-2,5,${daysAgo(20)}`,
    `ada@example.com,purchase,A-3,5,${daysAgo(50)}`,
  );
  const run = async () => (await home.run("import", "conversions", "shop.example.com", path, "--dry-run")).tally;
  expect(await run()).toMatchObject({
    imported: 3,
    deliveries: { meta: { queued: 1, skipped: 2 } },
    skipped: { meta: { "older than the 7 days that Meta takes": 2 } },
  });
  await home.run("site", "set", "shop.example.com", "keep_events=30d");
  expect(await run()).toMatchObject({
    imported: 2,
    reasons: { "eventTime is older than events are kept (keep_events, 30 days)": { count: 1, lines: [4] } },
  });
});
