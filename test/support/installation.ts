// Sets up an installation without starting the relay, reads and changes its database directly, and sends over kept
// connections.

import { Agent } from "node:http";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Client } from "pg";
import { afterFile, takeAll } from "./afterFile.ts";
import { readConfig } from "../../src/installation/config.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { createDirectory, type Directory } from "../../src/sites/directory.ts";
import { connect } from "../../src/sites/connect.ts";
import { addKey, addSite } from "../../src/sites/manage.ts";
import type { Delivery } from "../../src/store/deliveries/delivery.ts";
import { deliverySource, readDeliveries } from "../../src/store/deliveries/readDeliveries.ts";
import type { Query, Row as StoredRow } from "../../src/store/engine/database.ts";
import { toSqliteParams } from "../../src/store/engine/sqlite/dialect.ts";
import { createStore, type Store } from "../../src/store/store.ts";
import { withClient } from "./postgres/postgres.ts";
import { post, type Answer, type Installation, type Relay } from "./relay.ts";

/** Opens the store of an installation in this process, as the command line does, and closes it again. */
export async function withStore<T>(home: Installation, work: (store: Store, directory: Directory) => Promise<T>): Promise<T> {
  const config = readConfig(home.env);
  const store = await createStore(config.store, config.encryptionKey(), ulid);
  try {
    const directory = createDirectory(store);
    await directory.refresh();
    return await work(store, directory);
  } finally {
    await store.close();
  }
}

export type Wanted = readonly [platform: string, settings: Record<string, string>];
export type SiteSetup = { siteId: string; key: string; connections: string[] };

/** Adds a site with a key and connections; a relay that starts afterwards knows them from its start. */
export function setUpSite(home: Installation, wanted: readonly Wanted[], host = "shop.example.com"): Promise<SiteSetup> {
  return withStore(home, async (store, directory) => {
    const context = { store, directory };
    const by = { actor: "test", now: Date.now(), checkAddress: () => null };
    const site = await addSite(context, host, by);
    const connections: string[] = [];
    for (const [platform, settings] of wanted) {
      const known = directory.site(site.id) ?? site;
      const { connection } = await connect(context, known, platform, settings, by);
      connections.push(connection.id);
    }
    // Last, so that a relay that knows the key knows the connections.
    const known = directory.site(site.id) ?? site;
    const { key } = await addKey(context, known, { name: "test", mode: "live", expiresAt: null }, by);
    return { siteId: site.id, key, connections };
  });
}

export type Row = Record<string, unknown>;

export function databaseFile(home: Installation): string {
  return join(home.env.CLEANCAST_DATA ?? "", "cleancast.db");
}

/** Reads the database directly, past the relay. */
export async function rows(home: Installation, sql: string): Promise<Row[]> {
  if (home.engine === "postgres") return onPostgres(home, async (client) => (await client.query(sql)).rows);
  const db = new DatabaseSync(databaseFile(home), { readOnly: true, timeout: 60_000 });
  try {
    return db.prepare(sql).all();
  } finally {
    db.close();
  }
}

/** Changes the database directly, past the relay. */
export async function change(home: Installation, ...statements: string[]): Promise<void> {
  if (home.engine === "postgres") {
    return onPostgres(home, async (client) => {
      for (const statement of statements) await client.query(statement);
    });
  }
  const db = new DatabaseSync(databaseFile(home), { timeout: 60_000 });
  try {
    for (const statement of statements) db.exec(statement);
  } finally {
    db.close();
  }
}

export function onPostgres<T>(home: Installation, work: (client: Client) => Promise<T>): Promise<T> {
  return withClient(home.env.DATABASE_URL ?? "", work);
}

/** Reads all deliveries, whether they have rows or not. */
export async function listDeliveries(home: Installation): Promise<Delivery[]> {
  const events = await rows(home, `SELECT site_id, id, received_at, ${deliverySource} FROM events`);
  const found: Delivery[] = [];
  for (const [siteId, ofSite] of Map.groupBy(events, (row) => String(row.site_id))) {
    found.push(...[...(await withQuery(home, (db) => readDeliveries(db, siteId, ofSite as StoredRow[]))).values()].flat());
  }
  return found;
}

/** Runs store functions on the database, past the relay. */
function withQuery<T>(home: Installation, work: (db: Query) => Promise<T>): Promise<T> {
  if (home.engine === "postgres")
    return onPostgres(home, (client) => work({ all: async (sql, params = []) => (await client.query(sql, [...params])).rows }));
  const db = new DatabaseSync(databaseFile(home), { readOnly: true, timeout: 60_000 });
  const all: Query["all"] = async (sql, params = []) => db.prepare(toSqliteParams(sql)).all(...params) as never;
  return work({ all }).finally(() => db.close());
}

/** Counts the deliveries in each state. */
export async function deliveryStates(home: Installation): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const { state } of await listDeliveries(home)) counts[state] = (counts[state] ?? 0) + 1;
  return counts;
}

const agents = new Set<Agent>();

afterFile(() => {
  for (const agent of takeAll(agents)) agent.destroy();
});

/** Creates an agent that keeps its connections open, as a server that sends events does. */
export function keepAliveAgent(maxSockets: number): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets });
  agents.add(agent);
  return agent;
}

export const postOver = (
  agent: Agent,
  relay: Pick<Relay, "url">,
  key: string,
  event: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> => post(relay.url, key, event, headers, agent);
