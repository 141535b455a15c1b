// Installations of many sites for bench/fairness.ts, past the command line: three hundred commands would take longer than
// what is measured.

import { standinConnections } from "../scripts/standinConnections.ts";
import { uuidv7 } from "../src/kernel/ids.ts";
import { connect } from "../src/sites/connect.ts";
import { directoryOf } from "../src/sites/directory.ts";
import { addKey, addSite } from "../src/sites/manage.ts";
import { openStore } from "../src/store/store.ts";
import { install, type Engine, type Installation } from "./support/relay.ts";
import { openSql } from "./support/seed.ts";
import type { StubState } from "./support/stub.ts";

export type Neighbourhood = Installation & {
  /** Of the quiet sites. */
  keys: string[];
};

/** One site that is connected to what is dead, and `quiet` others that are connected to the stub. */
export async function settle(
  engine: Engine,
  stub: StubState,
  dead: readonly string[],
  quiet: number,
): Promise<Neighbourhood> {
  const installation = await install(engine, [], stub);
  installation.env.CLEANCAST_ALLOW_PRIVATE = "127.0.0.0/8";
  const sealKey = Buffer.from(installation.env.CLEANCAST_ENCRYPTION_KEY ?? "", "hex");
  const store = await openStore(installation.store, sealKey, uuidv7);
  const directory = directoryOf(store);
  await directory.refresh();
  const desk = { store, directory };
  const by = { actor: "bench", now: Date.now(), checkAddress: () => null };
  const site = (id: string) => directory.site(id) ?? fail(id);
  for (const url of dead) {
    const { connection } = await connect(desk, site(installation.siteId), "webhook", { url }, by);
    installation.connectionIds.push(connection.id);
  }
  const keys: string[] = [];
  for (let n = 1; n <= quiet; n++) {
    const { id } = await addSite(desk, `quiet-${n}.example.com`, by);
    keys.push((await addKey(desk, site(id), { name: "bench", mode: "live", expiresAt: null }, by)).key);
    await connect(desk, site(id), "meta", standinConnections.meta, by);
  }
  await store.close();
  return { ...installation, keys };
}

const fail = (id: string) => {
  throw new Error(`there is no site ${id}`);
};

/** Events of the first site that wait for its connections, all due at one moment, as after a pause. */
export async function pileUp({ store, siteId, connectionIds }: Installation, count: number): Promise<void> {
  const sql = await openSql({ store });
  const now = Date.now();
  const part = (at: number, length: number) => `substr(${sql.digits("n")}, ${at}, ${length})`;
  // Of this moment: they have just come.
  const id = `'${uuidv7(now).slice(0, 14)}7' || ${part(1, 3)} || '-8' || ${part(4, 3)} || '-00000000' || ${part(7, 4)}`;
  const attribution = JSON.stringify({
    consent: "unknown",
    withheld: null,
    identity: "none",
    clickIds: {},
    browserIds: {},
    utm: {},
    browser: null,
  });
  const person = `'{"email":"' || ${sql.sha256("CAST(n AS text)")} || '"}'`;
  const connection = connectionIds.map((one, i) => `WHEN ${i} THEN '${one}'`).join(" ");
  await sql.run(
    `INSERT INTO events (site_id, id, platform_event_id, key_id, mode, status, name, value, currency, email_sha256, time,
       received_at, person, attribution)
     SELECT '${siteId}', ${id}, ${id}, 'bench', 'live', 'accepted', 'lead', 10, 'EUR', ${sql.sha256("CAST(n AS text)")},
       ${now}, ${now}, ${person}, '${attribution}'
     FROM ${sql.numbers(1, count)} AS copies`,
  );
  await sql.run(
    `INSERT INTO deliveries (site_id, event_id, connection_id, platform, state, attempts, due_at, owner, updated_at)
     SELECT '${siteId}', ${id}, CASE n % ${connectionIds.length} ${connection} END, 'webhook', 'queued', 0, ${now}, '', ${now}
     FROM ${sql.numbers(1, count)} AS copies`,
  );
  await sql.close();
}
