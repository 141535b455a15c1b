// Shared links through a real relay: what a link shows, to whom, and what every page, file and message must not contain.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { inflateSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import { setUpSite, change, rows, type SiteSetup } from "../support/installation.ts";
import { freshFolder } from "../support/databases.ts";
import { startReceiver } from "../support/receiver.ts";
import {
  call,
  endToEndEngines,
  eventually,
  newInstallation,
  type Answer,
  type Installation,
  type Relay,
} from "../support/relay.ts";

const person = { email: "jane.buyer@example.com", phone: "+49 151 12345678", firstName: "Janette", lastName: "Buyerson" };
const secret = "tok_s3cret_value";
/** Long enough ago to be compared with a list of orders. */
const eventTime = new Date(Date.now() - 4 * 86_400_000).toISOString();
const ended = "This link is not valid, or no longer.\n";

/** Texts of a PDF are hexadecimal strings in compressed streams. */
function textOfPdf(file: Buffer): string {
  const latin = file.toString("latin1");
  const texts: string[] = [];
  for (const found of latin.matchAll(/stream\r?\n/g)) {
    const start = found.index + found[0].length;
    const bytes = file.subarray(start, latin.indexOf("endstream", start));
    let content = "";
    try {
      content = inflateSync(bytes).toString("latin1");
    } catch {
      continue;
    }
    for (const [, hex = ""] of content.matchAll(/<([0-9A-F]+)> Tj/gi)) texts.push(Buffer.from(hex, "hex").toString("latin1"));
  }
  return texts.join("\n");
}

