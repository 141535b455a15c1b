// Sites, hosts, inbound keys and connections, which every node caches in memory. Each change raises the one `revision` and
// writes it to the site in the same transaction; nodes poll the number and reload the sites with a newer one.

import { connectionStates, type ConnectionState, type Mode } from "../../kernel/event.ts";
import { Denied } from "../../kernel/refusal.ts";
import { isApiKeyRevoked } from "../access/apiKeys.ts";
import type { AuditLine } from "./audit.ts";
import { unsealObject, readObject, tryParse } from "../damagedRows.ts";
import { columns } from "../schema/columns.ts";
import { asNumber, asNumberOrNull, asOneOf, asText, asTextOrNull, describeRow } from "../describeRow.ts";
import { allByKeys, insertRow, insertRows, orReplace, type Database, type Query, type Row } from "../engine/database.ts";
import { removeQuestions } from "../confirmations/questions.ts";
import { hostRow, insertHost, type HostRow } from "./hosts.ts";
import { removeCheck, resetCheck } from "./connectionChecks.ts";
import { changeConfiguration } from "./revision.ts";
import type { Seal } from "../engine/seal.ts";
import { readSetting } from "../settings.ts";
import { asLeaving, type LeavingState } from "./siteMoves.ts";
import { unsealSettings, replaceSettings } from "./siteSettings.ts";
import { removeSource, saveSource, sourceOf, type SourceRow } from "./sources.ts";

export type KeyRow = {
  siteId: string;
  id: string;
  name: string;
  mode: Mode;
  /** SHA-256 of the key, hex. The key itself is not stored. */
  hash: string;
  prefix: string;
  createdAt: number;
  expiresAt: number | null;
  revokedAt: number | null;
  /** The API key that made this key, and can take it with it when it is revoked; null for people and the command line. */
  apiKeyId: string | null;
};

export type ConnectionRow = {
  siteId: string;
  id: string;
  platform: string;
  account: string;
  /** Every setting, secret ones included; the secret ones are sealed at rest. */
  settings: Record<string, string>;
  /** The events that go to this connection, lower case; null for all. */
  events: string[] | null;
  state: ConnectionState;
  stateReason: string | null;
  createdAt: number;
  /** The columns that cannot be read; absent where the row is whole. Such a connection is never active. */
  unreadable?: readonly string[];
};

export type SiteRow = {
  id: string;
  name: string;
  settings: Record<string, unknown>;
  createdAt: number;
  /** All hosts of the site, served or not, in the order in which they were added. */
  hosts: string[];
  hostRows: HostRow[];
  keys: KeyRow[];
  connections: ConnectionRow[];
  sources: SourceRow[];
  /** Set where the site is moved to another installation: it is not served here for now, or for good. */
  leaving: { state: LeavingState; peer: string } | null;
  /** The settings that cannot be read, by their names or as `allSettings`; absent where all can. */
  unreadable?: readonly string[];
};

/** The reason of a connection or webhook whose row is damaged. */
export const cannotBeRead = "cannot be read";

/** Binds sealed credentials to their connection. */
export const connectionPlace = (siteId: string, id: string) => `connection ${siteId} ${id}`;

