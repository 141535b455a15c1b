// Two nodes on one PostgreSQL are upgraded in turn under load, rolled back, and upgraded again: both versions serve at the same
// time, no request fails, nothing is lost or sent twice, and the totals that are pushed are exact. Senders stop
// using a node before it is stopped, as a proxy does.

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { latestVersion } from "../../src/store/schema/migrate.ts";
import type { Migration } from "../../src/store/schema/migration.ts";
import { areInOrder, readPush, sumOf } from "../support/pushes.ts";
import { startReceiver } from "../support/receiver.ts";
import { call, eventually, newInstallation, type Relay } from "../support/relay.ts";
import { buildVersion } from "../support/schema/versions.ts";
import { deliveryStates, setUpSite, keepAliveAgent, postOver, rows } from "../support/installation.ts";

const senders = 4;
const pauseMs = 20;
const nothing = { statements: [], configuration: [], bySite: [] };

/** Migrations that add to the tables of every request. */
const steps: Migration[] = [
  {
    ...nothing,
    kind: "expand",
    version: latestVersion + 1,
    name: "notes",
    bySite: ["notes"],
    statements: [
      ...[
        "events",
        "deliveries",
        "attempts",
        "totals",
        "periods",
        "period_heads",
        "webhooks",
        "pushes",
        "hosts",
        "connections",
        "sites",
      ].map((table) => `ALTER TABLE ${table} ADD COLUMN note text`),
      `CREATE TABLE notes (site_id text NOT NULL, id text NOT NULL, PRIMARY KEY (site_id, id)) {COMPACT}`,
    ],
  },
  {
    ...nothing,
    kind: "expand",
    version: latestVersion + 2,
    name: "notes are found",
    indexes: [{ name: "events_by_note", on: "events (site_id, note)" }],
  },
];

test("nodes of two versions work together through upgrade, downgrade and upgrade", async () => {
  const [older, newer] = await Promise.all([buildVersion("0.1.0", []), buildVersion("0.2.0", steps)]);
  const home = await newInstallation("postgres", {
    CLEANCAST_DRAIN_SECONDS: "0",
    CLEANCAST_PUSH_SECONDS: "1",
    LOG_LEVEL: "warn",
  });
  const platform = await startReceiver();
  const totals = await startReceiver();
  const { key } = await setUpSite(home, [["webhook", { url: platform.url }]]);
  const { secret } = await home.run("webhook", "add", "shop.example.com", totals.url);

  const ended: Relay[] = [];
  const serving: Relay[] = await Promise.all([older, older].map((program) => home.start({}, program)));
  let sent = 0;
  let working = true;
  const failed: string[] = [];
  const agent = keepAliveAgent(2 * senders);
  const answeredBy = new Map<Relay, number>();
  const load = Array.from({ length: senders }, async () => {
    while (working) {
      const n = (sent += 1);
      const relay = serving[n % serving.length] as Relay;
      const event = {
        email: `p${n}@example.com`,
        event: "purchase",
        ...(n % 2 && { orderId: `order-${n}` }),
      };
      const answer = await postOver(agent, relay, key, event).catch((error: Error) => ({ status: 0, text: error.message }));
      if (answer.status !== 200 || !answer.text.startsWith('{"ok":true,')) failed.push(JSON.stringify(answer));
      else answeredBy.set(relay, (answeredBy.get(relay) ?? 0) + 1);
      await sleep(pauseMs);
    }
  });

  /** Replaces one node with another version; the node gets no more requests before it is stopped. */
  const replace = async (place: number, program: string) => {
    const [old] = serving.splice(place, 1) as [Relay];
    await sleep(2 * pauseMs);
    expect(await old.stop()).toBe(0);
    ended.push(old);
    const replacement = await home.start({}, program);
    expect((await call(replacement.url, { method: "GET", path: "/readyz" })).status).toBe(200);
    serving.splice(place, 0, replacement);
    const before = serving.map((one) => answeredBy.get(one) ?? 0);
    await eventually("both nodes answer", () =>
      serving.every((one, i) => (answeredBy.get(one) ?? 0) > (before[i] as number) + 5),
    );
  };
  const versions = () => serving.map((one) => /Cleancast (\S+) is running/.exec(one.output())?.[1]);
  const schema = async () => Number((await rows(home, `SELECT MAX(version) AS version FROM migrations`))[0]?.version);

  expect(await schema()).toBe(latestVersion);
  await replace(0, newer);
  expect(versions()).toEqual(["0.2.0", "0.1.0"]);
  expect(await schema()).toBe(latestVersion + 2);
  // The rollback keeps the new schema.
  await replace(0, older);
  expect(versions()).toEqual(["0.1.0", "0.1.0"]);
  await replace(1, newer);
  await replace(0, newer);
  expect(versions()).toEqual(["0.2.0", "0.2.0"]);

  working = false;
  await Promise.all(load);
  expect(failed).toEqual([]);
  await eventually("everything is delivered", async () => Object.keys(await deliveryStates(home)).join() === "sent");
  expect(await rows(home, `SELECT id FROM events`)).toHaveLength(sent);
  expect(await deliveryStates(home)).toEqual({ sent });
  const arrived = platform.bodies().map((body) => String(body.platformEventId));
  expect(new Set(arrived).size).toBe(sent);
  expect(arrived).toHaveLength(sent);

  const pushes = () => totals.got.map((got) => readPush(got, secret));
  await eventually("everything is pushed", () => sumOf(pushes()).conversions >= sent);
  expect(sumOf(pushes())).toEqual({ conversions: sent, removed: 0 });
  expect(areInOrder(pushes())).toBe(true);
  for (const node of serving) expect(await node.stop()).toBe(0);
  // No node logged a warning: no statement failed on the other schema.
  for (const node of [...ended, ...serving]) expect(node.output()).not.toMatch(/"level":[456]0/);
  console.log(`${sent} events over two versions, ${pushes().length} pushes`);
});