describe.each(endToEndEngines)("shared links on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let site: SiteSetup;
  let other: SiteSetup;

  type Link = { id: string; scope: "report" | "wall"; token: string; url: string };
  async function share(scope: Link["scope"], ...options: string[]): Promise<Link> {
    const { url, link } = await home.run("share", "add", site.siteId, scope, "Agency", ...options);
    return { id: link.id, scope, token: new URL(url).hash.slice(1), url };
  }
  const get = (path: string, cookie = "", headers: Record<string, string> = {}) =>
    call(relay.url, { method: "GET", path, headers: { ...(cookie && { cookie }), ...headers } });
  const open = ({ scope, id }: Pick<Link, "scope" | "id">, given: unknown, headers: Record<string, string> = {}) =>
    call(relay.url, {
      path: `/${scope}/${id}/open`,
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(given),
    });
  const cookieOf = ({ headers }: Answer) => (headers["set-cookie"]?.[0] ?? "").split(";", 1)[0] ?? "";
  async function enter(link: Link): Promise<string> {
    const opened = await open(link, { token: link.token });
    expect(opened.status).toBe(204);
    return cookieOf(opened);
  }
  const pdf = async (path: string, cookie: string) => {
    const answer = await fetch(new URL(path, relay.url), { headers: { cookie } });
    return { answer, file: Buffer.from(await answer.arrayBuffer()) };
  };

  beforeAll(async () => {
    home = await newInstallation(engine);
    const platform = await startReceiver();
    platform.behave = (request, response) => {
      const isBad = request.text.includes("S-3");
      response.writeHead(isBad ? 400 : 200).end(isBad ? `rejected ${person.email} ${secret}` : "ok");
    };
    site = await setUpSite(home, [
      ["webhook", { url: `${platform.url}/hook/${secret}` }],
      ["sandbox", {}],
    ]);
    other = await setUpSite(home, [], "other.example.com");
    // As if they had been there when the orders were placed.
    await change(home, "UPDATE connections SET created_at = 1");
    relay = await home.start();
    for (const i of [1, 2, 3, 4])
      await relay.post(site.key, { event: "purchase", orderId: `S-${i}`, value: 10 * i, currency: "EUR", ...person, eventTime });
    for (const i of [6, 7])
      await relay.post(site.key, { event: "purchase", orderId: `S-${i}`, value: 5, currency: "EUR", ...person });
    await eventually("the platforms have answered", async () => {
      const { items } = await home.run("delivery", "list", site.siteId);
      return items.length >= 12 && items.every(({ state }: { state: string }) => state !== "queued");
    });
  });

  test("a link opens the report once its token was exchanged for a cookie of its own path", async () => {
    const link = await share("report");
    const before = await get(`/report/${link.id}`);
    expect(before.status).toBe(200);
    expect(before.text).not.toContain("shop.example.com");
    const opened = await open(link, { token: link.token });
    expect(opened.headers["set-cookie"]?.[0]).toMatch(
      new RegExp(`^cleancast_shared=[\\w.-]+; Path=/report/${link.id}; Max-Age=\\d+; HttpOnly; SameSite=Strict$`),
    );
    const page = await get(`/report/${link.id}`, cookieOf(opened));
    expect(page.text).toContain("shop.example.com");
    expect(page.text).toContain("Where the conversions went");
    const german = await get(`/report/${link.id}`, cookieOf(opened), { "accept-language": "fr, de-AT;q=0.9, en;q=0.8" });
    expect(german.text).toContain("Wohin die Conversions gingen");
    const [{ opened_at }] = (await rows(home, `SELECT opened_at FROM shared_links WHERE id = '${link.id}'`)) as [
      { opened_at: unknown },
    ];
    expect(Number(opened_at)).toBeGreaterThan(0);
  });

  test("the token is stored as a hash, and is in no log, no list and no audit line", async () => {
    const link = await share("report", "--password", "correct horse battery");
    const stored = (await rows(home, "SELECT * FROM shared_links")).flatMap((row) => Object.values(row).map(String)).join("\n");
    const listed = JSON.stringify(await home.run("share", "list", site.siteId));
    const audit = JSON.stringify(await home.run("audit", site.siteId));
    await open(link, { token: link.token, password: "correct horse battery" });
    for (const text of [stored, listed, audit, relay.output()]) {
      expect(text).not.toContain(link.token);
      expect(text).not.toContain("correct horse");
    }
    expect(audit).toContain("link shared");
  });

  test("a list of orders makes the report begin with it, and names the money that never arrived", async () => {
    const list = join(freshFolder(), "orders.csv");
    const lines = [1, 2, 3, 4, 5].map((i) => `S-${i},${eventTime},${10 * i},EUR`);
    writeFileSync(list, ["order_id,time,value,currency", ...lines, ""].join("\n"));
    await home.run("reconcile", "upload", site.siteId, list);
    await home.run("reconcile", "start", site.siteId);
    await eventually("the comparison is done", async () => {
      const { items } = await home.run("reconcile", "list", site.siteId);
      return items[0]?.state === "done";
    });
    const link = await share("report");
    const cookie = await enter(link);
    const { text } = await get(`/report/${link.id}`, cookie);
    expect(text).toContain("Where the orders went");
    expect(text).toContain("5 orders, 80% received.");
    // S-5 was never received, S-3 was rejected: 50 + 30 of 150.
    expect(text).toContain("€80.00 never reached Webhook.");
    expect(text).toContain("€50.00 never reached Sandbox.");
    expect(text).toContain("1 never received from the shop, 1 rejected by the platform");
    expect(text).not.toContain("S-5");
    const { file } = await pdf(`/report/${link.id}/report.pdf`, cookie);
    // The standard fonts write the euro as one byte.
    expect(textOfPdf(file).replaceAll("\x80", "€")).toContain("€80.00 never reached Webhook.");
  });

  test("no search engine, cache, frame or other site gets anything of it", async () => {
    const link = await share("report");
    const cookie = await enter(link);
    for (const path of [`/report/${link.id}`, `/report/${link.id}/report.pdf`, `/wall/${link.id}/data`, "/shared/report.css"]) {
      const { headers } = await get(path, cookie);
      expect(headers["x-robots-tag"]).toBe("noindex, nofollow, noarchive");
      expect(headers["referrer-policy"]).toBe("no-referrer");
      expect(headers["cache-control"]).toMatch(/^no-(?:store|cache)$/);
      expect(headers["content-security-policy"]).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
      expect(headers["content-security-policy"]).not.toMatch(/unsafe|https?:|\*/);
    }
    const { text } = await get(`/report/${link.id}`, cookie);
    expect(
      [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, target]) => target).filter((one) => !one?.startsWith("/")),
    ).toEqual([]);
  });

  test("wrong, expired, revoked and unknown links get the same answer, and so do those of another scope", async () => {
    const [link, old, gone] = [await share("report"), await share("report"), await share("report")];
    const cookies = [await enter(old), await enter(gone)];
    await change(home, `UPDATE shared_links SET expires_at = 1 WHERE id = '${old.id}'`);
    await home.run("share", "remove", site.siteId, gone.id);
    const answers = [
      await open(link, { token: `${link.token}x` }),
      await open(link, { token: "" }),
      await open(link, "not an object"),
      await open(old, { token: old.token }),
      await open(gone, { token: gone.token }),
      await open({ scope: "report", id: "nolink" }, { token: link.token }),
      await open({ scope: "wall", id: link.id }, { token: link.token }),
    ];
    for (const { status, text, headers } of answers) {
      expect([status, text]).toEqual([404, ended]);
      expect(headers["set-cookie"]).toBeUndefined();
    }
    // Cookies that were given before end too, within two seconds.
    await eventually("the cookies of ended links are refused", async () => {
      const pages = [
        await get(`/report/${old.id}/report.pdf`, cookies[0]),
        await get(`/report/${gone.id}/report.pdf`, cookies[1]),
      ];
      return pages.every(({ status, text }) => status === 404 && text === ended);
    });
    const opener = await get("/report/nolink");
    for (const id of [link.id, old.id, gone.id]) expect((await get(`/report/${id}`)).text).toBe(opener.text);
  });

  test("the cookie of one link opens no other, and a changed one opens nothing", async () => {
    const [one, two, wall] = [await share("report"), await share("report"), await share("wall")];
    const cookie = await enter(one);
    expect((await get(`/report/${one.id}/report.pdf`, cookie)).status).toBe(200);
    const [name, value] = cookie.split("=") as [string, string];
    const [until = "", signature = ""] = value.split(".");
    const changed = `${name}=${Number(until) + 1}.${signature}`;
    for (const [path, sent] of [
      [`/report/${two.id}/report.pdf`, cookie],
      [`/wall/${wall.id}/data`, cookie],
      [`/wall/${one.id}/data`, cookie],
      [`/report/${one.id}/report.pdf`, changed],
      [`/report/${one.id}/report.pdf`, `${name}=${until}.`],
      [`/report/${one.id}/report.pdf`, ""],
    ] as const) {
      const answer = await get(path, sent);
      expect([path, answer.status, answer.text]).toEqual([path, 404, ended]);
    }
  });

  test("the views are not served on a customer's host, and other sites cannot revoke the link", async () => {
    const link = await share("report");
    expect((await get(`/report/${link.id}`, "", { host: "shop.example.com" })).status).toBe(404);
    expect((await home.fails("share", "remove", other.siteId, link.id)).error).toContain("There is no such shared link.");
    await enter(link);
  });

  test("a password is asked for only with the right token, and guesses are limited", async () => {
    const link = await share("report", "--password", "correct horse battery");
    expect((await open(link, { token: "wrong", password: "correct horse battery" })).status).toBe(404);
    const needed = await open(link, { token: link.token });
    expect([needed.status, needed.text]).toEqual([401, '{"password":"needed"}']);
    expect((await open(link, { token: link.token, password: "wrong" })).text).toBe('{"password":"wrong"}');
    expect((await open(link, { token: link.token, password: "correct horse battery" })).status).toBe(204);
    const guesses = [];
    for (let i = 0; i < 11; i++) guesses.push((await open(link, { token: link.token, password: `guess ${i}` })).status);
    expect(guesses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    expect(guesses.at(-1)).toBe(429);
    // Also with the right one: or the limit would tell nobody anything.
    const limited = await open(link, { token: link.token, password: "correct horse battery" });
    expect(limited.status).toBe(429);
    expect(Number(limited.headers["retry-after"])).toBeGreaterThan(0);
    expect((await home.fails("share", "add", site.siteId, "report", "x", "--password", "short")).error).toContain("at least 12");
    await change(home, "DELETE FROM rate_counters");
  });

  test("attempts with wrong tokens are limited for their network, and a link that works is never counted", async () => {
    const link = await share("report");
    for (let i = 0; i < 35; i++) expect((await open(link, { token: link.token })).status).toBe(204);
    const statuses = [];
    for (let i = 0; i < 31; i++) statuses.push((await open(link, { token: `wrong ${i}` })).status);
    expect([statuses[0], statuses.at(-1)]).toEqual([404, 429]);
    await change(home, "DELETE FROM rate_counters");
  });

  test("an expiry is always set: 30 days by default, and at most 400", async () => {
    const { link } = await home.run("share", "add", site.siteId, "report", "x");
    expect(Math.round((link.expiresAt - Date.now()) / 86_400_000)).toBe(30);
    const tooLong = await home.fails("share", "add", site.siteId, "report", "x", "--expires", "500d");
    expect(tooLong.error).toContain("at most 400 days");
  });

  test("the page, the file and the wall hold no contact data, no order id, no hash and no secret", async () => {
    const [report, wall] = [await share("report"), await share("wall")];
    const [reader, screen] = [await enter(report), await enter(wall)];
    const page = (await get(`/report/${report.id}`, reader)).text;
    const { answer, file } = await pdf(`/report/${report.id}/report.pdf`, reader);
    expect(answer.headers.get("content-type")).toBe("application/pdf");
    expect(answer.headers.get("content-disposition")).toMatch(/^attachment; filename="shop\.example\.com-\d{4}-\d\d-\d\d\.pdf"$/);
    const drawn = textOfPdf(file);
    expect(drawn).toContain("shop.example.com");
    const data = (await get(`/wall/${wall.id}/data`, screen)).text;
    expect((JSON.parse(data) as { today: { conversions: number } }).today.conversions).toBe(2);
    expect((JSON.parse(data) as { recent: unknown[] }).recent).toHaveLength(6);
    const hashes = (await rows(home, "SELECT email_sha256 FROM identities")).map((row) => String(row["email_sha256"]));
    const forbidden = [person.email, "jane.buyer", "15112345678", "janette", "buyerson", secret, "s-1", "s-3", "cc_", ...hashes];
    for (const text of [page, drawn, file.toString("latin1"), data])
      for (const one of forbidden) expect(text.toLowerCase().includes(one.toLowerCase()), one).toBe(false);
    expect(data).not.toMatch(/[0-9a-f]{64}/);
  });

  test("the message goes to the recipients of alerts, and holds no more than the report", async () => {
    expect((await home.fails("share", "send", site.siteId)).error).toContain("No alert recipient is configured");
    const chat = await startReceiver();
    await home.run("site", "set", site.siteId, `alert_webhook=${chat.url}/T0K3N`, "report_language=de");
    const sent = await home.run("share", "send", site.siteId);
    expect(sent.channels).toMatchObject([{ channel: "webhook", ok: true }]);
    const [message] = chat.bodies();
    expect(message?.["text"]).toMatch(/^shop\.example\.com: Wochenbericht/);
    const text = JSON.stringify(message);
    for (const one of [person.email, "jane", "buyer", secret, "S-1", "S-3", "T0K3N"]) expect(text.includes(one), one).toBe(false);
    expect(text).not.toMatch(/[0-9a-f]{64}/);
    await home.run("site", "set", site.siteId, "alert_webhook=none");
  });

  test("the wall hears of a conversion, with what each platform said of it", async () => {
    const link = await share("wall");
    const cookie = await enter(link);
    const stop = new AbortController();
    const feed = await fetch(new URL(`/wall/${link.id}/feed`, relay.url), { headers: { cookie }, signal: stop.signal });
    expect(feed.headers.get("content-type")).toContain("text/event-stream");
    let heard = "";
    const reading = (async () => {
      for await (const piece of feed.body ?? []) heard += Buffer.from(piece).toString();
    })().catch(() => {});
    await relay.post(site.key, { event: "purchase", orderId: "S-9", value: 77, currency: "EUR", ...person });
    await eventually("both platforms accepted it", () => (heard.match(/"state":"sent"/g)?.length ?? 0) >= 2);
    expect(heard).toContain('"value":77');
    expect(heard).not.toContain("S-9");
    expect(heard).not.toContain("jane");
    await home.run("share", "remove", site.siteId, link.id);
    await reading;
    expect((await get(`/wall/${link.id}/data`, cookie)).status).toBe(404);
    stop.abort();
  });
});