/** `refuseWrongKey` throws where the encryption key is wrong: then no row is damaged, and none must be taken for it. */
export function configurationStore(db: Database, seal: Seal, newId: () => string, refuseWrongKey: () => Promise<void>) {
  const change = (line: AuditLine, work: (tx: Query) => Promise<unknown>) => changeConfiguration(db, newId(), line, work);

  async function loadSites(rows: readonly Row[]): Promise<SiteRow[]> {
    const ids = rows.map((row) => String(row.site_id));
    const readBySite = async (sql: string) => Map.groupBy(await allByKeys(db, sql, [], ids), (row) => String(row.site_id));
    const hosts = await readBySite(`SELECT ${hostRow.list} FROM hosts WHERE site_id IN ({KEYS}) ORDER BY created_at, host`);
    const keys = await readBySite(`SELECT ${keyRow.list} FROM inbound_keys WHERE site_id IN ({KEYS}) ORDER BY created_at, id`);
    const connections = await readBySite(
      `SELECT ${columns.connections} FROM connections WHERE site_id IN ({KEYS}) ORDER BY created_at, id`,
    );
    const sources = await readBySite(`SELECT ${columns.sources} FROM sources WHERE site_id IN ({KEYS}) ORDER BY created_at, id`);
    const moves = await readBySite(`SELECT site_id, state, peer FROM site_moves WHERE site_id IN ({KEYS})`);
    const sites = rows.map((row): SiteRow => {
      const id = String(row.site_id);
      const hostRows = (hosts.get(id) ?? []).map(hostRow.read);
      const { settings, unreadable } = unsealSettings(seal, id, String(row.settings));
      return {
        id,
        name: String(row.name),
        settings,
        createdAt: Number(row.created_at),
        hosts: hostRows.map(({ host }) => host),
        hostRows,
        keys: (keys.get(id) ?? []).map(keyRow.read),
        connections: (connections.get(id) ?? []).map((one) => connectionOf(one, seal)),
        sources: (sources.get(id) ?? []).map((one) => sourceOf(one, seal)),
        leaving: leavingOf(moves.get(id)?.[0]),
        ...(unreadable.length > 0 && { unreadable }),
      };
    });
    if (sites.some(isDamaged)) await refuseWrongKey();
    return sites;
  }

  const readRevision = async () => Number(await readSetting(db, "revision"));

  return {
    readRevision,

    /**
     * Lists the sites that changed after `revision`, with all their rows. What changes between two of the statements is read
     * again: half of a change, such as a new key without the setting that lets it in, is a state that never was.
     */
    async listSitesSince(revision: number): Promise<SiteRow[]> {
      const found = new Map<string, SiteRow>();
      for (let since = revision; ;) {
        const before = await readRevision();
        const rows = await db.all(`SELECT ${columns.sites} FROM sites WHERE revision > $1 ORDER BY created_at, site_id`, [since]);
        for (const site of await loadSites(rows)) found.set(site.id, site);
        if (Object.is(await readRevision(), before)) return [...found.values()];
        since = before;
      }
    },

    /** `displaces` is the audit line of a site that loses the host because it had not verified it. */
    addSite(
      line: AuditLine,
      site: { name: string; settings: Record<string, unknown>; hosts: string[] },
      displaces: AuditLine | null = null,
    ): Promise<void> {
      const auditId = newId();
      return change(line, async (tx) => {
        const settings = JSON.stringify(site.settings);
        await insertRow(tx, "sites", { site_id: line.siteId, name: site.name, settings, revision: 0, created_at: line.at });
        for (const host of site.hosts) await insertHost(tx, auditId, line, { host, isTrusted: true, displaces });
      });
    },

    renameSite(line: AuditLine, name: string): Promise<void> {
      return change(line, (tx) => tx.all(`UPDATE sites SET name = $1 WHERE site_id = $2`, [name, line.siteId]));
    },

    /** Applies the change to the stored settings, not to a copy read earlier: changes of configuration are serialised. */
    changeSettings(line: AuditLine, changeStored: (stored: Record<string, unknown>) => Record<string, unknown>): Promise<void> {
      return change(line, (tx) => replaceSettings(tx, seal, line.siteId, changeStored));
    },

    saveSource(line: AuditLine, source: SourceRow): Promise<void> {
      return change(line, (tx) => saveSource(tx, seal, source, line.at));
    },

    removeSource(line: AuditLine, id: string): Promise<void> {
      return change(line, (tx) => removeSource(tx, line, id));
    },

    /** `settings` are changed together with the new key. */
    addKey(line: AuditLine, key: KeyRow, settings: Record<string, unknown>): Promise<void> {
      return change(line, async (tx) => {
        await insertKey(tx, key);
        if (Object.keys(settings).length === 0) return;
        await replaceSettings(tx, seal, key.siteId, (stored) => ({ ...stored, ...settings }));
      });
    },

    /** Adds the new key and sets the expiry of the old one, in one transaction. */
    rotateKey(line: AuditLine, oldId: string, oldExpiresAt: number, key: KeyRow): Promise<void> {
      return change(line, async (tx) => {
        await insertKey(tx, key);
        await tx.all(`UPDATE inbound_keys SET expires_at = $1 WHERE site_id = $2 AND id = $3`, [oldExpiresAt, key.siteId, oldId]);
      });
    },

    revokeKey(line: AuditLine, id: string): Promise<void> {
      return change(line, (tx) =>
        tx.all(`UPDATE inbound_keys SET revoked_at = $1 WHERE site_id = $2 AND id = $3 AND revoked_at IS NULL`, [
          line.at,
          line.siteId,
          id,
        ]),
      );
    },

    /** Inserts or updates a connection. `secrets` names the settings that are sealed. */
    saveConnection(line: AuditLine, connection: ConnectionRow, secrets: ReadonlySet<string>): Promise<void> {
      const entries = Object.entries(connection.settings);
      const open = Object.fromEntries(entries.filter(([name]) => !secrets.has(name)));
      const sealed = Object.fromEntries(entries.filter(([name]) => secrets.has(name)));
      const { siteId, id, platform, account, events, state, stateReason, createdAt } = connection;
      const set = {
        settings: JSON.stringify(open),
        credentials: seal.seal(JSON.stringify(sealed), connectionPlace(siteId, id)),
        events: JSON.stringify(events),
        state,
        state_reason: stateReason,
        updated_at: line.at,
      };
      return change(line, async (tx) => {
        // The check was of the settings before.
        await resetCheck(tx, siteId, id, line.at);
        const row = { site_id: siteId, id, platform, account, created_at: createdAt, ...set };
        await insertRow(tx, "connections", row, orReplace("site_id, id", ...Object.keys(set)));
      });
    },

    /** Lists the removed connections to an account of a platform. */
    async listRemoved(siteId: string, platform: string, account: string): Promise<string[]> {
      const rows = await db.all(`SELECT id FROM removed_connections WHERE site_id = $1 AND platform = $2 AND account = $3`, [
        siteId,
        platform,
        account,
      ]);
      return rows.map((row) => String(row.id));
    },

    removeConnection(line: AuditLine, id: string): Promise<void> {
      return change(line, async (tx) => {
        const removed = await tx.all(
          `DELETE FROM connections WHERE site_id = $1 AND id = $2 RETURNING site_id, id, platform, account`,
          [line.siteId, id],
        );
        const rows = removed.map((row) => ({ ...row, removed_at: line.at }));
        await insertRows(tx, "removed_connections", rows, "ON CONFLICT DO NOTHING");
        await removeCheck(tx, line.siteId, id);
        await removeQuestions(tx, line.siteId, id);
      });
    },

    setConnectionState(line: AuditLine, id: string, state: ConnectionState, reason: string | null): Promise<void> {
      return change(line, (tx) =>
        tx.all(`UPDATE connections SET state = $1, state_reason = $2, updated_at = $3 WHERE site_id = $4 AND id = $5`, [
          state,
          reason,
          line.at,
          line.siteId,
          id,
        ]),
      );
    },
  };
}

