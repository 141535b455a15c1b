// The platform `webhook`: its requests, its rules for success, and the addresses that it refuses. None depends on the engine.

import type { ServerResponse } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import { newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { accepted, freshEvent, summarize } from "../contract/answers.ts";

const sent = accepted("purchase", { webhook: { ok: true } });
const rejected = (error: string) => accepted("purchase", { webhook: { ok: false, status: "rejected", error } });

describe("the webhook platform", () => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  const sites = new Map<string, TestSite>();
  let testKey: string;

  async function site(name: string, ...settings: string[]): Promise<void> {
    const added = await home.addSite(`${name}.example`);
    sites.set(name, added);
    await home.run("connection", "add", added.host, "webhook", `url=${receiver.url}/${name}?token=a%20b`, ...settings);
  }

  const template = {
    order: "{{orderId}}",
    total: "{{value}}",
    note: "{{ event }} in {{currency}} for {{value}}",
    click: "{{clickIds.gclid}}",
    all: "{{clickIds}}",
    nothing: "{{clickIds.msclkid}}",
    blank: "<{{clickIds.msclkid}}>",
    nested: [{ who: "{{emailSha256}}" }, 1, true, null],
    fixed: "{not a field}",
  };

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation("sqlite");
    await site("plain");
    testKey = (await home.run("key", "add", "plain.example", "try", "--test")).key;
    const headers = {
      Authorization: "Bearer s3cret",
      "X-Shop": "north",
      "content-type": "application/vnd.shop+json",
    };
    await site("shaped", "method=PUT", `headers=${JSON.stringify(headers)}`, `template=${JSON.stringify(template)}`);
    await site("patched", "method=PATCH");
    await site("ruled", "success=200-204, 409, data.ok=true");
    await site("narrow", "success=202");
    await home.run("identity", "put", "plain.example", "--email", "ada@example.com", "gclid=Click-1", "utm_source=mail");
    await home.run("identity", "put", "shaped.example", "--email", "ada@example.com", "gclid=Click-1");
    relay = await home.start();
  });

  const send = async (name: string, event: Record<string, unknown>, key = sites.get(name)?.key ?? "") =>
    summarize(await relay.post(key, event));
  const last = () => receiver.got.at(-1) as ReceivedRequest;
  const answer = (status: number, body: string) => {
    receiver.behave = (_request: ReceivedRequest, response: ServerResponse) => response.writeHead(status).end(body);
  };

  test("without a template the whole conversion is posted as JSON", async () => {
    answer(200, "");
    const event = {
      email: "Ada@Example.com",
      event: "purchase",
      value: 49.9,
      currency: "eur",
      orderId: "A-1001",
      firstName: "Ada",
      lastName: "Byron",
      phone: "+1 425 555 1234",
      eventTime: Math.floor(Date.now() / 1000) - 60,
    };
    expect(await send("plain", event)).toEqual(sent);
    expect([last().method, last().path]).toEqual(["POST", "/plain?token=a%20b"]);
    expect(last().headers["content-type"]).toBe("application/json");
    const { platformEventId } = JSON.parse(last().text);
    expect(last().text).toBe(
      JSON.stringify({
        platformEventId,
        event: "purchase",
        eventTime: new Date(event.eventTime * 1000).toISOString(),
        value: 49.9,
        currency: "EUR",
        orderId: "A-1001",
        emailSha256: sha256Of("ada@example.com"),
        phoneSha256: sha256Of("+14255551234"),
        clickIds: { gclid: "Click-1" },
        utm: { utm_source: "mail" },
        consent: "unknown",
      }),
    );
    expect(platformEventId).toMatch(/^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    // The event can be found by the id that the receiver knows.
    const trace = await home.run("event", "show", platformEventId);
    expect(trace).toMatchObject({ orderId: "A-1001", platformEventId, status: "accepted" });
  });

  test("the sender's key and plain contact data never leave the relay", async () => {
    const event = freshEvent({ firstName: "Augusta", lastName: "Byron", phone: "+14255551234" });
    await send("plain", event);
    const whole = JSON.stringify(last());
    for (const secret of ["Augusta", "Byron", "4255551234", "ada@example.com", sites.get("plain")?.key]) {
      expect(whole).not.toContain(secret);
    }
  });

  test("an event of a test key is marked as a test, one of a live key is not", async () => {
    await send("plain", freshEvent(), testKey);
    expect(last().headers["x-cc-test"]).toBe("true");
    await send("plain", freshEvent());
    expect(last().headers["x-cc-test"]).toBeUndefined();
  });

  test("method, headers and template shape the request; a field that is the whole text keeps its type", async () => {
    const event = freshEvent({ value: 49.9, currency: "EUR" });
    expect(await send("shaped", event)).toEqual(sent);
    expect(last().method).toBe("PUT");
    expect(last().headers).toMatchObject({
      authorization: "Bearer s3cret",
      "x-shop": "north",
      "content-type": "application/vnd.shop+json",
    });
    expect(JSON.parse(last().text)).toEqual({
      order: event.orderId,
      total: 49.9,
      note: "purchase in EUR for 49.9",
      click: "Click-1",
      all: { gclid: "Click-1" },
      nothing: null,
      blank: "<>",
      nested: [{ who: sha256Of("ada@example.com") }, 1, true, null],
      fixed: "{not a field}",
    });
  });

  test("no value breaks out of its place in a template, and none is expanded twice", async () => {
    const event = freshEvent({ event: '","x":"{{emailSha256}}$&', orderId: '{{orderId}}"' });
    await send("shaped", event);
    const body = JSON.parse(last().text);
    expect(Object.keys(body)).toEqual(Object.keys(template));
    expect(body.order).toBe(event.orderId);
    expect(body.note).toBe(`${String(event.event)} in USD for `);
  });

  test("the method can be PATCH", async () => {
    expect(await send("patched", freshEvent())).toEqual(sent);
    expect(last().method).toBe("PATCH");
  });

  test.each<[number, string, string | null]>([
    [200, '{"data":{"ok":true}}', null],
    [204, "", "the answer does not have data.ok=true"],
    [409, '{"data":{"ok":true,"more":1}}', null],
    [200, '{"data":{"ok":false}}', "the answer does not have data.ok=true"],
    [200, "no JSON", "the answer does not have data.ok=true"],
    [205, '{"data":{"ok":true}}', "HTTP 205 is not in the success rule"],
    [400, '{"data":{"ok":true}}', "HTTP 400"],
  ])("the rule 200-204, 409, data.ok=true reads an answer %d %s as %s", async (status, body, error) => {
    answer(status, body);
    expect(await send("ruled", freshEvent())).toEqual(error === null ? sent : rejected(error));
  });

  test("the rule 202 accepts no other status as success", async () => {
    answer(202, "");
    expect(await send("narrow", freshEvent())).toEqual(sent);
    answer(200, "");
    expect(await send("narrow", freshEvent())).toEqual(rejected("HTTP 200 is not in the success rule"));
  });

  test("every 2xx is success without a rule", async () => {
    for (const status of [200, 201, 204, 299]) {
      answer(status, "");
      expect(await send("plain", freshEvent())).toEqual(sent);
    }
  });

  test("secret headers and the path of an address are shown neither in the list nor in the trace", async () => {
    answer(200, "");
    const event = freshEvent();
    await send("shaped", event);
    const { items: connections } = await home.run("connection", "list", "shaped.example");
    expect(connections).toMatchObject([
      {
        platform: "webhook",
        state: "active",
        stateReason: null,
        events: null,
        settings: { url: `${receiver.url}/…`, method: "PUT", headers: "(configured)" },
      },
    ]);
    const { items: events } = await home.run("event", "list", "shaped.example", "--order", String(event.orderId));
    const trace = JSON.stringify(await home.run("event", "show", events[0].id));
    expect(trace).toContain(`PUT ${receiver.url}/…`);
    expect(JSON.stringify(connections) + trace).not.toMatch(/s3cret|token=/);
  });

  test.each([
    [
      "no address",
      [],
      "url is required: The HTTPS URL that receives each conversion. It must be reachable from the internet.",
      "url",
    ],
    ["an address of another kind", ["url=ftp://hooks.example.com"], "url must be an http(s) address.", "url"],
    ["a password in the address", ["url=https://u:p@hooks.example.com"], "url must not contain a user name or password", "url"],
    [
      "a method that carries no body",
      ["url=https://hooks.example.com", "method=GET"],
      "method must be POST, PUT or PATCH.",
      "method",
    ],
    [
      "headers that are no JSON",
      ["url=https://hooks.example.com", "headers=X-Shop: north"],
      "headers must be a JSON object of header names and text values.",
      "headers",
    ],
    [
      "headers that break the line",
      ["url=https://hooks.example.com", 'headers={"X-Shop":"a\\r\\nb"}'],
      "headers must be a JSON object of header names and text values.",
      "headers",
    ],
    [
      "a template that is no JSON",
      ["url=https://hooks.example.com", "template={{orderId}}"],
      "template must be valid JSON.",
      "template",
    ],
    [
      "an invalid success rule",
      ["url=https://hooks.example.com", "success=fine"],
      "success must be a list like 2xx, 200-204 or status=ok.",
      "success",
    ],
    [
      "an unknown setting",
      ["url=https://hooks.example.com", "color=red"],
      "color is not a setting of webhook. Known: url, method, headers, signing_secret, template, success, events, value.NAME.",
      "color",
    ],
  ])("connect refuses %s", async (_what, settings, error, field) => {
    expect(await home.fails("connection", "add", "plain.example", "webhook", ...settings)).toMatchObject({
      error,
      field,
    });
  });

  test("connect refuses a template that names a field which no conversion has", async () => {
    const settings = ["url=https://hooks.example.com", 'template={"a":"{{email}}"}'];
    const { error } = await home.fails("connection", "add", "plain.example", "webhook", ...settings);
    expect(error).toMatch(/^template names \{\{email\}\}, which a conversion does not have \(known: platformEventId, event, /);
  });

  test("a refused connect creates no connection", async () => {
    const { items: connections } = await home.run("connection", "list", "plain.example");
    expect(connections).toHaveLength(1);
  });
});

