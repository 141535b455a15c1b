// Sites, settings and inbound keys through the management API of a real relay.

import { hash } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import { ask, becomeOwner, invite, type ApiAnswer, type Person } from "../support/apiClient.ts";
import { checkedAnswer, fault } from "../support/contractCheck.ts";
import { report } from "../support/visits.ts";
import { engines, eventually, newInstallation, type Relay } from "../support/relay.ts";
import { freshEvent } from "../contract/answers.ts";
import { dayMs as day } from "../../src/kernel/time.ts";

describe.each(engines)("sites in the management API on %s", (engine) => {
  let relay: Relay;
  let owner: Person;
  let admin: Person;
  let viewer: Person;
  let site: string;
  let second: string;

  beforeAll(async () => {
    relay = await (await newInstallation(engine)).start();
    owner = await becomeOwner(relay);
    site = checkedAnswer("POST /sites", await owner.ask("POST /sites", { host: "Shop.Example." })).id;
    second = (await owner.ask("POST /sites", { host: "second.example" })).json.id;
    admin = await invite(relay, owner, "admin@example.com", "admin", site);
    viewer = await invite(relay, owner, "viewer@example.com", "viewer", site);
  });

  test("members see the sites that they have a role on, with that role", async () => {
    const all = checkedAnswer("GET /sites", await owner.ask("GET /sites")).items;
    expect(all.map(({ hosts }: { hosts: string[] }) => hosts[0])).toEqual(["localhost", "shop.example", "second.example"]);
    const mine = checkedAnswer("GET /sites", await viewer.ask("GET /sites")).items;
    expect(mine).toMatchObject([{ id: site, name: "shop.example", role: "viewer", timeZone: "UTC", inbound: false }]);
  });

  test("a host belongs to one site, and a refusal does not name that site", async () => {
    const taken = await admin.ask(`POST /sites/${site}/hosts`, { host: "second.example" });
    expect(fault(taken)).toEqual([400, "invalid", "host"]);
    expect(taken.answer.text).not.toContain(second);
    const both = await Promise.all([1, 2].map(() => owner.ask(`POST /sites/${site}/hosts`, { host: "twice.example" })));
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
    // A relay without CLEANCAST_URL cannot tell its own host from a claimed one.
    const claimed = await admin.ask(`POST /sites/${site}/hosts`, { host: "www.shop.example" });
    expect(fault(claimed)).toEqual([400, "invalid", "host"]);
    expect(claimed.json.error.message).toContain("CLEANCAST_URL");
    const created = await owner.ask(`POST /sites/${site}/hosts`, { host: "www.shop.example" });
    expect(checkedAnswer("POST /sites/:site/hosts", created).hosts).toContain("www.shop.example");
  });

  test("revoking an API key removes the inbound keys that it made, unless they are kept", async () => {
    const keysOf = async () => (await owner.ask(`GET /sites/${second}/keys`)).json.items as Key[];
    type Key = { id: string; state: string };
    const own = (await owner.ask(`POST /sites/${second}/keys`, { name: "CRM" })).json.id as string;
    const makeAndRevoke = async (query: string) => {
      const wanted = { name: "setup", site: second, scopes: ["keys"] };
      const apiKey = checkedAnswer("POST /api-keys", await owner.ask("POST /api-keys", wanted));
      const send = (route: string, body: unknown) => ask(relay, route, body, { Authorization: `Bearer ${apiKey.key}` });
      const first = (await send(`POST /sites/${second}/keys`, { name: "made" })).json;
      const next = (await send(`POST /sites/${second}/keys/${first.id}/rotate`, { expiresAt: null })).json;
      const made = [first.id, next.id] as string[];
      const { items } = checkedAnswer("GET /api-keys", await owner.ask("GET /api-keys"));
      expect(items.find(({ id }: Key) => id === apiKey.id).inboundKeys).toEqual(
        made.map((id) => ({ site: second, id, name: "made" })),
      );
      expect((await relay.post(next.key, freshEvent())).status).toBe(200);
      const revoked = await owner.ask(`DELETE /api-keys/${apiKey.id}${query}`);
      const after = await relay.post(next.key, freshEvent());
      const { inboundKeys } = checkedAnswer("DELETE /api-keys/:key", revoked);
      const states = (await keysOf()).filter(({ id }) => made.includes(id)).map(({ state }) => state);
      return { after: after.status, states, revoked: inboundKeys.length };
    };
    expect(await makeAndRevoke("")).toEqual({ after: 401, states: ["revoked", "revoked"], revoked: 2 });
    expect(await makeAndRevoke("?inboundKeys=keep")).toEqual({
      after: 200,
      states: ["active", "active"],
      revoked: 0,
    });
    expect((await keysOf()).find(({ id }) => id === own)?.state).toBe("active");
    const { items } = (await owner.ask(`GET /sites/${second}/audit`)).json;
    expect(items.filter(({ action }: { action: string }) => action === "key revoked")).toHaveLength(2);
  });

  test("renaming a site is recorded in the audit log, which is read in pages", async () => {
    const named = await admin.ask(`PATCH /sites/${site}`, { name: " Corner shop " });
    expect(checkedAnswer("PATCH /sites/:site", named).name).toBe("Corner shop");
    const seen: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query = cursor ? `&cursor=${cursor}` : "";
      const asked: ApiAnswer = await viewer.ask(`GET /sites/${site}/audit?limit=2${query}`);
      const page = checkedAnswer("GET /sites/:site/audit", asked);
      seen.push(...page.items.map(({ action }: { action: string }) => action));
      cursor = page.next;
    }
    const whole = checkedAnswer("GET /sites/:site/audit", await viewer.ask(`GET /sites/${site}/audit`));
    expect(seen).toEqual(whole.items.map(({ action }: { action: string }) => action));
    expect(whole.items[0]).toMatchObject({
      actor: "admin@example.com",
      action: "site renamed",
      detail: { name: "Corner shop" },
    });
    const newest = whole.items[0].at as number;
    const between = async (query: string) => (await viewer.ask(`GET /sites/${site}/audit?${query}`)).json;
    expect((await between(`from=${newest}&to=${newest + 1}`)).items).toEqual(
      whole.items.filter(({ at }: { at: number }) => at === newest),
    );
    expect((await between(`to=${newest}`)).items).toEqual(whole.items.filter(({ at }: { at: number }) => at < newest));
    expect((await between(`from=2&to=1`)).error.field).toBe("from");
    const table = await viewer.ask(`GET /sites/${site}/audit.csv`);
    expect(table.answer.headers["content-type"]).toBe("text/csv; charset=utf-8");
    expect(table.answer.text.trim().split("\n")).toHaveLength(whole.items.length + 1);
    expect((await owner.ask("GET /audit.csv")).answer.text).toMatch(/^time \(UTC\),who,what,details,id\n/);
    expect(checkedAnswer("GET /audit", await owner.ask("GET /audit")).items).toBeInstanceOf(Array);
  });

  test("settings are read back as written, and a note names each setting without effect", async () => {
    const asked = await admin.ask(`PATCH /sites/${site}/settings`, {
      settings: {
        dedup_order: "30d",
        time_zone: "Europe/Berlin",
        deny_countries: "KP",
        alert_emails: "ada@example.com",
        alert_webhook: "https://hooks.example.com/secret-token",
      },
    });
    const { items, notes } = checkedAnswer("PATCH /sites/:site/settings", asked);
    const byName = new Map(items.map((one: { name: string }) => [one.name, one]));
    expect(byName.get("dedup_order")).toMatchObject({ value: "30d", default: "90d" });
    expect(byName.get("alert_webhook")).toMatchObject({ value: "https://hooks.example.com/…" });
    expect(notes).toEqual([
      expect.stringMatching(/^deny_countries has no effect yet/),
      expect.stringMatching(/^Email alerts need a mail server/),
    ]);
    const read = await viewer.ask(`GET /sites/${site}/settings`);
    expect(checkedAnswer("GET /sites/:site/settings", read).items).toEqual(items);
    expect(read.answer.text).not.toContain("secret-token");
    expect((await viewer.ask(`GET /sites/${site}`)).json.timeZone).toBe("Europe/Berlin");
  });

  test("an invalid setting is refused by name and changes nothing", async () => {
    const patch = (settings: Record<string, string>) => admin.ask(`PATCH /sites/${site}/settings`, { settings });
    const wrong = await patch({ rate_limit: "5", keep: "for ever" });
    expect(fault(wrong)).toEqual([400, "invalid", "keep"]);
    expect(fault(await patch({ nonsense: "1" }))).toEqual([400, "invalid", "nonsense"]);
    expect(fault(await patch({ alert_webhook: "http://10.0.0.1/" }))).toEqual([400, "invalid", "alert_webhook"]);
    const { items } = (await viewer.ask(`GET /sites/${site}/settings`)).json;
    expect(items).toContainEqual(expect.objectContaining({ name: "rate_limit", value: "off" }));
  });

  test("settings are copied only from a visible site, and secret settings are never shown", async () => {
    const names = ["dedup_order", "alert_webhook"];
    const copied = await owner.ask(`POST /sites/${second}/settings/copy`, { from: site, names });
    const { items } = checkedAnswer("POST /sites/:site/settings/copy", copied);
    expect(items).toContainEqual(expect.objectContaining({ name: "dedup_order", value: "30d" }));
    expect(items).toContainEqual(expect.objectContaining({ name: "alert_webhook", value: "https://hooks.example.com/…" }));
    const audit = await owner.ask(`GET /sites/${second}/audit`);
    expect(audit.json.items[0]).toMatchObject({ action: "settings copied", detail: { from: site } });
    expect(copied.answer.text + audit.answer.text).not.toContain("secret-token");
    const copyFrom = (from: string, list = names) => admin.ask(`POST /sites/${site}/settings/copy`, { from, names: list });
    expect(fault(await copyFrom(second))).toEqual([404, "not_found", undefined]);
    expect(fault(await copyFrom(site, ["nonsense"]))).toEqual([400, "invalid", "names"]);
  });

  test("an inbound key is shown once, its uses are counted, and it can be rotated and revoked", async () => {
    const steps = async () => checkedAnswer("GET /sites/:site/checklist", await viewer.ask(`GET /sites/${site}/checklist`)).steps;
    expect((await steps()).map(({ done }: { done: boolean }) => done)).toEqual([false, false, false, false, false]);
    const created = await admin.ask(`POST /sites/${site}/keys`, { name: "my CRM" });
    const first = checkedAnswer("POST /sites/:site/keys", created);
    expect(first).toMatchObject({ openedInbound: true, key: expect.stringMatching(/^cc_/) });
    const send = (key: string) => relay.post(key, freshEvent(), { Host: "shop.example" });
    expect((await send(first.key)).status).toBe(200);

    const rotated = await admin.ask(`POST /sites/${site}/keys/${first.id}/rotate`, {});
    const next = checkedAnswer("POST /sites/:site/keys/:key/rotate", rotated);
    const [line] = (await admin.ask(`GET /sites/${site}/audit`)).json.items;
    expect(line.detail).toMatchObject({
      prefix: next.key.slice(0, line.detail.prefix.length),
      newId: next.id,
    });
    expect(line.detail.before.prefix).not.toBe(line.detail.prefix);
    expect(next.oldExpiresAt - Date.now()).toBeGreaterThan(day - 60_000);
    expect((await send(next.key)).status).toBe(200);
    expect((await admin.ask(`DELETE /sites/${site}/keys/${first.id}`)).status).toBe(200);
    expect((await send(first.key)).status).toBe(401);
    await eventually("the use is counted", async () => {
      const { items } = checkedAnswer("GET /sites/:site/keys", await viewer.ask(`GET /sites/${site}/keys`));
      return items.length === 2 && items[1].uses24h === 1 && items[0].state === "revoked";
    });
    const listed = await viewer.ask(`GET /sites/${site}/keys`);
    for (const { key } of [first, next]) expect(listed.answer.text).not.toContain(key);

    const past = await admin.ask(`POST /sites/${site}/keys`, { name: "late", expiresAt: 1 });
    expect(fault(past)).toEqual([400, "invalid", "expiresAt"]);
    expect(fault(await admin.ask(`POST /sites/${site}/keys`, { name: " " }))).toEqual([400, "invalid", "name"]);
    const again = await admin.ask(`POST /sites/${site}/keys/${first.id}/rotate`, {});
    expect(fault(again)).toEqual([400, "invalid", "key"]);
    expect(again.answer.text).not.toContain("cleancast ");

    expect((await steps()).map(({ done }: { done: boolean }) => done)).toEqual([false, false, true, false, true]);
    await eventually("the site's health counts both conversions", async () => {
      const { health } = checkedAnswer("GET /sites/:site", await viewer.ask(`GET /sites/${site}`));
      return health.figures?.conversions24h === 2 && health.figures.lastEventAt !== null;
    });
  });

  test("a rejected request is listed for its site", async () => {
    expect((await relay.post("cc_wrong", freshEvent(), { Host: "shop.example" })).status).toBe(401);
    await eventually("the call is listed", async () => {
      const asked = await viewer.ask(`GET /sites/${site}/rejected-requests?limit=1`);
      const { items } = checkedAnswer("GET /sites/:site/rejected-requests", asked);
      return items.length === 1 && items[0].host === "shop.example";
    });
  });

  test("the API returns the HTML that installs the tag", async () => {
    const tag = checkedAnswer("GET /sites/:site/tag", await viewer.ask(`GET /sites/${site}/tag`));
    expect(tag.follows).toBe(`<script async src="/__cc/tag.js"></script>`);
    expect(tag.pinned).toMatch(/integrity="sha384-/);
    expect(tag).toMatchObject({ visits24h: 0, lastHourWithVisits: null, seen: null });
  });

  test("the API says when the tag was last seen, and on how many pages", async () => {
    const from = Date.now();
    for (const page of ["/", "/cart?email=ada@example.com", "/"])
      expect((await report(relay, "shop.example", "visit", { page: `https://shop.example${page}` })).status).toBe(204);
    const tag = await viewer.ask(`GET /sites/${site}/tag`);
    const { seen } = checkedAnswer("GET /sites/:site/tag", tag);
    expect(seen.pages).toBe(2);
    expect(seen.at).toBeGreaterThanOrEqual(from);
  });

  test("an owner deletes a site by naming its host, and others cannot", async () => {
    const { id, hosts } = (await owner.ask("POST /sites", { host: "leaving.example" })).json;
    const { key } = (await owner.ask(`POST /sites/${id}/keys`, { name: "my CRM" })).json;
    expect((await relay.post(key, freshEvent(), { Host: hosts[0] })).status).toBe(200);
    const leavingAdmin = await invite(relay, owner, "leaving@example.com", "admin", id);
    const confirmed = `DELETE /sites/${id}?confirm=leaving.example`;
    expect((await leavingAdmin.ask(confirmed)).status).toBe(403);
    expect((await admin.ask(confirmed)).status).toBe(404);
    for (const query of ["", "?confirm=shop.example"])
      expect(fault(await owner.ask(`DELETE /sites/${id}${query}`))).toEqual([400, "invalid", "confirm"]);

    const contents = {
      hosts: 1,
      keys: 1,
      connections: 0,
      webhooks: 0,
      events: 1,
      identities: 0,
      visitors: 0,
    };
    const counted = await owner.ask(`GET /sites/${id}/contents`);
    expect(checkedAnswer("GET /sites/:site/contents", counted)).toEqual(contents);
    expect(checkedAnswer("DELETE /sites/:site", await owner.ask(confirmed))).toEqual(contents);
    expect((await owner.ask(`GET /sites/${id}`)).status).toBe(404);
    expect((await leavingAdmin.ask("GET /sites")).json.items).toEqual([]);
    expect((await relay.post(key, freshEvent(), { Host: hosts[0] })).status).toBe(401);
    const { items } = checkedAnswer("GET /audit", await owner.ask("GET /audit"));
    expect(items[0]).toMatchObject({
      actor: "owner@example.com",
      action: "site deleted",
      detail: { id, hosts, events: 1 },
    });
  });

  test("a file is imported in parts: columns, dry run, refused rows by line, audited, and never twice", async () => {
    const at = (path: string, query: Record<string, string>) =>
      `POST /sites/${site}/imports/${path}?${new URLSearchParams({ kind: "conversions", ...query }).toString()}`;
    const time = new Date().toISOString();
    const header = "Mail;Order;Paid at;Net;Gross\n";
    const rows = [1, 2, 3].map((n) => `eve@customers.example;I-${n};${time};1,50;1,79\n`);
    rows[1] = `eve@customers.example;I-2;soon;1,50;1,79\n`;
    expect(
      checkedAnswer("POST /sites/:site/imports/columns", await admin.ask(at("columns", {}), header + rows[0])),
    ).toMatchObject({
      delimiter: ";",
      columns: [{ name: "Mail", samples: ["eve@customers.example"] }, {}, {}, {}, { samples: ["1,79"] }],
      fields: expect.arrayContaining([
        { name: "email", column: "Mail" },
        { name: "eventTime", column: "Paid at" },
        { name: "value", column: null },
      ]),
    });

    const part = async (n: number, body: string, more: Record<string, string> = {}, by = admin) =>
      by.ask(
        at("parts", {
          file: "orders.csv",
          sha256: "ab".repeat(32),
          mapping: JSON.stringify({ value: "Net" }),
          defaults: JSON.stringify({ event: "purchase" }),
          skippedLines: String(n),
          ...more,
        }),
        body,
      );
    const done = (asked: ApiAnswer) => checkedAnswer("POST /sites/:site/imports/parts", asked);
    expect((await part(0, header + rows.join(""), {}, viewer)).status).toBe(403);
    expect(fault(await part(0, header, { mapping: "[]" }))).toEqual([400, "invalid", "mapping"]);
    expect(fault(await part(0, header, { timeZone: "Mars" }))).toEqual([400, "invalid", "timeZone"]);
    const dry = done(await part(0, header + rows.join("") + rows[0], { dryRun: "true" }));
    expect(dry).toMatchObject({
      state: "dry run",
      tally: { rows: 4, imported: 2, duplicates: 1, refused: 1 },
    });
    expect((await admin.ask(`GET /sites/${site}/imports`)).json.items).toEqual([]);

    // A part whose rows follow a gap is refused, and leaves nothing behind.
    const gap = [400, "invalid", "skippedLines"];
    expect(fault(await part(2, header + rows[2]))).toEqual(gap);
    expect((await admin.ask(`GET /sites/${site}/imports`)).json.items).toEqual([]);

    const first = done(await part(0, header + rows[0] + rows[1], { isLast: "false" }));
    const refused = {
      line: 3,
      reason: "eventTime is not a time that can be read; write it like 2026-10-31T12:30:00Z",
    };
    expect(first).toMatchObject({ state: "stopped", isPartDone: true, refusedRows: [refused] });
    // A part that is sent again, because its answer was lost, changes nothing.
    expect(done(await part(0, header + rows[0] + rows[1], { isLast: "false" }))).toEqual({
      ...first,
      refusedRows: [],
    });
    expect(fault(await part(3, header + rows[2]))).toEqual(gap);
    const last = done(await part(2, header + rows[2]));
    expect(last).toMatchObject({ state: "done", tally: { rows: 3, imported: 2, duplicates: 0, refused: 1 } });
    expect(done(await part(2, header + rows[2])).state).toBe("done before");
    expect(fault(await part(2, header + rows[2], { deliver: "all" }))).toEqual([400, "invalid", "deliver"]);

    const { items } = checkedAnswer("GET /sites/:site/imports", await viewer.ask(`GET /sites/${site}/imports`));
    expect(items).toMatchObject([{ file: "orders.csv", state: "done", deliver: "none", tally: { imported: 2 } }]);
    const audit = (await admin.ask(`GET /sites/${site}/audit`)).json.items;
    expect(audit.slice(0, 2)).toMatchObject([
      { action: "import done", actor: "admin@example.com", detail: { imported: 2, refused: 1 } },
      { action: "import started", actor: "admin@example.com", detail: { file: "orders.csv" } },
    ]);
    const events = (await admin.ask(`GET /sites/${site}/events?search=I-3`)).json.items;
    expect(events).toMatchObject([{ event: "purchase", orderId: "I-3", value: 1.5 }]);
  });

  test("a part may end with a row of several lines and with empty ones", async () => {
    const query = new URLSearchParams({
      kind: "conversions",
      file: "notes.csv",
      sha256: "ef".repeat(32),
      defaults: JSON.stringify({ event: "purchase" }),
      isLast: "false",
    });
    const row = (n: number) => `ann@customers.example,L-${n},${new Date().toISOString()},"two\nlines"\n`;
    const send = (skippedLines: number, rows: string) => {
      query.set("skippedLines", String(skippedLines));
      const text = `email,orderId,eventTime,note\n${rows}`;
      return admin.ask(`POST /sites/${site}/imports/parts?${query.toString()}`, text);
    };
    expect((await send(0, `${row(1)}\n`)).json).toMatchObject({ isPartDone: true, tally: { imported: 1 } });
    expect(fault(await send(4, row(2)))).toEqual([400, "invalid", "skippedLines"]);
    expect((await send(3, row(2))).json).toMatchObject({ isPartDone: true, tally: { imported: 2 } });
  });

  test.each([
    ["quoted CRLF", "two\r\nlines", "note", "\r\n"],
    ["quoted CRLF also in the header", "two\r\nlines", "the\r\nnote", "\r\n"],
    ["a lone CR in cells", "two\rlines", "note", "\n"],
    ["CR CR LF behind rows", "note", "note", "\r\r\n"],
    ["CR alone behind rows and in cells", "two\rlines", "note", "\r"],
    ["CR alone and empty lines behind rows", "note", "note", "\r", "\r\r"],
    ["no line break behind the last row of a part", "two\nlines", "note", "\n", ""],
  ])("every row of all parts is imported once: %s", async (name, note, column, lineEnd, partEnd = lineEnd) => {
    const row = (n: number) => `ann@customers.example,${name} ${n},${new Date().toISOString()},"${note}"`;
    const header = `email,orderId,eventTime,"${column}"${lineEnd}`;
    const parts = [[1, 2], [3, 4, 5], [6]].map((part) => part.map(row).join(lineEnd));
    const answers = [];
    let skippedLines = 0;
    for (const [i, rows] of parts.entries()) {
      const query = new URLSearchParams({
        kind: "conversions",
        file: "breaks.csv",
        sha256: hash("sha256", name),
        defaults: JSON.stringify({ event: "purchase" }),
        skippedLines: String(skippedLines),
        isLast: String(i === parts.length - 1),
      });
      const text = header + rows + partEnd;
      answers.push((await admin.ask(`POST /sites/${site}/imports/parts?${query.toString()}`, text)).json);
      skippedLines += (rows + (partEnd || lineEnd)).split(lineEnd.at(-1) ?? "").length - 1;
    }
    expect(answers).toMatchObject([2, 5, 6].map((count) => ({ isPartDone: true, tally: { rows: count, imported: count } })));
  });

  test("parts of NDJSON may lack columns that other parts have", async () => {
    const query = new URLSearchParams({
      kind: "conversions",
      file: "orders.ndjson",
      sha256: "cd".repeat(32),
      mapping: JSON.stringify({ value: "net" }),
      defaults: JSON.stringify({ event: "purchase" }),
      isLast: "false",
    });
    const row = { email: "may@customers.example", time: new Date().toISOString() };
    const asked = [
      { ...row, orderId: "N-1", net: 3 },
      { ...row, orderId: "N-2" },
    ].map((one) => JSON.stringify(one));
    for (const [i, text] of asked.entries()) {
      query.set("skippedLines", String(i));
      const { tally } = checkedAnswer(
        "POST /sites/:site/imports/parts",
        await admin.ask(`POST /sites/${site}/imports/parts?${query.toString()}`, `${text}\n`),
      );
      expect(tally).toMatchObject({ imported: i + 1, refused: 0 });
    }
  });
});
