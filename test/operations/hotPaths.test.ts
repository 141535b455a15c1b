// Every statement that a relay sends while it takes in visits and events, delivers and pushes, names one site, so that a
// sharded PostgreSQL asks one node. The relay runs in this process, and its driver is recorded: statements that are not
// on the short list below are hot, and are checked against the rules.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readConfig } from "../../src/installation/config.ts";
import { serve, type Running } from "../../src/main.ts";
import { rows, setUpSite } from "../support/installation.ts";
import {
  faultsOf,
  recordTransactions,
  namesShardedTable,
  shapeOf,
  sitesOf,
  writesConfiguration,
  type Sent,
  type Transaction,
} from "../support/schema/hotStatements.ts";
import { startReceiver } from "../support/receiver.ts";
import { eventually, newInstallation, post } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { cookieOf, report } from "../support/visits.ts";

/** Queries over all sites or configuration, with their origin and how often they run. */
const background: readonly [why: string, text: RegExp][] = [
  ["schema, at the start", /\bmigrations\b|pg_advisory_xact_lock|FROM pg_extension|^CREATE|^ALTER|^DROP/],
  [
    "the directory: one number a second, and what changed",
    /FROM settings\b|FROM sites\b|FROM hosts\b|FROM inbound_keys\b|FROM connections\b/,
  ],
  [
    "configuration, changed by a person",
    /^(?:INSERT INTO|UPDATE|DELETE FROM) (?:settings|sites|hosts|inbound_keys|connections|one_time_links|users)\b|FROM (?:one_time_links|users|grants|two_factors)\b/,
  ],
  [
    "the correction of due times and the backlog of metrics: connections with queued deliveries",
    /^SELECT site_id, connection_id FROM deliveries WHERE state = 'queued' AND due_at <= \$1 GROUP BY/,
  ],
  ["the look every ten seconds, at the slices of sites that the node holds", /^SELECT kind, site_id, id, at FROM \(/],
  [
    "reconciliations that are under way, every five seconds by one node",
    /^SELECT [\w, ]+ FROM reconciliations WHERE state = 'running'/,
  ],
  [
    "feeds of orders that are due, once a minute by one node, and those that fail",
    /^SELECT [\w, ]+ FROM order_feeds WHERE due_at|^SELECT DISTINCT site_id FROM order_feeds/,
  ],
  [
    "the purge, every ten minutes: sites that have rows of a few minutes",
    /^SELECT site_id FROM (?:wrong_keys|lockouts|platform_sign_ins) GROUP BY site_id$/,
  ],
  ["the age of the oldest push, for metrics", /^SELECT MIN\(periods.ends_at\) AS ends_at FROM webhooks/],
  ["the correction of due times, at the start", /^SELECT site_id, id FROM webhooks WHERE updated_at > \$1 OR due_at > \$2$/],
  ["the correction of statistics, at the start", /^SELECT site_id FROM statistics_heads AS heads WHERE to_hour > \$3 OR EXISTS/],
];

/** A query that joins configuration with a sharded table is hot. */
const whyBackground = ({ text }: Sent) =>
  background.find(([why, known]) => known.test(text) && !(ofConfiguration.test(why) && namesShardedTable(text)))?.[0] ?? null;
const ofConfiguration = /^the directory|^configuration/;

describe("the statements of a relay on PostgreSQL", () => {
  let running: Running;
  /** The number of transactions of the start. */
  let started = 0;
  let heard: { transactions: Transaction[]; stop: () => void };
  const sites = ["one.example.com", "two.example.com"];

  beforeAll(async () => {
    const receiver = await startReceiver();
    let calls = 0;
    // Some fail at first, so that the worker has something to retry.
    receiver.behave = (_request, response) => response.writeHead((calls += 1) % 3 === 1 ? 503 : 200).end("{}");
    const home = await newInstallation("postgres", {
      CLEANCAST_RETRY_SECONDS: "0.1,0.1,0.1,0.1",
      CLEANCAST_PUSH_SECONDS: "1",
      CLEANCAST_PUSH_RETRY_SECONDS: "0.1",
      CLEANCAST_ALERT_SECONDS: "1",
      LOG_LEVEL: "silent",
    });
    const keys: string[] = [];
    for (const host of sites) {
      const { key } = await setUpSite(
        home,
        [
          ["webhook", { url: receiver.url }],
          ["sandbox", {}],
        ],
        host,
      );
      keys.push(key);
      await home.run("webhook", "add", host, receiver.url);
    }
    const url = home.env.DATABASE_URL as string;
    home.env.DATABASE_URL = `${url}${url.includes("?") ? "&" : "?"}cleancast=as-sharded`;
    heard = recordTransactions();
    running = await serve(readConfig(home.env), () => {});
    started = heard.transactions.length;
    const relay = { url: running.address.replace("localhost", "127.0.0.1") };
    const sendAll = async (host: string, key: string, orderId: string) => {
      const email = `${orderId}@example.com`;
      const params = { gclid: `click-${orderId}`, utm_source: "google" };
      const cookie = cookieOf(await report(relay, host, "visit", { params }));
      await report(relay, host, "identify", { emails: [sha256Of(email)] }, cookie);
      await report(relay, host, "consent", { consent: { own: "granted" } }, cookie);
      const bot = { "User-Agent": "AhrefsBot/7.0" };
      await report(relay, host, "identify", { emails: [sha256Of(`bot-${email}`)] }, bot);
      const event = { email, event: "purchase", orderId, value: 5 };
      await post(relay.url, key, event);
      await post(relay.url, key, event);
      await post(relay.url, key, { ...event, email: `bot-${email}`, orderId: `b-${orderId}` });
      await post(relay.url, `cc_${"x".repeat(38)}`, event);
    };
    // The first one alone: under load a statement may fail, and a bot's visit is not stored again.
    for (const [i, host] of sites.entries()) await sendAll(host, keys[i] as string, "first");
    const orders = Array.from({ length: 24 }, (_, i) => `o-${i}`);
    await Promise.all(sites.flatMap((host, i) => orders.map((orderId) => sendAll(host, keys[i] as string, orderId))));
    const wanted = [
      "UPDATE pushes SET state",
      "UPDATE deliveries SET owner = $4",
      "INSERT INTO visit_counts",
      "INSERT INTO key_uses",
      "INSERT INTO bot_visits",
      "INSERT INTO visitors",
      "UPDATE identities",
      "INSERT INTO consents",
    ];
    for (const text of wanted)
      await eventually(`a transaction has ${text}`, () =>
        heard.transactions.some((one) => one.some((sent) => sent.text.startsWith(text))),
      );
  });
  afterAll(async () => {
    await running?.stop();
    heard?.stop();
  });

  test("statements of hot paths name one site, write no configuration, and can run on every node", () => {
    const shapes = new Map<string, Sent>();
    for (const sent of heard.transactions.flat()) if (whyBackground(sent) === null) shapes.set(shapeOf(sent.text), sent);
    const faults = [...shapes].flatMap(([shape, sent]) => faultsOf(sent).map((fault) => `${fault}: ${shape}`));
    console.log(
      `hot statements: ${shapes.size}\n${[...shapes.keys()]
        .toSorted()
        .map((one) => `  ${one.slice(0, 160)}`)
        .join("\n")}`,
    );
    expect(faults).toEqual([]);
    expect(shapes.size).toBeGreaterThan(25);
  });

  test("a running relay writes no configuration", () => {
    const writes = heard.transactions.slice(started).flat().filter(writesConfiguration);
    expect(writes.map(({ text }) => text)).toEqual([]);
  });

  test("transactions of hot paths touch one site", () => {
    const many = heard.transactions
      .filter((one) => one.every((sent) => whyBackground(sent) === null))
      .filter((one) => new Set(one.flatMap((sent) => [...sitesOf(sent)])).size > 1);
    expect(many.map((one) => one.map(({ text }) => text))).toEqual([]);
  });

  test("queries over all sites lock nothing", () => {
    const dueWork = heard.transactions
      .slice(started)
      .flat()
      .filter((sent) => whyBackground(sent) !== null);
    expect(dueWork.length).toBeGreaterThan(5);
    expect(dueWork.filter(({ text }) => /FOR (?:UPDATE|SHARE)/.test(text))).toEqual([]);
  });

  test("the recorded statements are those of both sites", () => {
    const seen = new Set(heard.transactions.flat().flatMap((sent) => [...sitesOf(sent)]));
    expect(seen.size).toBeGreaterThanOrEqual(2);
  });
});

test("on PostgreSQL, an event that every platform accepts at once updates its totals alone, and no index with them", async () => {
  const home = await newInstallation("postgres", { LOG_LEVEL: "silent" });
  const { key } = await setUpSite(home, [["sandbox", {}]]);
  const relay = await home.start();
  for (let i = 0; i < 20; i += 1)
    await relay.post(key, { email: `p${i}@example.com`, event: "purchase", orderId: `o-${i}`, value: 5 });
  // The statistics of a session are complete when it has ended.
  expect(await relay.stop()).toBe(0);
  const tables = await rows(
    home,
    `SELECT relname AS name, n_tup_ins AS inserted, n_tup_upd AS updated, n_tup_hot_upd AS hot FROM pg_stat_user_tables
     WHERE schemaname = current_schema() AND relname IN ('events', 'dedup_claims', 'outcomes', 'deliveries', 'attempts', 'totals') ORDER BY relname`,
  );
  const [attempts, claims, deliveries, events, outcomes, totals] = tables.map((row) =>
    [row["inserted"], row["updated"]].map(Number),
  );
  expect({ attempts, claims, deliveries, events, outcomes }).toEqual({
    attempts: [0, 0],
    claims: [20, 0],
    deliveries: [0, 0],
    events: [20, 0],
    outcomes: [20, 0],
  });
  expect(totals?.[1]).toBeGreaterThan(0);
  const last = tables.at(-1);
  expect(Number(last?.["hot"])).toBe(Number(last?.["updated"]));
});