describe("private webhook addresses", () => {
  let open: Installation;
  let closed: Installation;
  let relay: Relay;
  let receiver: Receiver;
  const keys = new Map<string, string>();
  const port = () => new URL(receiver.url).port;

  beforeAll(async () => {
    receiver = await startReceiver();
    open = await newInstallation("sqlite");
    // The same installation, run by an operator who allows nothing.
    closed = open.with({ CLEANCAST_ALLOW_PRIVATE: "" });
    for (const [host, url] of [
      ["by-http.example", receiver.url],
      ["by-name.example", `http://localhost:${port()}`],
      ["by-https.example", `https://127.0.0.1:${port()}`],
      ["by-https-name.example", `https://localhost:${port()}`],
    ] as const) {
      keys.set(host, (await open.addSite(host)).key);
      await open.run("connection", "add", host, "webhook", `url=${url}`);
    }
    relay = await closed.start();
  });

  const mustBeHttps = "must use https (CLEANCAST_ALLOW_PRIVATE opens hosts for plain http)";
  const isPrivate = "leads to a private address (CLEANCAST_ALLOW_PRIVATE opens it)";

  test.each([
    ["http://hooks.example.com/x", "url must use https"],
    ["http://203.0.113.7/x", `url ${mustBeHttps}`],
    ["http://127.0.0.1:8080/x", `url ${mustBeHttps}`],
    ["https://127.0.0.1/x", `url ${isPrivate}`],
    ["https://10.1.2.3/x", `url ${isPrivate}`],
    ["https://172.16.0.1/x", `url ${isPrivate}`],
    ["https://192.168.1.1/x", `url ${isPrivate}`],
    ["https://169.254.169.254/latest/meta-data", `url ${isPrivate}`],
    ["https://100.64.0.1/x", `url ${isPrivate}`],
    ["https://0.0.0.0/x", `url ${isPrivate}`],
    ["https://2130706433/x", `url ${isPrivate}`],
    ["https://0x7f.1/x", `url ${isPrivate}`],
    ["https://[::1]/x", `url ${isPrivate}`],
    ["https://[fd00::1]/x", `url ${isPrivate}`],
    ["https://[fe80::1]/x", `url ${isPrivate}`],
    ["https://[::ffff:10.0.0.1]/x", `url ${isPrivate}`],
  ])("connect refuses %s: %s", async (url, error) => {
    const refusal = await closed.fails("connection", "add", "by-http.example", "webhook", `url=${url}`);
    expect(refusal).toMatchObject({ error, field: "url" });
  });

  test("connect accepts a public address over HTTPS", async () => {
    const url = "url=https://hooks.example.com/x";
    await closed.addSite("public.example");
    expect(await closed.run("connection", "add", "public.example", "webhook", url)).toMatchObject({
      connection: { platform: "webhook" },
    });
  });

  test.each([
    ["by-http.example", mustBeHttps],
    ["by-name.example", mustBeHttps],
    ["by-https.example", isPrivate],
    ["by-https-name.example", isPrivate],
  ])("a private address that %s kept from when it was allowed is refused when sending", async (host, error) => {
    const answer = summarize(await relay.post(keys.get(host) ?? "", freshEvent()));
    expect(answer).toEqual(rejected(`the address ${error}`));
    expect(receiver.got).toEqual([]);
  });

  test("the operator's replacement origin for a platform is used instead of any address", async () => {
    const home = await newInstallation("sqlite", {
      CLEANCAST_ALLOW_PRIVATE: "",
      CLEANCAST_PLATFORM_ORIGINS: JSON.stringify({ webhook: receiver.url }),
    });
    const { key } = await home.addSite("shop.example");
    await home.run("connection", "add", "shop.example", "webhook", "url=https://hooks.example.com/x/y?z=1");
    const proxied = await home.start();
    expect(summarize(await proxied.post(key, freshEvent()))).toEqual(sent);
    expect(receiver.got.map(({ path }) => path)).toEqual(["/x/y?z=1"]);
  });
});
