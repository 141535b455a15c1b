// Runs steps 2 to 6 of the inbound checks: TLS, site, enabled, key, rate. The first step that fails answers the request.

import type { IncomingMessage } from "node:http";
import { Late, within } from "../kernel/deadline.ts";
import { hasSettings, isUsable, type Directory, type InboundKey, type Site } from "../sites/directory.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import { refusals, type InboundRefusal } from "./refusals.ts";
import type { RateLimit } from "../http/rate.ts";
import { hasSeveralHosts, isSecure, wasForwarded, type TransportRules } from "../http/transport.ts";
import type { WrongKeys } from "./wrongKeys.ts";

/** Bound the wait for an unknown key and for the lockout counter, so that a hung database cannot stall the answer. */
const lookUpTimeoutMs = 3000;
const countTimeoutMs = 2000;

export type Admitted = { site: Site; key: InboundKey };

export type AuthenticateOptions = {
  directory: Directory;
  /** The relay's own host name, from CLEANCAST_URL; null when that is not set. */
  ownHost: string | null;
  transport: TransportRules;
  wrongKeys: WrongKeys;
  rateLimit: RateLimit;
};

/** Only an unknown or wrong key takes time: it is looked up and counted in the store. */
export function authenticate(
  request: IncomingMessage,
  options: AuthenticateOptions,
  now: number,
): Admitted | InboundRefusal | Promise<Admitted | InboundRefusal> {
  const { directory, transport } = options;
  if (hasSeveralHosts(request)) return refusals.severalHosts;
  if (!isSecure(request, transport)) return wasForwarded(request) ? refusals.httpsRequired : refusals.httpsRequiredDirectly;
  const given = String(request.headers["x-cc-api-key"] ?? "");
  const key = directory.key(given);
  if (key || given === "") return checkKey(request, { given, key }, options, now);
  const found = within(lookUpTimeoutMs, directory.keyNow(given), "the store did not answer in time", Late);
  return found.then(
    (added) => checkKey(request, { given, key: added }, options, now),
    // The key may be valid: only a look-up that ended can say that it is not.
    () => refusals.unavailable,
  );
}

function checkKey(
  request: IncomingMessage,
  { given, key }: { given: string; key: InboundKey | undefined },
  { directory, ownHost, wrongKeys, rateLimit }: AuthenticateOptions,
  now: number,
): Admitted | InboundRefusal | Promise<InboundRefusal> {
  const host = hostOf(request.headers.host);
  // All sites share the relay's own name, even when one of them owns it: the key names the site.
  const isShared = host === ownHost || namesNoSite(host);
  const siteOfHost = isShared ? undefined : directory.siteOfHost(host);
  // Before the key, whatever it is: the contract says so.
  if (siteOfHost && !siteOfHost.settings.inbound) return whyClosed(siteOfHost);

  if (given === "") return refusals.invalidKey;
  const site = key && directory.site(key.siteId);
  if (!site || !isUsable(key, now) || (siteOfHost && siteOfHost.id !== site.id)) {
    return countWrongKey(wrongKeys, host, siteOfHost?.id ?? null, now);
  }
  if (!site.settings.inbound) return whyClosed(site);
  // A sender keeps its events until the site is served again, here or where its host leads by then.
  if (site.leaving) return site.leaving.state === "moved" ? refusals.siteMoved : refusals.siteMoving;

  const waitSeconds = rateLimit(key.id, site.settings.rateLimit, now);
  if (waitSeconds > 0) return refusals.rateLimited(waitSeconds);
  return { site, key };
}

/** A sender must keep its events while the settings of the site cannot be read. */
const whyClosed = (site: Site) => (hasSettings(site) ? refusals.notEnabled : refusals.unavailable);

async function countWrongKey(wrongKeys: WrongKeys, host: string, siteId: string | null, now: number): Promise<InboundRefusal> {
  // A count that cannot be written must neither turn the refusal into an error nor admit the request.
  const counted = within(countTimeoutMs, wrongKeys.count(host, siteId, now), "too slow");
  const lockedUntil = await counted.catch(() => 0);
  return lockedUntil > now ? refusals.tooManyWrongKeys((lockedUntil - now) / 1000) : refusals.invalidKey;
}