const isDamaged = ({ unreadable, connections, sources }: SiteRow) =>
  unreadable !== undefined || [...connections, ...sources].some((one) => one.unreadable !== undefined);

/** A damaged connection needs reconnection, so that its deliveries wait; a paused one stays paused. */
function connectionOf(row: Row, seal: Seal): ConnectionRow {
  const siteId = String(row.site_id);
  const id = String(row.id);
  const settings = readObject(String(row.settings));
  const credentials = unsealObject(seal, String(row.credentials), connectionPlace(siteId, id));
  const events = readSelection(String(row.events));
  const state = connectionStates.find((one) => one === row.state);
  const read = { settings, credentials, events, state };
  const unreadable = Object.entries(read).flatMap(([name, value]) => (value == null ? [name] : []));
  return {
    siteId,
    id,
    platform: String(row.platform),
    account: String(row.account),
    settings: { ...settings, ...credentials } as Record<string, string>,
    events: events === "all" ? null : (events ?? null),
    state: state ?? "needs reconnection",
    stateReason: row.state_reason as string | null,
    createdAt: Number(row.created_at),
    ...(unreadable.length > 0 && {
      unreadable,
      state: state === "paused" ? state : "needs reconnection",
      stateReason: cannotBeRead,
    }),
  };
}

function leavingOf(row: Row | undefined): SiteRow["leaving"] {
  const state = row && asLeaving(row);
  return state ? { state, peer: String(row.peer) } : null;
}

function readSelection(text: string): string[] | "all" | null {
  const value = tryParse(text);
  if (value === null) return "all";
  return Array.isArray(value) && value.every((one) => typeof one === "string") ? value : null;
}

async function insertKey(tx: Query, key: KeyRow): Promise<void> {
  // Another node may have revoked the API key a moment ago: no key may be made that its revocation did not find.
  if (key.apiKeyId !== null && (await isApiKeyRevoked(tx, key.apiKeyId)))
    throw new Denied("signed_out", "This API key is not valid.");
  await insertRow(tx, "inbound_keys", keyRow.toRow(key));
}

export const keyRow = describeRow<KeyRow, KeyRow>({
  siteId: asText,
  id: asText,
  name: asText,
  mode: asOneOf<Mode>(),
  hash: asText,
  prefix: asText,
  createdAt: asNumber,
  expiresAt: asNumberOrNull,
  revokedAt: asNumberOrNull,
  apiKeyId: asTextOrNull,
});
