// Carries a visit from one domain of a site to another. The tag adds a token to links, and the relay that receives it gives the
// clicks of the visit before to the visitor who arrives. The token is sealed, so nothing is stored for it, and it names nothing in
// plain text. Who copies one gains no more than the clicks for a visit of their own (docs/explanation/links-between-domains.md).

import type { SeenId, Visit } from "../kernel/event.ts";
import { minuteMs } from "../kernel/time.ts";
import { effectiveConsent } from "../store/people/people.ts";
import { sealWith, secretFor, tryUnseal } from "../store/engine/seal.ts";
import type { Store } from "../store/store.ts";
import { isUseful, keepsClick } from "./clickIds.ts";
import type { ConsentMode } from "./attribution.ts";
import { mayStore } from "./visits.ts";

/** A token for pages is no good for payments, nor the other way round: those stay readable at the payment service. */
type LinkPurpose = "page" | "payment";

/** Links are opened soon after they were decorated. Shared ones are opened later, and carry nothing. */
export const linkMs = 15 * minuteMs;
/** The clocks of nodes and of payment services differ by so much. */
const clockSkewMs = minuteMs;

/** The parameter of links to the site's own domains. Its name is one that the tag takes for a click id, and reports with the others. */
export const linkParameter = "cc_clid";

/** Stripe allows these characters in a client reference id, and 200 of them. */
const tokenForm = /^cc_[\w-]{40,120}$/;

export type Links = {
  sign(purpose: LinkPurpose, siteId: string, visitorId: string, now: number): string;
  /** Returns the visitor of a token that was valid at `at`; null for any other text. */
  open(purpose: LinkPurpose, siteId: string, token: string, at: number): string | null;
};

/** All nodes of an installation have the same secret, and it survives a change of the encryption key. */
export function createLinks(secret: string): Links {
  const seal = sealWith(Buffer.from(secretFor("links between domains", Buffer.from(secret)), "hex"));
  const prefix = "v1.";
  const placeOf = (purpose: LinkPurpose, siteId: string) => `link ${purpose} ${siteId}`;
  return {
    sign: (purpose, siteId, visitorId, now) =>
      `cc_${seal.seal(`${now.toString(36)} ${visitorId}`, placeOf(purpose, siteId)).slice(prefix.length)}`,
    open(purpose, siteId, token, at) {
      const plain = tokenForm.test(token) ? tryUnseal(seal, prefix + token.slice(3), placeOf(purpose, siteId)) : null;
      if (plain === null) return null;
      const [signedAt = "", visitorId = ""] = plain.split(" ");
      const age = at - Number.parseInt(signedAt, 36);
      return age <= linkMs && age >= -clockSkewMs ? visitorId : null;
    },
  };
}

type People = Pick<Store["people"], "findVisitor" | "listDecisions">;

/**
 * Reads the visits that a link carries: those of people, with a click or a campaign. Of the browser no more is carried than the click
 * itself says. None where the visitor has refused since, or has not agreed where the site asks first.
 */
export async function readCarried(people: People, siteId: string, visitorId: string, mode: ConsentMode): Promise<Visit[]> {
  const visitor = await people.findVisitor(siteId, visitorId);
  const visits = (visitor?.visits ?? []).flatMap((visit) => carriedForm(visit));
  if (visits.length === 0) return [];
  const consent = effectiveConsent((await people.listDecisions(siteId, visitorId)).map(({ state }) => state));
  return mayStore(consent, mode) ? visits : [];
}

function carriedForm({ visitorId, seenAt, clickIds, browserIds, utm, verdict }: Visit): Visit[] {
  const clicks = Object.fromEntries(Object.entries(browserIds).filter(([name]) => keepsClick(name)));
  const isEmpty = [clickIds, clicks, utm].every((ids) => Object.keys(ids).length === 0);
  if (verdict?.bot || isEmpty) return [];
  return [{ visitorId, seenAt, browser: null, clickIds, browserIds: clicks, utm, ...(verdict && { verdict }), isCarried: true }];
}

/** The newest useful click of each kind, for an event that names no person. */
export function clicksOfVisits(visits: readonly Visit[], at: number): Record<string, SeenId> {
  const found: Record<string, SeenId> = {};
  for (const { clickIds } of visits)
    for (const [name, id] of Object.entries(clickIds))
      if (isUseful(name, id.seenAt, at) && (found[name]?.seenAt ?? 0) < id.seenAt) found[name] = id;
  return found;
}
