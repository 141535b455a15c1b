// Shared links: read-only views of one site for people without an account. A link is /report/ID#TOKEN or /wall/ID#TOKEN; the token
// is in the fragment, which browsers never send, so it appears in no server's log. The page exchanges it for a cookie.

import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { hashPassword, isPassword, checkNewPassword, maxPasswordLength } from "../access/password.ts";
import { countAttempt, linkPasswordLimits, sharedLinkLimits, uncountAttempt } from "../access/rateCounters.ts";
import { randomBase62, shortId } from "../kernel/ids.ts";
import { say } from "../kernel/messages/message.ts";
import { Missing, Refusal, type By } from "../kernel/refusal.ts";
import { defaultLinkDays, maxLinkDays, type LinkScope } from "../kernel/scopes.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import type { Site } from "../sites/directory.ts";
import { auditLine, requireSettings } from "../sites/manage.ts";
import { maxLinks, type SharedLink } from "../store/sharing/sharedLinks.ts";
import type { Store } from "../store/store.ts";

type LinkStore = Pick<Store, "sharedLinks" | "rateCounters">;

type LinkRequest = {
  scope: LinkScope;
  name: string;
  expiresAt?: number | undefined;
  password?: string | undefined;
};

/** Returns the link with its address, which is shown once. */
export async function addLink(
  store: LinkStore,
  site: Site,
  { scope, name, expiresAt, password }: LinkRequest,
  { origin, ...by }: By & { origin: string },
): Promise<{ link: SharedLink; url: string }> {
  requireSettings(site);
  const ends = expiresAt ?? by.now + defaultLinkDays[scope] * dayMs;
  if (ends <= by.now) throw new Refusal("expiresAt", say("expiry_past"));
  if (ends > by.now + maxLinkDays * dayMs + hourMs) throw new Refusal("expiresAt", say("link_too_long", { max: maxLinkDays }));
  if (password !== undefined) checkNewPassword(password);
  const token = randomBase62(32);
  const link: SharedLink = {
    id: shortId(),
    siteId: site.id,
    scope,
    name,
    hash: hashToken(token),
    password: password === undefined ? null : await hashPassword(password),
    createdBy: by.actor,
    createdAt: by.now,
    expiresAt: ends,
    openedAt: null,
    revokedAt: null,
  };
  const detail = { id: link.id, scope, name, expiresAt: ends, password: password !== undefined };
  if (!(await store.sharedLinks.add(auditLine(site.id, "link shared", detail, by), link)))
    throw new Refusal("scope", say("too_many_links", { max: maxLinks }));
  return { link, url: `${origin}/${scope}/${link.id}#${token}` };
}

export async function revokeLink(store: LinkStore, siteId: string, id: string, by: By): Promise<void> {
  const link = await store.sharedLinks.find(id);
  if (link?.siteId !== siteId) throw new Missing("link", say("no_such_link"));
  const line = auditLine(siteId, "shared link revoked", { id, scope: link.scope, name: link.name }, by);
  await store.sharedLinks.revoke(line, id);
}

const hashToken = (token: string) => hash("sha256", token);

const isEqual = (one: string, other: string) => timingSafeEqual(Buffer.from(hashToken(one)), Buffer.from(hashToken(other)));

/** A link that was revoked on one node ends on all of them within this time. */
const cachedMs = 1500;
const maxCached = 1000;
/** A report is opened again with its link. A wall has a screen of its own, on which nobody types. */
const cookieMs: Readonly<Record<LinkScope, number>> = { report: 12 * hourMs, wall: maxLinkDays * dayMs };

/** Takes the place of a link that does not exist, so that the check takes as long. */
const unknown = { id: "", hash: "", password: null };

type Opened = { cookie: string; maxAgeSeconds: number } | "password needed" | "password wrong" | null;

/** Opens links. What is wrong with a link is never told: unknown, expired and revoked ones are the same to strangers. */
export function createLinks({ store, secret, now }: { store: LinkStore; secret: string; now: () => number }) {
  const cache = new Map<string, { link: SharedLink | null; asked: number }>();

  async function find(id: string): Promise<SharedLink | null> {
    const cached = cache.get(id);
    const asked = now();
    // Not before `asked` either: the clock may have been set back, and a revoked link must end.
    if (cached && cached.asked <= asked && asked < cached.asked + cachedMs) return cached.link;
    const link = await store.sharedLinks.find(id);
    if (cache.size >= maxCached) cache.clear();
    cache.set(id, { link, asked });
    return link;
  }

  const isUsable = (link: SharedLink | null, scope: LinkScope): link is SharedLink =>
    link !== null && link.scope === scope && link.revokedAt === null && link.expiresAt > now();

  /** A changed password or token ends the cookies that were given before. */
  const sign = ({ id, hash: tokenHash, password }: Pick<SharedLink, "id" | "hash" | "password">, until: number) =>
    createHmac("sha256", secret)
      .update(["shared link", id, tokenHash, password ?? "", until].join("\n"))
      .digest("base64url");

  return {
    /** Exchanges the token of a link, and its password if it has one, for a cookie. Null for a link that does not work. */
    async open(
      scope: LinkScope,
      id: string,
      given: { token: string; password: string | null },
      address: string,
    ): Promise<Opened> {
      const attempts = sharedLinkLimits(address);
      await countAttempt(store, attempts, now());
      // Read anew, so that a link works as soon as it is made.
      cache.delete(id);
      const link = await find(id);
      const isToken = isEqual(link?.hash ?? "", hashToken(given.token));
      if (!isToken || !isUsable(link, scope)) return null;
      if (link.password !== null) {
        if (given.password === null) {
          await uncountAttempt(store, attempts);
          return "password needed";
        }
        const guesses = linkPasswordLimits(id, address);
        await countAttempt(store, guesses, now());
        if (!(await isPassword(given.password.slice(0, maxPasswordLength), link.password))) return "password wrong";
        await uncountAttempt(store, guesses);
      }
      await uncountAttempt(store, attempts);
      const until = Math.min(link.expiresAt, now() + cookieMs[scope]);
      return { cookie: `${until}.${sign(link, until)}`, maxAgeSeconds: Math.ceil((until - now()) / 1000) };
    },

    /** Returns the link whose cookie this is; null where it does not work, or no longer. */
    async check(scope: LinkScope, id: string, cookie: string): Promise<SharedLink | null> {
      const link = await find(id);
      const [until = "", signature = ""] = cookie.split(".");
      const isSigned = isEqual(signature, sign(link ?? unknown, Number(until)));
      if (!isSigned || !(Number(until) > now()) || !isUsable(link, scope)) return null;
      await store.sharedLinks.noteOpened(link, now());
      return link;
    },
  };
}
