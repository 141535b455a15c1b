// One set of public forms: with --json, a command prints what the management API answers for the same thing. Every command is
// in one of two lists, and those with a counterpart run beside their route on the same installation.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { becomeOwner, invite, type Person } from "../support/apiClient.ts";
import { freshFolder } from "../support/databases.ts";
import { dayMs } from "../../src/kernel/time.ts";
import { leafCommands } from "../support/leafCommands.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";
import { botHeaders, report } from "../support/visits.ts";

/** These read and write files of the server, or show what only its operator can see. */
const withoutCounterpart: readonly string[] = [
  "serve",
  "migrate",
  "doctor",
  "backup",
  "restore",
  "restore-drill",
  "check",
  "vacuum",
  "move",
  "site move",
  "encryption-key rotate",
  "encryption-key lost",
  "config-schema",
  "export data",
  "export due",
  "mcp",
  "completion",
  "key generate",
  "identity put",
  "import conversions",
  "import identities",
  "reconcile upload",
  "reconcile export",
  "member sessions",
  "backfill list",
  "traffic counts",
  "webhook repair",
];

/** Two sites with the same things: a command changes one of them, and its route the other. */
type Twin = {
  source: string;
  /** The file of a request of the source. */
  payload: string;
  host: string;
  site: string;
  /** The platform of an OAuth app. */
  app: string;
  key: string;
  apiKey: string;
  link: string;
  connection: string;
  webhook: string;
  /** Connected after the events: it can be given them. */
  late: string;
  event: string;
  filtered: string;
  visit: string;
  run: string;
  file: string;
  person: string;
  member: { email: string; id: string };
};
type Step = {
  args: (of: Twin) => string[];
  /** The route; several where a command joins what they answer. */
  route: (of: Twin) => string | Record<string, string>;
  body?: (of: Twin) => unknown;
  /** The state does not allow it: both refuse it for the same reason. */
  isRefused?: true;
  /** The part of the answer that the command is about. */
  pick?: (answer: any, of: Twin) => unknown; // oxlint-disable-line typescript/no-explicit-any -- the shape differs with the route
};

const day = (offset: number) => new Date(Date.now() + offset * 86_400_000).toISOString().slice(0, 10);
const at = "2026-11-15T12:00Z";
const ofSite = (path: string) => (of: Twin) => `${path.split(" ")[0]} /sites/${of.site}${path.split(" ")[1] ?? ""}`;
const ofConnection =
  (method: string, path = "") =>
  (of: Twin) =>
    `${method} /sites/${of.site}/connections/${of.connection}${path}`;
const ofWebhook =
  (method: string, path = "") =>
  (of: Twin) =>
    `${method} /sites/${of.site}/webhooks/${of.webhook}${path}`;
const ofSource =
  (method: string, path = "") =>
  (of: Twin) =>
    `${method} /sites/${of.site}/sources/${of.source}${path}`;
const ofRun =
  (method: string, path = "") =>
  (of: Twin) =>
    `${method} /sites/${of.site}/reconciliations/${of.run}${path}`;
const person = ({ person: email }: Twin) => ({ email });

const fileOf = (host: string) => `version: 1\nsites:\n  - hosts: [${host}]\n    settings: { rate_limit: "60" }\n`;

