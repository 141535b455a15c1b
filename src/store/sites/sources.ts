// Sources: systems of a customer that send their own webhooks. They are configuration, which every node keeps in memory. The
// address of a source and its secrets are sealed; the hash of the address finds it.

import type { AuditLine } from "./audit.ts";
import { readObject, tryParse, unsealObject } from "../damagedRows.ts";
import { insertRow, orReplace, type Query, type Row } from "../engine/database.ts";
import type { Seal } from "../engine/seal.ts";

export const sourceStates = ["active", "paused"] as const;
export type SourceState = (typeof sourceStates)[number];

/** A value that is valid until a time; null for the current one, which has no end. */
export type Dated = { value: string; until: number | null };

export type SourceRow = {
  siteId: string;
  id: string;
  kind: string;
  name: string;
  /** Every setting but the secret ones. */
  settings: Record<string, string>;
  /** The hashes of the addresses: the newest first. */
  tokenHashes: readonly Dated[];
  /** The addresses themselves, in the same order. */
  tokens: readonly Dated[];
  /** By the name of the setting, the newest first. */
  secrets: Readonly<Record<string, readonly Dated[]>>;
  state: SourceState;
  createdAt: number;
  updatedAt: number;
  /** The columns that cannot be read; absent where the row is whole. Requests to such a source are to be repeated. */
  unreadable?: readonly string[];
};

/** Binds sealed credentials to their source. */
export const sourcePlace = (siteId: string, id: string) => `source ${siteId} ${id}`;

export function sourceOf(row: Row, seal: Seal): SourceRow {
  const siteId = String(row.site_id);
  const id = String(row.id);
  const settings = readObject(String(row.settings));
  const credentials = unsealObject(seal, String(row.credentials), sourcePlace(siteId, id));
  const tokenHashes = readDated(tryParse(String(row.tokens)));
  const state = sourceStates.find((one) => one === row.state);
  const tokens = credentials && readDated(credentials.tokens);
  const read = { settings, credentials: tokens, tokens: tokenHashes, state };
  const unreadable = Object.entries(read).flatMap(([name, value]) => (value == null ? [name] : []));
  return {
    siteId,
    id,
    kind: String(row.kind),
    name: String(row.name),
    settings: (settings ?? {}) as Record<string, string>,
    tokenHashes: tokenHashes ?? [],
    tokens: tokens ?? [],
    secrets: (credentials?.secrets ?? {}) as SourceRow["secrets"],
    state: state ?? "paused",
    createdAt: Number(row.created_at),
    updatedAt: Number(row.updated_at),
    ...(unreadable.length > 0 && { unreadable }),
  };
}

const readDated = (value: unknown): Dated[] | null => (Array.isArray(value) ? (value as Dated[]) : null);

/** Writes a source, new or changed. */
export async function saveSource(tx: Query, seal: Seal, source: SourceRow, at: number): Promise<void> {
  const { siteId, id, kind, name, settings, tokenHashes, tokens, secrets, state, createdAt } = source;
  const set = {
    name,
    settings: JSON.stringify(settings),
    tokens: JSON.stringify(tokenHashes),
    credentials: seal.seal(JSON.stringify({ tokens, secrets }), sourcePlace(siteId, id)),
    state,
    updated_at: at,
  };
  const row = { site_id: siteId, id, kind, created_at: createdAt, ...set };
  await insertRow(tx, "sources", row, orReplace("site_id, id", ...Object.keys(set)));
  // A key may have been corrected.
  await tx.all(`UPDATE source_requests SET due_at = $3 WHERE site_id = $1 AND source_id = $2 AND due_at > $3`, [siteId, id, at]);
  if (settings.keep_requests !== "on")
    await tx.all(`UPDATE source_shapes SET request = NULL WHERE site_id = $1 AND source_id = $2`, [siteId, id]);
}

/** What the source remembered goes with it, and the counts of its uses; its events stay. */
export async function removeSource(tx: Query, { siteId }: AuditLine, id: string): Promise<void> {
  for (const table of ["sender_refs", "source_requests", "source_shapes"])
    await tx.all(`DELETE FROM ${table} WHERE site_id = $1 AND source_id = $2`, [siteId, id]);
  await tx.all(`DELETE FROM key_uses WHERE site_id = $1 AND key_id = $2`, [siteId, id]);
  await tx.all(`DELETE FROM sources WHERE site_id = $1 AND id = $2`, [siteId, id]);
}
