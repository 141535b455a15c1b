// Plans the changes of a site's inbound keys. A key is found by its hash, and never changes. One that was rotated, revoked or
// has expired stays so: a relay that starts with the file must not fail because of that.

import { isUsable, type InboundKey, type Site } from "../sites/directory.ts";
import { hashKey, keyFormFault } from "../sites/keys.ts";
import { findSite, maxKeys, revokeKey } from "../sites/manage.ts";
import { addOwnKey } from "../sites/ownKeys.ts";
import type { Path } from "./document.ts";
import { mustBeReference, reconcile, type Change, type ChangedLine, type PlannedSite, type Planning } from "./planning.ts";
import type { KeyEntry } from "./schema.ts";
import { english } from "../kernel/messages/message.ts";

type WantedKey = { entry: KeyEntry; path: Path; hash: string; expiresAt: number | null };

/** `known` collects the keys of the whole file. */
export async function planKeys(
  planning: Planning,
  { site, isUnidentified, host, path }: PlannedSite,
  entries: readonly KeyEntry[],
  known: Set<string>,
): Promise<Change[]> {
  const { context } = planning;
  const usableOf = ({ keys }: Pick<Site, "keys">) => keys.filter((key) => isUsable(key, context.by.now));
  const wanted = entries.map((entry, i) => readEntry(planning, entry, [...path, "keys", i], known));
  const listed = new Set(wanted.map(({ hash }) => hash));
  const usable = site ? usableOf(site) : [];
  const leaving = planning.prune ? usable.filter((key) => !listed.has(key.hash)) : [];
  const left = new Set<string>();
  /** Keys are revoked last, but for those that hold the room of a new one. */
  async function makeRoom(): Promise<void> {
    for (const key of leaving) {
      if (left.has(key.id)) continue;
      if (usableOf(findSite(context, host)).length < maxKeys) return;
      await leave(key);
    }
  }
  async function leave(key: InboundKey): Promise<void> {
    if (!left.has(key.id)) await revokeKey(context, key, context.by);
    left.add(key.id);
  }
  const changes = await reconcile(planning, {
    wanted: wanted.map((key) => [key.hash, key]),
    existing: (site?.keys ?? []).filter(({ revokedAt }) => revokedAt === null).map((key) => [key.hash, key]),
    plan({ entry, path: own, hash, expiresAt }) {
      const { name, mode, expires } = entry;
      const existing = findKeyByHash(context.directory.sites(), hash);
      const ended = endedText(existing, expiresAt, context.by.now);
      const fault = existing && !isUnidentified && keyFault(existing, { ...entry, expiresAt }, site);
      if (fault) planning.faults.push({ path: [...own, ...fault.path], message: fault.message });
      else if (ended) planning.notes.push(`The key "${name}" of ${host} ${ended}`);
      if (existing || ended) return [];
      const prefix = entry.key?.slice(0, 8);
      const lines: ChangedLine[] = [{ name: "mode", before: null, after: mode }];
      if (expires !== undefined) lines.push({ name: "expires", before: null, after: expires });
      const run = async () => {
        await makeRoom();
        await addOwnKey(context, findSite(context, host), { name, mode, expiresAt, hash, prefix }, context.by);
      };
      return [{ kind: "add", what: `key "${name}" of ${host}`, lines, run }];
    },
    remove: (key) => ({
      what: `key "${key.name}" (${key.id}) of ${host}`,
      loss: () => `Requests with the key "${key.name}" are refused.`,
      run: () => leave(key),
    }),
  });
  const added = changes.filter(({ kind }) => kind === "add").length;
  const count = added + usable.length - leaving.length;
  if (added > 0 && count > maxKeys)
    planning.faults.push({
      path: [...path, "keys"],
      message: `would make ${count} valid ones together with those that exist: a site has at most ${maxKeys}. Remove some first.`,
    });
  return changes;
}

function readEntry({ faults, isReference }: Planning, entry: KeyEntry, path: Path, known: Set<string>): WantedKey {
  const { key = "", mode, expires } = entry;
  if (entry.key !== undefined && !isReference([...path, "key"]))
    faults.push({ path: [...path, "key"], message: mustBeReference });
  const hash = entry.hash ?? hashKey(key);
  if (known.has(hash)) faults.push({ path, message: "is the same key as another one in the file." });
  known.add(hash);
  const formFault = keyFormFault(key, mode);
  if (formFault) faults.push({ path: [...path, "key"], message: english(formFault) });
  return { entry, path, hash, expiresAt: expires === undefined ? null : Date.parse(expires) };
}

function findKeyByHash(sites: Iterable<Site>, keyHash: string): InboundKey | null {
  for (const site of sites) {
    const key = site.keys.find((one) => one.hash === keyHash);
    if (key) return key;
  }
  return null;
}

type KeyFault = { path: Path; message: string };

/** Nothing of a key can be changed: its holder would not notice. */
function keyFault(existing: InboundKey, entry: KeyEntry & { expiresAt: number | null }, site: Site | null): KeyFault | null {
  const fault = (field: string, message: string) => ({ path: [field], message });
  if (existing.siteId !== site?.id) return { path: [], message: "is a key of another site." };
  if (existing.revokedAt !== null) return null;
  if (existing.name !== entry.name) return fault("name", `of this key is "${existing.name}", and cannot change.`);
  if (existing.mode !== entry.mode) return fault("mode", `of this key is ${existing.mode}, and cannot change.`);
  if (endOf(existing) > endOf(entry)) {
    const present = existing.expiresAt === null ? "never" : timeOf(existing.expiresAt);
    return fault("expires", `of this key is ${present}, and cannot change.`);
  }
  return null;
}

/** Says why a key ends earlier than the file says, or is not added; null for any other. */
function endedText(existing: InboundKey | null, expiresAt: number | null, now: number): string | null {
  if (existing && existing.revokedAt !== null)
    return "was revoked, and stays so: remove it from the file, and give the sender a new key.";
  if (existing && existing.expiresAt !== null && existing.expiresAt < endOf({ expiresAt }))
    return `expires at ${timeOf(existing.expiresAt)}, as after a rotation, and stays so: remove it from the file when no sender uses it.`;
  if (!existing && expiresAt !== null && expiresAt <= now)
    return `expired at ${timeOf(expiresAt)} and is not added: remove it from the file.`;
  return null;
}

const endOf = ({ expiresAt }: Pick<InboundKey, "expiresAt">) => expiresAt ?? Number.POSITIVE_INFINITY;
const timeOf = (ms: number) => new Date(ms).toISOString();