/** In an order in which each finds what it needs. */
const steps: Record<string, Step> = {
  "site list": { args: () => [], route: () => "GET /sites" },
  "site show": {
    args: ({ host }) => [host],
    route: ({ site }) => ({
      site: `GET /sites/${site}`,
      hosts: `GET /sites/${site}/hosts`,
      keys: `GET /sites/${site}/keys`,
      connections: `GET /sites/${site}/connections`,
      webhooks: `GET /sites/${site}/webhooks`,
      settings: `GET /sites/${site}/settings`,
    }),
  },
  "site add": { args: ({ host }) => [`new.${host}`], route: () => "POST /sites", body: ({ host }) => ({ host: `new.${host}` }) },
  "site set": {
    args: ({ host }) => [host, "country=DE"],
    route: ofSite("PATCH /settings"),
    body: () => ({ settings: { country: "DE" } }),
  },
  "host add": {
    args: ({ host }) => [host, `www.${host}`],
    route: ofSite("POST /hosts"),
    body: ({ host }) => ({ host: `www.${host}` }),
  },
  "host list": { args: ({ host }) => [host], route: ofSite("GET /hosts") },
  "host verify": { args: ({ host }) => [`www.${host}`], route: (of) => `POST /sites/${of.site}/hosts/www.${of.host}/verify` },
  "host pause": { args: ({ host }) => [`www.${host}`], route: (of) => `POST /sites/${of.site}/hosts/www.${of.host}/pause` },
  "host resume": { args: ({ host }) => [`www.${host}`], route: (of) => `POST /sites/${of.site}/hosts/www.${of.host}/resume` },
  "host remove": { args: ({ host }) => [`www.${host}`], route: (of) => `DELETE /sites/${of.site}/hosts/www.${of.host}` },
  "key add": { args: ({ host }) => [host, "second"], route: ofSite("POST /keys"), body: () => ({ name: "second" }) },
  "key list": { args: ({ host }) => [host], route: ofSite("GET /keys") },
  "key rotate": { args: ({ key }) => [key], route: (of) => `POST /sites/${of.site}/keys/${of.key}/rotate`, body: () => ({}) },
  "key remove": { args: ({ key }) => [key], route: (of) => `DELETE /sites/${of.site}/keys/${of.key}` },
  "member list": { args: () => [], route: () => "GET /members" },
  "member add": {
    args: ({ host }) => [`new@${host}`, "--role", "viewer"],
    route: () => "POST /members/invitations",
    body: ({ host }) => ({ email: `new@${host}`, role: "viewer", site: null }),
  },
  "member reset": { args: ({ member }) => [member.email], route: (of) => `POST /members/${of.member.id}/password-reset` },
  "member remove": { args: ({ member }) => [member.email], route: (of) => `DELETE /members/${of.member.id}` },
  "api-key add": {
    args: () => ["a program"],
    route: () => "POST /api-keys",
    body: () => ({ name: "a program", site: null, scopes: ["read"] }),
  },
  "api-key list": { args: () => [], route: () => "GET /api-keys" },
  "api-key remove": { args: ({ apiKey }) => [apiKey], route: ({ apiKey }) => `DELETE /api-keys/${apiKey}` },
  "platform list": { args: () => [], route: () => "GET /platforms" },
  "platform show": {
    args: () => ["meta"],
    route: () => "GET /platforms",
    pick: ({ items }) => items.find(({ id }: { id: string }) => id === "meta"),
  },
  "oauth app set": {
    args: () => ["google_ads", "client_id=c", "client_secret=s"],
    route: () => "PUT /oauth-apps/google_ads",
    body: () => ({ clientId: "c", clientSecret: "s" }),
  },
  "oauth app list": { args: () => [], route: () => "GET /oauth-apps" },
  "sign-in": {
    args: ({ host }) => [host, "google_ads", "--no-wait"],
    route: ofSite("POST /sign-ins"),
    body: () => ({ platform: "google_ads" }),
  },
  "oauth app remove": { args: ({ app }) => [app], route: ({ app }) => `DELETE /oauth-apps/${app}` },
  "connection add": {
    args: ({ host }) => [host, "webhook", "url=https://hooks.example.com/x", "--no-verify"],
    route: ofSite("POST /connections"),
    body: () => ({ platform: "webhook", settings: { url: "https://hooks.example.com/x" }, verify: "never" }),
  },
  "connection list": { args: ({ host }) => [host], route: ofSite("GET /connections") },
  "connection show": {
    args: ({ connection }) => [connection],
    route: ofSite("GET /connections"),
    pick: ({ items }, { connection }) => items.find(({ id }: { id: string }) => id === connection),
  },
  "connection set": {
    args: ({ connection }) => [connection, "success=2xx"],
    route: ofConnection("PATCH"),
    body: () => ({ settings: { success: "2xx" } }),
  },
  "connection rotate": { args: ({ connection }) => [connection], route: ofConnection("POST", "/rotate") },
  "connection preview": {
    args: ({ connection, event }) => [connection, "--event", event],
    route: ofSite("POST /connections/preview"),
    body: ({ connection, event }) => ({ platform: "webhook", connection, settings: {}, event }),
  },
  "connection values": {
    args: ({ connection }) => [connection, "purchase=20%"],
    route: ofConnection("POST", "/values/preview"),
    body: () => ({ values: { purchase: "20%" } }),
  },
  "connection verify": { args: ({ connection }) => [connection], route: ofConnection("POST", "/verify") },
  "connection test": { args: ({ connection }) => [connection], route: ofConnection("POST", "/test"), body: () => ({}) },
  "connection choices": {
    args: ({ host }) => [host, "webhook", "method"],
    route: ofSite("POST /connections/choices"),
    body: ({ connection }) => ({ platform: "webhook", setting: "method", connection, settings: {} }),
    isRefused: true,
  },
  "connection pause": { args: ({ connection }) => [connection], route: ofConnection("POST", "/pause") },
  "connection resume": { args: ({ connection }) => [connection], route: ofConnection("POST", "/resume") },
  "event list": {
    args: ({ host }) => [host, "--limit", "1", "--event", "purchase", "--from", "2026-11-15"],
    route: ofSite(`GET /events?limit=1&event=purchase&from=${Date.parse("2026-11-15")}`),
  },
  "event sources": {
    args: ({ host }) => [host, "--days", "7", "--model", "linear"],
    route: ({ site }) => {
      const to = Math.ceil(Date.now() / dayMs) * dayMs;
      return `GET /sites/${site}/statistics?from=${to - 7 * dayMs}&to=${to}&model=linear`;
    },
  },
  "event stages": { args: ({ host }) => [host], route: ofSite("GET /lead-stages") },
  "event show": { args: ({ event }) => [event], route: (of) => `GET /sites/${of.site}/events/${of.event}` },
  why: { args: ({ host, event }) => [event, "--site", host], route: (of) => `GET /sites/${of.site}/why?id=${of.event}` },
  "what-if": {
    args: ({ host }) => [host, "bot_threshold=75", "--days", "7"],
    route: ofSite("POST /what-if"),
    body: () => ({ settings: { bot_threshold: "75" }, days: 7 }),
  },
  "event release": { args: ({ filtered }) => [filtered], route: (of) => `POST /sites/${of.site}/events/${of.filtered}/release` },
  "delivery list": {
    args: ({ host, connection }) => [host, "--connection", connection, "--state", "sent,queued", "--order", "A-1"],
    route: (of) =>
      `GET /sites/${of.site}/deliveries?connection=${of.connection}&state=sent,queued&orderId=A-1&unselected=include&limit=20`,
  },
  "delivery show": {
    args: ({ event }) => [event],
    route: (of) => `GET /sites/${of.site}/events/${of.event}`,
    pick: ({ deliveries }) => ({ deliveries }),
  },
  "delivery replay": {
    // Of one order: the delivery of the released event may be on its way.
    args: ({ host }) => [host, "--state", "sent", "--order", "A-1", "--dry-run"],
    route: ofSite("POST /deliveries/replay"),
    body: () => ({ state: "sent", orderId: "A-1" }),
  },
  "delivery cancel": {
    args: ({ host }) => [host, "--state", "parked", "--dry-run"],
    route: ofSite("POST /deliveries/cancel"),
    body: () => ({ state: "parked" }),
  },
  "backfill start": {
    args: ({ late }) => [late, "--days", "1", "--per-minute", "1", "--yes"],
    route: ({ site, late }) => ({
      counted: `POST /sites/${site}/connections/${late}/backfill/count`,
      started: `POST /sites/${site}/connections/${late}/backfill`,
    }),
    body: () => ({ days: 1, perMinute: 1 }),
    pick: ({ counted, started }) => ({ counted, ...started }),
  },
  "backfill cancel": {
    args: ({ late }) => [late],
    route: ({ site, late }) => `POST /sites/${site}/connections/${late}/backfill/cancel`,
  },
  quality: { args: ({ host }) => [host], route: ofSite("GET /quality") },
  "correction add": {
    args: ({ host }) => [host, "A-1", "--value", "1"],
    route: ofSite("POST /corrections"),
    body: () => ({ orderId: "A-1", value: 1 }),
  },
  "correction list": {
    args: ({ host }) => [host, "--event", "purchase", "--from", "2026-11-15"],
    route: ofSite(`GET /corrections?event=purchase&from=${Date.parse("2026-11-15")}`),
  },
  "import list": { args: ({ host }) => [host], route: ofSite("GET /imports") },
  "reconcile start": {
    args: ({ host }) => [host, "--from", day(-1), "--to", day(0)],
    route: ofSite("POST /reconciliations"),
    body: () => ({ from: day(-1), to: day(0) }),
  },
  "reconcile list": { args: ({ host }) => [host], route: ofSite("GET /reconciliations") },
  "reconcile show": { args: ({ host, run }) => [host, run], route: ofRun("GET") },
  "reconcile rows": {
    args: ({ host, run }) => [host, run, "--class", "missing_here"],
    route: ofRun("GET", "/rows?class=missing_here"),
  },
  "reconcile send": {
    args: ({ host, run }) => [host, run, "--yes"],
    route: ofRun("POST", "/missing/send"),
    body: () => ({}),
  },
  "reconcile correct": {
    args: ({ host, run }) => [host, run, "--yes"],
    route: ofRun("POST", "/corrections"),
    body: () => ({ class: "status_changed" }),
  },
  "reconcile cancel": { args: ({ host, run }) => [host, run], route: ofRun("POST", "/cancel"), isRefused: true },
  "reconcile feed set": {
    args: ({ host }) => [host, "https://shop.example.com/orders.csv"],
    route: ofSite("PUT /order-feed"),
    body: () => ({ url: "https://shop.example.com/orders.csv" }),
  },
  "reconcile feed show": { args: ({ host }) => [host], route: ofSite("GET /orders") },
  "reconcile feed fetch": { args: ({ host }) => [host], route: ofSite("POST /order-feed/fetch") },
  "reconcile feed remove": { args: ({ host }) => [host], route: ofSite("DELETE /order-feed") },
  "export schedule set": {
    args: ({ host }) => [host, "s3://my-bucket/x", "--endpoint", "https://s3.example.com", "--key-id", "K", "--secret", "s3cret"],
    route: ofSite("PUT /data-export"),
    body: () => ({ to: "s3://my-bucket/x", endpoint: "https://s3.example.com", keyId: "K", secret: "s3cret" }),
  },
  "export schedule show": { args: ({ host }) => [host], route: ofSite("GET /data-export") },
  "export schedule retry": { args: ({ host }) => [host], route: ofSite("POST /data-export/retry") },
  "export schedule remove": { args: ({ host }) => [host], route: ofSite("DELETE /data-export") },
  "share add": {
    args: ({ host }) => [host, "wall", "a screen"],
    route: ofSite("POST /shared-links"),
    body: () => ({ scope: "wall", name: "a screen" }),
  },
  "share list": { args: ({ host }) => [host], route: ofSite("GET /shared-links") },
  "share remove": {
    args: ({ link, host }) => [host, link],
    route: ({ site, link }) => `DELETE /sites/${site}/shared-links/${link}`,
  },
  "share send": { args: ({ host }) => [host], route: ofSite("POST /weekly-report/send") },
  "alert list": { args: ({ host }) => [host], route: ofSite("GET /alerts") },
  "alert test": { args: ({ host }) => [host], route: ofSite("POST /alerts/test") },
  audit: {
    args: ({ host }) => [host, "--limit", "3", "--from", "2026-11-15"],
    route: ofSite(`GET /audit?limit=3&from=${Date.parse("2026-11-15")}`),
  },
  // Each node knows the visits that it received itself.
  tag: { args: ({ host }) => [host], route: ofSite("GET /tag"), pick: (answer) => ({ ...answer, seen: null }) },
  "traffic check": {
    args: ({ host }) => [host, "--user-agent", "curl/8", "--ip", "203.0.113.9", "--header", "sec-fetch-site="],
    route: ofSite("POST /traffic/check"),
    body: () => ({ userAgent: "curl/8", address: "203.0.113.9", headers: { "sec-fetch-site": "" } }),
  },
  "traffic bots": {
    args: ({ host }) => [host, "--from", "2026-11-15"],
    route: ofSite(`GET /bots?limit=20&from=${Date.parse("2026-11-15")}`),
  },
  "traffic clicks": { args: ({ host }) => [host], route: ofSite("GET /invalid-clicks?days=30") },
  "traffic evidence": { args: ({ host }) => [host], route: ofSite("GET /traffic/evidence?hours=336") },
  "traffic replay": { args: ({ visit }) => [visit], route: (of) => `GET /sites/${of.site}/bots/${of.visit}` },
  "webhook add": {
    args: ({ host }) => [host, "https://hooks.example.com/y", "--no-empty"],
    route: ofSite("POST /webhooks"),
    body: () => ({ url: "https://hooks.example.com/y", sendEmpty: false }),
  },
  "webhook list": { args: ({ host }) => [host], route: ofSite("GET /webhooks") },
  "webhook test": { args: ({ webhook }) => [webhook], route: ofWebhook("POST", "/test") },
  "webhook show": {
    args: ({ webhook }) => [webhook],
    route: ({ site, webhook }) => ({
      webhook: `GET /sites/${site}/webhooks`,
      pushes: `GET /sites/${site}/webhooks/${webhook}/pushes?limit=20`,
    }),
    pick: ({ webhook, pushes }, of) => ({
      webhook: webhook.items.find(({ id }: { id: string }) => id === of.webhook),
      pushes,
    }),
  },
  "webhook rotate": { args: ({ webhook }) => [webhook], route: ofWebhook("POST", "/rotate") },
  "webhook disable": { args: ({ webhook }) => [webhook], route: ofWebhook("POST", "/disable") },
  "webhook enable": { args: ({ webhook }) => [webhook], route: ofWebhook("POST", "/enable") },
  "webhook replay": {
    args: ({ webhook }) => [webhook, "--period", at],
    route: ofWebhook("POST", "/replay"),
    body: () => ({ from: Date.parse(at), to: Date.parse(at) + 1 }),
    isRefused: true,
  },
  "source kinds": { args: () => [], route: () => "GET /source-kinds" },
  "source add": {
    args: ({ host }) => [host, "stripe", "signing_secret=s"],
    route: ofSite("POST /sources"),
    body: () => ({ kind: "stripe", settings: { signing_secret: "s" } }),
  },
  "source list": { args: ({ host }) => [host], route: ofSite("GET /sources") },
  "source show": {
    args: ({ source }) => [source],
    route: (of) => ({ shown: ofSource("GET")(of), requests: ofSource("GET", "/requests")(of) }),
    pick: ({ shown, requests }) => ({ ...shown, requests }),
  },
  "source set": {
    args: ({ source }) => [source, "--name", "Payments"],
    route: ofSource("PATCH"),
    body: () => ({ name: "Payments", settings: {} }),
  },
  "source fields": { args: ({ source }) => [source], route: ofSource("GET", "/shapes") },
  "source test": {
    args: ({ source, payload }) => [source, payload],
    route: ofSource("POST", "/preview"),
    body: () => ({ headers: { "content-type": "application/json" }, body: "{}" }),
  },
  "source pause": { args: ({ source }) => [source], route: ofSource("POST", "/pause") },
  "source resume": { args: ({ source }) => [source], route: ofSource("POST", "/resume") },
  "source rotate": { args: ({ source }) => [source], route: ofSource("POST", "/rotate") },
  "source remove": { args: ({ source }) => [source, "--yes"], route: ofSource("DELETE") },
  "webhook remove": { args: ({ webhook }) => [webhook, "--yes"], route: ofWebhook("DELETE") },
  "identity get": {
    args: (of) => [of.host, "--email", of.person],
    route: ofSite("POST /people/find"),
    body: person,
  },
  "person export": { args: (of) => [of.host, "--email", of.person], route: ofSite("POST /people/export"), body: person },
  "consent set": {
    args: (of) => [of.host, "denied", "--email", of.person],
    route: ofSite("POST /people/consent"),
    body: (of) => ({ ...person(of), decision: "denied" }),
  },
  "person erase": {
    args: (of) => [of.host, "--email", of.person, "--yes"],
    route: ofSite("POST /people/erase"),
    body: person,
  },
  "connection remove": { args: ({ connection }) => [connection, "--yes"], route: ofConnection("DELETE") },
  apply: {
    args: ({ file }) => [file, "--dry-run"],
    route: () => "POST /configuration/plan",
    body: ({ host }) => ({ text: fileOf(host) }),
  },
  "export configuration": { args: () => [], route: () => "GET /configuration" },
  "site remove": { args: ({ host }) => [host, "--yes"], route: ({ site, host }) => `DELETE /sites/${site}?confirm=${host}` },
};

