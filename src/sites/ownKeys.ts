// Adds an inbound key that was made elsewhere, such as in a secret manager: only its SHA-256 comes here, and the key itself is
// never seen.

import type { Mode } from "../kernel/event.ts";
import { say } from "../kernel/messages/message.ts";
import { Conflict, Refusal, type By } from "../kernel/refusal.ts";
import type { Directory, Site } from "./directory.ts";
import { keyFormFault } from "./keys.ts";
import { addKey, type SiteContext } from "./manage.ts";

/** Shown in place of the first characters of a key, which only the owner of the key knows. */
const unknownPrefix = "(own)";
const maxPrefixLength = 8;

type OwnKey = {
  name: string;
  mode: Mode;
  expiresAt: number | null;
  /** SHA-256 of the key in hex. */
  hash: string;
  /** The first characters of the key, by which people tell keys apart. */
  prefix?: string | undefined;
};

export async function addOwnKey(
  context: SiteContext,
  site: Site,
  wanted: OwnKey,
  by: By,
): Promise<{ id: string; openedInbound: boolean }> {
  const hash = wanted.hash.trim().toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new Refusal("hash", say("key_hash_invalid"));
  const prefix = wanted.prefix?.trim() || unknownPrefix;
  if (prefix.length > maxPrefixLength) throw new Refusal("prefix", say("key_prefix_too_long", { max: maxPrefixLength }));
  const fault = keyFormFault(prefix, wanted.mode);
  if (fault) throw new Refusal("prefix", fault);
  refuseKnown(context.directory, hash);
  const { name, mode, expiresAt } = wanted;
  const own = { key: "", hash, prefix };
  const added = await addKey(context, site, { name, mode, expiresAt, own }, by).catch(async (error: unknown) => {
    // Another process may have added it a moment ago.
    await context.directory.refresh();
    refuseKnown(context.directory, hash);
    throw error;
  });
  return { id: added.id, openedInbound: added.openedInbound };
}

/** A key names its site, so it can belong to one only; a revoked one must not become valid again under another name. */
function refuseKnown(directory: Directory, hash: string): void {
  for (const site of directory.sites())
    for (const key of site.keys)
      if (key.hash === hash)
        throw new Conflict(
          "hash",
          say("key_exists"),
          `This key was added already: it is the key ${key.id} of ${site.hosts[0] ?? site.id}.`,
        );
}
