// Steps 2 to 6 of the inbound ladder: transport, site, switch, key, rate. The first that fails answers.

import type { IncomingMessage } from "node:http";
import { within } from "../kernel/deadline.ts";
import { isUsable, type Directory, type InboundKey, type Site } from "../sites/directory.ts";
import { hostOf, namesNoSite } from "../sites/hosts.ts";
import { refusals, type Refusal } from "./errors.ts";
import type { Rate } from "../http/rate.ts";
import { isSecure, type TransportRules } from "../http/transport.ts";
import type { WrongKeys } from "./wrongKeys.ts";

/** Who brings a wrong key is not held longer than this by a database that hangs. */
const timeoutMs = 2000;

export type Admitted = { site: Site; key: InboundKey };

export type Gate = {
  directory: Directory;
  /** The relay's own name, of CLEANCAST_URL; null where it has none. */
  ownHost: string | null;
  transport: TransportRules;
  wrongKeys: WrongKeys;
  rateLimit: Rate;
};

export async function authenticate(
  request: IncomingMessage,
  gate: Gate,
  now: number,
): Promise<Admitted | Refusal> {
  if (!isSecure(request, gate.transport)) return refusals.httpsRequired;

  const host = hostOf(request.headers.host);
  // The relay's own name is everybody's, also where a site answers there: the key names the site.
  const isAnybodys = host === gate.ownHost || namesNoSite(host);
  const owner = isAnybodys ? undefined : gate.directory.siteOfHost(host);
  if (owner && !owner.settings.inbound) return refusals.notEnabled;

  const given = request.headers["x-cc-api-key"];
  if (given === undefined || given === "") return refusals.invalidKey;
  const key = gate.directory.key(String(given));
  const site = key && gate.directory.site(key.siteId);
  if (!site || !isUsable(key, now) || (owner && owner.id !== site.id)) {
    return wrongKey(gate.wrongKeys, host, owner?.id ?? null, now);
  }
  if (!site.settings.inbound) return refusals.notEnabled;

  const waitSeconds = gate.rateLimit(key.id, site.settings.rateLimit, now);
  if (waitSeconds > 0) return refusals.rateLimited(waitSeconds);
  return { site, key };
}

async function wrongKey(
  wrongKeys: WrongKeys,
  host: string,
  siteId: string | null,
  now: number,
): Promise<Refusal> {
  // A count that cannot be written must not turn a refusal into an error, nor let anybody in.
  const counted = within(timeoutMs, wrongKeys.count(host, siteId, now), "too slow");
  const lockedUntil = await counted.catch(() => 0);
  return lockedUntil > now ? refusals.tooManyWrongKeys((lockedUntil - now) / 1000) : refusals.invalidKey;
}
