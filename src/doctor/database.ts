// Checks the database: its schema, its clock, the durability of its writes, and its disk space.

import { statSync } from "node:fs";
import { createClient } from "../store/engine/postgres/client.ts";
import { probeTimeoutMs, serverStates, type ServerState } from "../store/engine/postgres/probe.ts";
import { serverUrls } from "../store/engine/postgres/servers.ts";
import { dayMs } from "../kernel/time.ts";
import type { PurgeRun } from "../store/maintenance/purge.ts";
import { bytesText, error, ok, warning, whereReached, type AsyncFindings, type Findings, type StoreContext } from "./finding.ts";
import type { Machine } from "./machine.ts";

const skewMs = 2_000;
const severeSkewMs = 30_000;

export async function* checkDatabase({ store, config, now }: StoreContext): AsyncFindings {
  const { schema, clock, migratedAt } = await store.health.readPulse();
  yield ok(`${store.engine} store answers, schema ${schema}`);
  // It lies on one machine of a cluster, which may be down: that is found below.
  yield* whereReached({ store }, async function* () {
    yield* judgePurge(await store.purge.readRun());
  });
  if (clock === null) {
    if (now < migratedAt)
      yield error(
        "this machine's clock is behind: it shows a time before the database was created",
        "Set the clock, and keep it synchronized (systemd-timesyncd, chrony).",
      );
    return;
  }
  // The query itself takes time too, but not seconds.
  const skew = Math.abs(Date.now() - clock);
  const what = `this clock and the database's differ by ${(skew / 1000).toFixed(1)} seconds`;
  const remedy = "Synchronize both (systemd-timesyncd, chrony): leases, retries and event times depend on them.";
  if (skew > severeSkewMs) yield error(what, remedy);
  else if (skew > skewMs) yield warning(what, remedy);
  if (config.store.engine !== "postgres") return;
  const { url, connections } = config.store;
  const settings = await store.doctorQueries.serverSettings();
  yield* judgeServer(settings, connections);
  yield* judgeServers(await serverStates(url), settings.synchronous_standby_names);
  yield* judgePooler(await findPooler(url));
  yield* judgeClusterNodes(await store.doctorQueries.clusterNodes());
}

/** `loginRetrySeconds` is null where the pooler does not say, because the user may not ask it. */
type Pooler = { loginRetrySeconds: number | null };

/** The pooler in front of the first server that has one. A pooler gives its clients process ids of its own. */
async function findPooler(url: string): Promise<Pooler | null> {
  for (const server of serverUrls(url)) {
    const isPooler = await ask(server, async (client) => {
      const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
      return rows[0]?.pid !== (client as { processID?: number }).processID;
    });
    if (!isPooler) continue;
    const console = new URL(server);
    console.pathname = "/pgbouncer";
    const said = await ask(console.href, (client) => client.query<{ key: string; value: string }>("SHOW CONFIG"));
    const value = said?.rows.find(({ key }) => key === "server_login_retry")?.value;
    return { loginRetrySeconds: value === undefined ? null : Number(value) };
  }
  return null;
}

async function ask<T>(server: string, question: (client: ReturnType<typeof createClient>) => Promise<T>): Promise<T | null> {
  const client = createClient(server, "cleancast doctor", probeTimeoutMs, { query_timeout: probeTimeoutMs });
  try {
    await client.connect();
    return await question(client);
  } catch {
    return null;
  } finally {
    client.end().catch(() => {});
  }
}

/** PgBouncer does not try again for a while after PostgreSQL did not answer, and refuses everybody meanwhile. */
export function* judgePooler(pooler: Pooler | null): Findings {
  if (!pooler) return;
  const { loginRetrySeconds } = pooler;
  if (loginRetrySeconds === null)
    yield ok("a pooler is in front of PostgreSQL; with PgBouncer, set server_login_retry = 1 (it does not tell this user)");
  else if (loginRetrySeconds > 2)
    yield warning(
      `PgBouncer has server_login_retry = ${loginRetrySeconds}: after a restart of PostgreSQL it refuses events for as many seconds`,
      "Set server_login_retry = 1 in pgbouncer.ini, and RELOAD.",
    );
  else yield ok(`PgBouncer is in front of PostgreSQL, with server_login_retry = ${loginRetrySeconds}`);
}

/** Relays purge every ten minutes. Events that are due for a day show that they cannot keep up. */
export function* judgePurge(run: PurgeRun | null): Findings {
  if (run && run.lagMs > dayMs)
    yield warning(
      `the purge is behind: events are kept ${Math.floor(run.lagMs / dayMs)} days longer than 'keep_events' says`,
      "It gives way to events: the log says if statistics of an hour fail, and CleancastStoreSlow if the database is slow. More nodes purge more sites at the same time.",
    );
}

