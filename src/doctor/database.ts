// The database: its schema, its clock, how safely it writes, and whether it will have room.

import { statSync } from "node:fs";
import { serverStates, type ServerState } from "../store/engine/postgres/serverStates.ts";
import { bytesText, dayMs, error, ok, warning, type Finding, type Patient } from "./finding.ts";
import type { Machine } from "./machine.ts";

const skewMs = 2_000;
const greatSkewMs = 30_000;

export async function checkDatabase({ store, config, now }: Patient): Promise<Finding[]> {
  const { schema, clock, migratedAt } = await store.health.readPulse();
  const findings = [ok(`${store.engine} store answers, schema ${schema}`)];
  if (clock === null) {
    if (now < migratedAt)
      findings.push(
        error(
          "this machine's clock is behind: the database was made in its future",
          "Set the clock, and keep it right (systemd-timesyncd, chrony).",
        ),
      );
    return findings;
  }
  // The question took its time too, but not seconds.
  const skew = Math.abs(Date.now() - clock);
  const what = `this clock and the database's differ by ${(skew / 1000).toFixed(1)} seconds`;
  const remedy = "Keep both right (systemd-timesyncd, chrony): leases, retries and event times rest on them.";
  if (skew > greatSkewMs) findings.push(error(what, remedy));
  else if (skew > skewMs) findings.push(warning(what, remedy));
  if (config.store.engine !== "postgres") return findings;
  const { url, connections } = config.store;
  const settings = await store.doctorQueries.serverSettings();
  const servers = judgeServers(await serverStates(url), settings.synchronous_standby_names);
  return [...findings, ...judgeServer(settings, connections), ...servers];
}

/** Where there are several, one is written to and the others can take its place. */
export function judgeServers(servers: readonly ServerState[], synchronous: string | undefined): Finding[] {
  if (servers.length < 2) return [];
  const namesIn = (state: ServerState["state"]) =>
    servers.filter((one) => one.state === state).map(({ name }) => name);
  const [written, read] = [namesIn("written"), namesIn("read")];
  const findings = [
    ok(`${written.join(" and ")} can be written to, ${read.join(" and ") || "none"} can take its place`),
  ];
  const [last] = servers.toSorted((a, b) => b.timeline - a.timeline);
  if (written.length > 1)
    findings.push(
      error(
        `${written.length} servers can be written to; relays use ${last?.name}, which was promoted last`,
        "Stop the former primary and make it a standby of the other: what was written to it since is nowhere else.",
      ),
    );
  for (const { name, reason } of servers.filter(({ state }) => state === "out"))
    findings.push(
      warning(
        `${name} cannot be used: ${reason}`,
        "Bring it back, or take it out of DATABASE_URL: it cannot take the primary's place.",
      ),
    );
  if (synchronous === "")
    findings.push(
      warning(
        "synchronous_standby_names is empty: if the primary dies, events that were answered with 200 can be missing on the standby",
        "Set it on the primary: docs/fail-over.md.",
      ),
    );
  return findings;
}

/** `connections`: as many as a node opens. */
export function judgeServer(settings: Record<string, string>, connections: number): Finding[] {
  const findings: Finding[] = [];
  if (settings.fsync === "off")
    findings.push(
      error(
        "PostgreSQL runs with fsync=off: a power cut destroys the database",
        "Set fsync=on in postgresql.conf and restart it.",
      ),
    );
  if (settings.synchronous_commit === "off")
    findings.push(
      error(
        "PostgreSQL runs with synchronous_commit=off: events that were answered with 200 can be lost in a crash",
        "Set synchronous_commit=on, for the database or the role of Cleancast at least.",
      ),
    );
  if (settings.full_page_writes === "off")
    findings.push(
      warning(
        "PostgreSQL runs with full_page_writes=off: a crash can leave torn pages",
        "Set full_page_writes=on, unless the filesystem itself writes pages whole.",
      ),
    );
  const most = Number(settings.max_connections) - Number(settings.superuser_reserved_connections ?? 0);
  const open = Number(settings.open_connections ?? 0);
  if (most && open + connections > most)
    findings.push(
      warning(
        `${open} of PostgreSQL's ${most} connections are open, and one more node may open ${connections}`,
        "Raise max_connections, or lower CLEANCAST_DATABASE_CONNECTIONS on every node.",
      ),
    );
  return findings;
}

/** Whether the embedded database, growing as it has, fits the disk until its oldest rows are removed. */
export async function checkRoom(
  { store, directory, config, now }: Patient,
  machine: Machine,
): Promise<Finding[]> {
  if (config.store.engine !== "sqlite" || !machine.disk) return [];
  const sites = Array.from(directory.sites());
  const firsts = await Promise.all(sites.map(({ id }) => store.doctorQueries.firstEventAt(id)));
  const first = Math.min(...firsts.filter((at) => at !== null));
  const keepMs = Math.max(0, ...sites.map(({ settings }) => Math.max(settings.keepMs, settings.keepLogMs)));
  const { size } = statSync(config.store.file);
  return judgeRoom({ bytes: size, ageMs: now - first, keepMs, freeBytes: machine.disk.freeBytes });
}

export function judgeRoom(given: {
  bytes: number;
  ageMs: number;
  keepMs: number;
  freeBytes: number;
}): Finding[] {
  const { bytes, ageMs, keepMs, freeBytes } = given;
  // A day says little of a year, but less says nothing.
  if (!Number.isFinite(ageMs) || ageMs < dayMs || ageMs >= keepMs) return [];
  const more = (bytes / ageMs) * (keepMs - ageMs);
  if (more <= freeBytes * 0.9) return [];
  return [
    warning(
      `at this rate the database grows by ${bytesText(more)} until its oldest rows are removed, and ${bytesText(freeBytes)} are free`,
      "Shorten 'keep' and 'keep_log' of the sites, or give it a larger disk.",
    ),
  ];
}
