// The installation that every seed begins with: sites, keys, connections and webhooks, made once by the product's own code.

import { addOperatorVisit } from "../../../src/identity/people.ts";
import { readEmailSha256 } from "../../../src/identity/person.ts";
import type { Sha256, Visit } from "../../../src/kernel/event.ts";
import { ulid } from "../../../src/kernel/ids.ts";
import { addWebhook } from "../../../src/outbound/manage.ts";
import { connectPlatform } from "../../../src/sites/connect.ts";
import { createDirectory } from "../../../src/sites/directory.ts";
import { addKey, addSite, changeSiteSettings } from "../../../src/sites/manage.ts";
import { addSource, pathOf } from "../../../src/sites/sources.ts";
import { migrations } from "../../../src/store/schema/schema.ts";
import { createStore } from "../../../src/store/store.ts";
import { placeDisk } from "../database/disk.ts";
import { DatabaseFile, placeFile } from "../database/file.ts";
import { Tables } from "../database/tables.ts";
import { Machine, World } from "../runtime/world.ts";
import { sqliteConfig } from "./config.ts";

export type SimulatedConnection = { id: string; platform: "webhook" | "meta" | "segment" };

export type SimulatedSite = {
  id: string;
  key: string;
  connections: SimulatedConnection[];
  /** The webhook that receives its totals. */
  webhookId: string;
  /** The path of its source, whose requests are signed with `sourceSecret`. */
  sourcePath: string;
};

export type Base = { tables: Record<"sqlite" | "postgres", Tables>; sites: SimulatedSite[] };

/** Where each platform of the base is. `number` tells the connections of one platform apart. */
export const origins = {
  webhook: (number: number) => `https://hook${number}.example.com`,
  meta: "https://graph.facebook.com",
  segment: (number: number) => `https://segment${number}.example.com`,
  receiver: (number: number) => `https://receiver${number}.example.com`,
};

const settingsOf = {
  webhook: (number: number) => ({ url: `${origins.webhook(number)}/conversions` }),
  meta: (number: number) => ({ pixel_id: String(10_000 + number), access_token: `token-${number}` }),
  segment: (number: number) => ({
    source: `source${number}`,
    write_key: `key-${number}`,
    base_url: origins.segment(number),
  }),
};

/** People with a click id that names them, and one whose only visit is a bot's. */
export const people = ["anna", "ben", "cleo", "dan"] as const;
export const robot = "robot";
export const everyone = [...people, robot] as const;
export const emailOf = (person: string) => `${person}@example.com`;
export const clickIdOf = (person: string) => `click-of-${person}`;

const hashes = new Map<string, Sha256>();

export function emailSha256Of(person: string): Sha256 {
  const known = hashes.get(person) ?? (readEmailSha256(emailOf(person)) as Sha256);
  hashes.set(person, known);
  return known;
}

function visitOf(person: string, seenAt: number): Visit {
  return {
    visitorId: null,
    seenAt,
    browser: null,
    clickIds: { gclid: { value: clickIdOf(person), seenAt } },
    browserIds: {},
    utm: {},
    ...(person === robot && { verdict: { bot: true, score: 100, reasons: ["test:robot"], rules: 1 } }),
  };
}

export const sourceSecret = "a secret of the sender";

/** Each request of the sources has a list of orders. A delivery id belongs to an order, as where a sender collects them. */
const sourceSettings = {
  verification: "hmac hex",
  signing_secret: sourceSecret,
  entries: "orders",
  delivery_id: "delivery",
  event_from: "event",
  email: "email",
  order_id: "orderId",
  value: "value",
};

const wanted: readonly SimulatedConnection["platform"][][] = [["webhook"], ["meta", "segment", "webhook"]];

export async function makeBase(): Promise<Base> {
  const world = new World(0);
  const machine = new Machine(world, "base");
  const tables = new Tables();
  placeFile(machine, new DatabaseFile(tables));
  placeDisk(machine, { flush: () => ({ ms: 1, error: null }) });
  const process = machine.start();
  let sites: SimulatedSite[] | null = null;
  let failure: unknown = null;
  process.run(() => {
    makeSites(() => process.clock()).then(
      (made) => (sites = made),
      (error: unknown) => (failure = error),
    );
  });
  await world.runUntil(() => sites !== null || failure !== null);
  if (!sites) throw failure;
  process.kill("done");
  tables.watch({ hasLocks: false });
  tables.saveBase();
  return { tables: { sqlite: tables, postgres: copyForPostgres(tables) }, sites };
}

/** The same rows in the tables that PostgreSQL has. */
function copyForPostgres(from: Tables): Tables {
  const tables = new Tables();
  tables.exec(`CREATE TABLE migrations (version integer NOT NULL PRIMARY KEY, name text NOT NULL, applied_at bigint NOT NULL)`);
  for (const { statements } of migrations) for (const statement of statements) tables.exec(statement.replace("{COMPACT}", ""));
  tables.watch({ hasLocks: true });
  tables.redo(from.base);
  tables.saveBase();
  return tables;
}

async function makeSites(now: () => number): Promise<SimulatedSite[]> {
  const { store: location, encryptionKeys, allowPrivate } = sqliteConfig;
  const store = await createStore(location, encryptionKeys, ulid);
  const directory = createDirectory(store);
  const context = { store, directory };
  const by = { actor: "simulation", now: now(), checkAddress: () => null, allow: allowPrivate };
  const sites: SimulatedSite[] = [];
  for (const [i, platforms] of wanted.entries()) {
    const number = i + 1;
    // A name without a dot: the relay does not check whether it leads here.
    let site = await addSite(context, `site${number}`, by);
    const { key } = await addKey(context, site, { name: "key", mode: "live", expiresAt: null }, by);
    // A clock that is set by hours must not end the window in which an event without an order id is a duplicate.
    await changeSiteSettings(context, site, { block_domains: "blocked.example", dedup_no_order: "30d" }, by);
    const connections: SimulatedConnection[] = [];
    for (const platform of platforms) {
      site = directory.site(site.id) ?? site;
      const settings: Record<string, string> = settingsOf[platform](number);
      const { connection } = await connectPlatform(context, site, platform, { settings }, by);
      connections.push({ id: connection.id, platform });
    }
    const url = `${origins.receiver(number)}/totals`;
    const { webhook } = await addWebhook({ store }, site, { url, sendEmpty: true }, by);
    for (const person of everyone) {
      const request = { siteId: site.id, emailSha256: emailSha256Of(person), ...by };
      await addOperatorVisit(store, request, visitOf(person, by.now), {}, site.settings.keepMs);
    }
    sites.push({ id: site.id, key, connections, webhookId: webhook.id, sourcePath: "" });
  }
  for (const one of sites) {
    const site = directory.site(one.id);
    if (site) one.sourcePath = pathOf((await addSource(context, site, "custom", { settings: sourceSettings }, by)).source) ?? "";
  }
  await store.close();
  return sites;
}