/** The machines of a Citus cluster. Sites on one that is down cannot be served; those on the others can. */
export function* judgeClusterNodes(nodes: readonly { name: string; isReached: boolean }[]): Findings {
  for (const { name } of nodes.filter(({ isReached }) => !isReached))
    yield error(
      `the Citus node ${name} does not answer: sites whose data is on it get 503, and configuration cannot be changed`,
      "Start it, or promote its standby and call citus_update_node. The other sites are served meanwhile.",
    );
}

/** Of several servers one must be writable, and the others must be able to replace it. */
export function* judgeServers(listed: readonly ServerState[], synchronous: string | undefined): Findings {
  const servers = listed.filter(({ isWorker }) => !isWorker);
  if (servers.length < 2) return;
  const namesIn = (state: ServerState["state"]) => servers.filter((one) => one.state === state).map(({ name }) => name);
  const [written, read] = [namesIn("written"), namesIn("read")];
  yield ok(`writable: ${written.join(", ") || "none"}; can take over: ${read.join(", ") || "none"}`);
  const [last] = servers.toSorted((a, b) => b.timeline - a.timeline);
  if (written.length > 1)
    yield error(
      `${written.length} servers are writable; relays use ${last?.name}, which was promoted last`,
      "Stop the former primary and make it a standby. Data written to it since the promotion is on no other server.",
    );
  for (const { name, reason } of servers.filter(({ state }) => state === "out"))
    yield warning(
      `${name} cannot be used: ${reason}`,
      "Repair it, or remove it from DATABASE_URL: it cannot replace the primary.",
    );
  if (synchronous === "")
    yield warning(
      "synchronous_standby_names is empty: if the primary dies, events answered with 200 can be missing on the standby",
      "Set it on the primary: docs/how-to/database-failover.md.",
    );
}

/** `connections` is the number that one node opens. */
export function* judgeServer(settings: Record<string, string>, connections: number): Findings {
  if (settings.fsync === "off")
    yield error(
      "PostgreSQL runs with fsync=off: a power cut destroys the database",
      "Set fsync=on in postgresql.conf and restart it.",
    );
  if (settings.synchronous_commit === "off")
    yield error(
      "PostgreSQL runs with synchronous_commit=off: events answered with 200 can be lost in a crash",
      "Set synchronous_commit=on, for the database or the role of Cleancast at least.",
    );
  if (settings.full_page_writes === "off")
    yield warning(
      "PostgreSQL runs with full_page_writes=off: a crash can leave torn pages",
      "Set full_page_writes=on, unless the filesystem itself writes pages whole.",
    );
  const max = Number(settings.max_connections) - Number(settings.superuser_reserved_connections ?? 0);
  const open = Number(settings.open_connections ?? 0);
  if (max && open + connections > max)
    yield warning(
      `${open} of PostgreSQL's ${max} connections are in use, and another node may open ${connections}`,
      "Raise max_connections, or lower CLEANCAST_DATABASE_CONNECTIONS on every node.",
    );
}

/** Checks that the growing embedded database fits on the disk until its oldest rows are deleted. */
export async function* checkGrowth({ store, directory, config, now }: StoreContext, machine: Machine): AsyncFindings {
  if (config.store.engine !== "sqlite" || !machine.disk) return;
  const sites = Array.from(directory.sites());
  const firsts = await Promise.all(sites.map(({ id }) => store.doctorQueries.firstEventAt(id)));
  const first = Math.min(...firsts.filter((at) => at !== null));
  const keepMs = Math.max(0, ...sites.flatMap(({ settings }) => [settings.keepMs, settings.keepEventsMs, settings.keepLogMs]));
  const { size } = statSync(config.store.file);
  yield* judgeGrowth({ bytes: size, ageMs: now - first, keepMs, freeBytes: machine.disk.freeBytes });
}

export function* judgeGrowth(given: { bytes: number; ageMs: number; keepMs: number; freeBytes: number }): Findings {
  const { bytes, ageMs, keepMs, freeBytes } = given;
  // Less than a day of data allows no estimate.
  if (!Number.isFinite(ageMs) || ageMs < dayMs || ageMs >= keepMs) return;
  const more = (bytes / ageMs) * (keepMs - ageMs);
  if (more <= freeBytes * 0.9) return;
  yield warning(
    `at this rate the database grows by ${bytesText(more)} before its oldest rows are deleted, and ${bytesText(freeBytes)} are free`,
    "Shorten 'keep_events', 'keep' and 'keep_log' of the sites, or use a larger disk.",
  );
}