/** Ids, secrets, times and durations differ between two calls, and names between the two sites. */
const masks: readonly [RegExp, string][] = [
  [/one\.example|two\.example/g, "HOST"],
  [/localhost:\d+/g, "RELAY"],
  [/owner@example\.com|command line/g, "ACTOR"],
  [/"isMe":\w+/g, ""],
  [/"durationMs":\d+/g, ""],
  [/\b\d{13}\b|\b\d{10}\b/g, "0"],
  [/\d{4}-\d{2}-\d{2}T[\d:.]+Z/g, "TIME"],
  [/[0-9a-f]{64}/g, "SHA256"],
  [/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "UUID"],
  // The mark stays, so that an id before it is still one word.
  [/#\w{32}/g, "#SECRET"],
  [/in\/\w{26}|(?:cc|ccm|whsec)_[\w+/=]+|v1,[\w+/=]+|start\/[\w.]+/g, "SECRET"],
  [/\b[0-9a-z]{26}\b|\b[0-9a-z]{10}\b/g, "ID"],
];

function masked(value: unknown): unknown {
  return JSON.parse(
    masks
      .reduce((text, [form, mask]) => text.replaceAll(form, mask), JSON.stringify(value))
      .replaceAll(/,+(?=[,}])|(?<=\{),+/g, ""),
  );
}

test("every command has a counterpart, or is known to have none", async () => {
  const names = (await leafCommands()).map(({ words }) => words.join(" "));
  expect(names.toSorted()).toEqual([...Object.keys(steps), ...withoutCounterpart].toSorted());
});

describe("with --json, a command prints what the API answers", () => {
  let home: Installation;
  let relay: Relay;
  let owner: Person;
  let receiver: Receiver;
  let twins: [Twin, Twin];

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation("sqlite", { CLEANCAST_DNS: "127.0.0.1:9" });
    const made = [await setUp("one.example"), await setUp("two.example")] as const;
    relay = await home.start();
    owner = await becomeOwner(relay);
    twins = [await fill("google_ads", made[0]), await fill("tiktok", made[1])];
  });

  async function setUp(host: string) {
    const { id: site, key } = await home.addSite(
      host,
      "block_domains=spam.test",
      "corrections=on",
      `alert_webhook=${receiver.url}`,
    );
    const { connection } = await home.run("connection", "add", host, "webhook", `url=${receiver.url}/${host}`);
    const { webhook } = await home.run("webhook", "add", host, `${receiver.url}/totals/${host}`);
    const { source } = await home.run("source", "add", host, "stripe", "signing_secret=s");
    const { items: keys } = await home.run("key", "list", host);
    const { id: apiKey } = await home.run("api-key", "add", host);
    const { link } = await home.run("share", "add", host, "report", "a client");
    await home.run("identity", "put", host, "--email", `ada@${host}`, "gclid=abc", "utm_source=mail");
    return {
      host,
      site,
      secret: key,
      key: keys[0].id,
      apiKey,
      link: link.id,
      connection: connection.id,
      webhook: webhook.id,
      source: source.id,
    };
  }

  async function fill(app: string, { secret, ...made }: Awaited<ReturnType<typeof setUp>>): Promise<Twin> {
    const { host } = made;
    const post = (email: string, orderId: string) =>
      relay.post(secret, { email, event: "purchase", orderId, value: 5, currency: "EUR" });
    expect((await post(`ada@${host}`, "A-1")).status).toBe(200);
    expect((await post("eve@spam.test", "A-2")).status).toBe(200);
    const { connection: late } = await home.run("connection", "add", host, "sandbox");
    // Its backfill waits, so that it can be cancelled.
    await home.run("connection", "pause", late.id);
    await home.run("oauth", "app", "set", app, "client_id=c", "client_secret=s");
    const folder = freshFolder();
    const [orders, file, payload] = ["orders.csv", "cleancast.yaml", "payload.json"].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(payload, "{}");
    const now = new Date().toISOString();
    writeFileSync(orders, `order,date,total,currency,email\nA-1,${now},5,EUR,ada@${host}\nA-9,${now},7,EUR,bo@${host}\n`);
    writeFileSync(file, fileOf(host));
    await home.run("reconcile", "upload", host, orders);
    const { reconciliation } = await home.run("reconcile", "start", host, "--from", day(-1), "--to", day(0), "--wait");
    for (let i = 0; i < 3; i += 1) await report(relay, host, "visit", {}, botHeaders);
    let visit = "";
    await eventually("the visits are stored", async () => {
      visit = (await home.run("traffic", "bots", host)).items[0]?.id ?? "";
      return visit !== "";
    });
    const [event] = (await home.run("event", "list", host, "--order", "A-1")).items;
    const [filtered] = (await home.run("event", "list", host, "--filtered")).items;
    const email = `member@${host}`;
    await invite(relay, owner, email, "viewer", null);
    const { members } = await home.run("member", "list");
    const member = members.find((one: { email: string }) => one.email === email);
    const found = { event: event.id, filtered: filtered.id, visit, run: reconciliation.id };
    return { ...made, ...found, app, late: late.id, file, payload, person: `ada@${host}`, member: { email, id: member.id } };
  }

  async function fromApi({ route, body, pick, isRefused }: Step, of: Twin): Promise<unknown> {
    const ask = async (name: string) => {
      const { status, json, answer } = await owner.ask(name, name.startsWith("GET ") ? undefined : body?.(of));
      expect([name, status >= 400, answer.text]).toEqual([name, isRefused === true, answer.text]);
      // For programs that translate them, the API gives the codes of its sentences, too.
      const { messages: _messages, ...stated } = json;
      return stated;
    };
    const routes = route(of);
    if (typeof routes === "string") {
      const json = await ask(routes);
      return pick && !isRefused ? pick(json, of) : json;
    }
    const parts: Record<string, unknown> = {};
    for (const [name, one] of Object.entries(routes)) parts[name] = await ask(one);
    return pick ? pick(parts, of) : parts;
  }

  async function fromCommand(name: string, { args, isRefused }: Step, of: Twin): Promise<unknown> {
    const words = [...name.split(" "), ...args(of)];
    if (!isRefused) return home.run(...words);
    const { error: _error, ...refusal } = await home.fails(...words);
    return refusal;
  }

  /** The sentence of a refusal may name commands. */
  const withoutMessage = (answer: unknown) => {
    const { message: _message, ...refusal } = (answer as { error: { message: string } }).error;
    return refusal;
  };

  const reads = new Set(["apply", "traffic check", "connection preview", "connection choices", "identity get", "person export"]);

  test.each(Object.keys(steps))("%s", async (name) => {
    const step = steps[name] ?? expect.unreachable();
    const [one, two] = twins;
    const first = step.route(one);
    const isRead =
      reads.has(name) || Object.values(typeof first === "string" ? [first] : first).every((text) => text.startsWith("GET "));
    const compare = async () => {
      const printed = await fromCommand(name, step, one);
      const answered = await fromApi(step, isRead ? one : two);
      expect(masked(printed)).toEqual(masked(step.isRefused ? withoutMessage(answered) : answered));
    };
    // The relay reads changes of commands within a second.
    if (isRead) await vi.waitFor(compare, { timeout: 240_000, interval: 200 });
    else await compare();
  });
});
