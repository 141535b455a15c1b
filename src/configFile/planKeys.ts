// Plans the changes of a site's inbound keys. A key is found by its hash, and never changes. One that was rotated, revoked or
// has expired stays so: a relay that starts with the file must not fail because of that.

import type { InboundKey, Site } from "../sites/directory.ts";
import { hashKey, keyFormFault } from "../sites/keys.ts";
import { findSite, revokeKey } from "../sites/manage.ts";
import { addOwnKey } from "../sites/ownKeys.ts";
import type { Path } from "./document.ts";
import { mustBeReference, type Change, type PlannedChanges, type PlannedSite, type Planning } from "./planning.ts";
import type { KeyEntry } from "./schema.ts";

export function planKeys(
  planning: Planning,
  planned: PlannedSite,
  entries: readonly KeyEntry[] | undefined,
  known: Set<string>,
): PlannedChanges {
  const { context, faults, prune, unlisted, notes } = planning;
  const { site, host } = planned;
  const added: Change[] = [];
  const removed: Change[] = [];
  if (!entries) return { added, removed };
  const listed = new Set<string>();
  for (const [i, entry] of entries.entries()) {
    const path = [...planned.path, "keys", i];
    if (entry.key !== undefined && !planning.isReference([...path, "key"]))
      faults.push({ path: [...path, "key"], message: mustBeReference });
    const keyHash = entry.hash ?? hashKey(entry.key ?? "");
    if (known.has(keyHash)) faults.push({ path, message: "is the same key as another one in the file." });
    known.add(keyHash);
    listed.add(keyHash);
    const formFault = keyFormFault(entry.key ?? "", entry.mode);
    if (formFault) faults.push({ path: [...path, "key"], message: formFault });
    const expiresAt = entry.expires === undefined ? null : Date.parse(entry.expires);
    const existing = findKeyByHash(context.directory.sites(), keyHash);
    const fault = existing && keyFault(existing, { ...entry, expiresAt }, site);
    if (fault) faults.push({ path: [...path, ...fault.path], message: fault.message });
    const ended = endedText(existing, expiresAt, context.by.now);
    if (ended && !fault) notes.push(`The key "${entry.name}" of ${host} ${ended}`);
    if (existing || ended) continue;
    const prefix = entry.key?.slice(0, 8);
    added.push({
      kind: "add",
      what: `key "${entry.name}" of ${host}`,
      lines: [
        { name: "mode", before: null, after: entry.mode },
        ...(entry.expires === undefined ? [] : [{ name: "expires", before: null, after: entry.expires }]),
      ],
      loss: null,
      async run() {
        const wanted = { name: entry.name, mode: entry.mode, expiresAt, hash: keyHash, prefix };
        await addOwnKey(context, findSite(context, host), wanted, context.by);
        return null;
      },
    });
  }
  for (const key of site?.keys ?? []) {
    if (listed.has(key.hash) || key.revokedAt !== null) continue;
    const what = `key "${key.name}" (${key.id}) of ${host}`;
    if (!prune) unlisted.push(what);
    else
      removed.push({
        kind: "remove",
        what,
        lines: [],
        loss: `Requests with the key "${key.name}" are refused.`,
        async run() {
          await revokeKey(context, key, context.by);
          return null;
        },
      });
  }
  return { added, removed };
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
