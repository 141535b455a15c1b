// Manages the API keys of the management API. Each is cached for less than two seconds, so a key revoked on one node ends
// on all nodes within that time.

import { hourMs } from "../kernel/time.ts";
import { shortId } from "../kernel/ids.ts";
import { scopes } from "../kernel/scopes.ts";
import { isUsable, type Directory, type InboundKey } from "../sites/directory.ts";
import { countKeyUses, type KeyUses } from "../sites/keyUses.ts";
import { hashKey, isWellFormed, makeKey } from "../sites/keys.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied, type By, Missing, Refusal } from "../kernel/refusal.ts";
import { auditLine } from "../sites/manage.ts";
import { maxUsable, type ApiKey } from "../store/access/apiKeys.ts";
import type { Actor } from "./actor.ts";
import { checkScope, owns, ownsSomething, type Holder } from "./members.ts";
import type { AccessContext } from "./context.ts";

const cachedMs = 1500;
const maxCached = 1000;
/** Uses of API keys are counted under this id, as a key may belong to no site. */
const noSite = "";

export function createApiKeys(context: AccessContext) {
  const { store, directory, now, onDefect } = context;
  const cache = new Map<string, { key: ApiKey; asked: number }>();
  let uses: KeyUses | null = null;

  async function find(text: string): Promise<ApiKey | null> {
    if (!isWellFormed(text) || !text.startsWith("ccm_")) return null;
    const hash = hashKey(text);
    const cached = cache.get(hash);
    const asked = now();
    // Not before `asked` either: the clock may have been set back, and a revoked key must end.
    if (cached && cached.asked <= asked && asked < cached.asked + cachedMs) return cached.key;
    const key = await store.apiKeys.findByHash(hash);
    cache.delete(hash);
    if (cache.size >= maxCached) cache.clear();
    if (key) cache.set(hash, { key, asked });
    return key;
  }

  return {
    /** Throws for a key that is unknown, revoked or expired, so that its holder notices. */
    async actorOf(text: string): Promise<Actor> {
      const key = await find(text);
      const at = now();
      if (!key || key.revokedAt !== null || (key.expiresAt !== null && key.expiresAt <= at))
        throw new Denied("signed_out", say("api_key_invalid"));
      uses ??= countKeyUses(store, shortId(), onDefect);
      uses.count(noSite, key.id, at);
      const { id, name, site, scopes: granted } = key;
      const role = granted.includes("write") ? "admin" : "viewer";
      return { kind: "API key", id, name, scopes: granted, grants: [{ site, role }] };
    },

    async list(holder: Holder) {
      if (!ownsSomething(holder)) return [];
      const used = await store.keyUse.sumUses(noSite, Math.floor(now() / hourMs) - 23);
      const keys = (await store.apiKeys.list()).filter(({ site }) => owns(holder, site));
      const madeBy = groupMadeKeys(directory, now());
      return keys.map((key) => ({
        ...key,
        inboundKeys: (madeBy.get(key.id) ?? []).map(({ siteId, id, name }) => ({ site: siteId, id, name })),
        lastUsedAt: used.get(key.id)?.lastUsedAt ?? null,
        uses24h: used.get(key.id)?.uses24h ?? 0,
      }));
    },

    async add(
      holder: Holder,
      wanted: Pick<ApiKey, "name" | "site" | "scopes" | "expiresAt">,
      by: By,
    ): Promise<{ id: string; key: string }> {
      const { name, site, expiresAt } = wanted;
      const granted = scopes.filter((scope) => wanted.scopes.includes(scope));
      checkScope(context, holder, site);
      if (granted.length === 0) throw new Refusal("scopes", say("scope_needed"));
      if (expiresAt !== null && expiresAt <= by.now) throw new Refusal("expiresAt", say("expiry_date_past"));
      const { key, hash, prefix } = makeKey("API");
      const id = shortId();
      const isAdded = await store.apiKeys.add(
        auditLine(site ?? "", "API key added", { id, name, prefix, scopes: granted }, by),
        {
          id,
          name,
          site,
          scopes: granted,
          prefix,
          expiresAt,
          createdBy: by.actor,
          createdAt: by.now,
          revokedAt: null,
        },
        hash,
      );
      if (!isAdded)
        throw new Refusal("site", say("too_many_api_keys", { max: maxUsable, where: site === null ? "all sites" : "this site" }));
      return { id, key };
    },

    /** Returns the ids of the inbound keys that were revoked with it. */
    async revoke(holder: Holder, id: string, inboundKeys: "revoke" | "keep", by: By): Promise<string[]> {
      const key = await store.apiKeys.findById(id);
      if (!key || !owns(holder, key.site)) throw new Missing("key", say("no_such_api_key"));
      const line = auditLine(key.site ?? "", "API key revoked", { id, name: key.name }, by);
      const revoked = await store.apiKeys.revoke(line, id, inboundKeys);
      cache.clear();
      await directory.refresh();
      return revoked;
    },

    async close(): Promise<void> {
      await uses?.stop();
    },
  };
}

/** Returns the usable inbound keys that API keys made, by API key. */
function groupMadeKeys(directory: Directory, now: number): Map<string, InboundKey[]> {
  const made: InboundKey[] = [];
  for (const site of directory.sites())
    for (const key of site.keys) if (key.apiKeyId !== null && isUsable(key, now)) made.push(key);
  return Map.groupBy(made, ({ apiKeyId }) => apiKeyId ?? "");
}
