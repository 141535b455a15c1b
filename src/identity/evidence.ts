// How well a browser is known to be a person's. Anybody who knows an email can send a report that names it, so reports are
// compared: one never counts against those of a browser with more evidence. A program that plays a whole visit, with its form,
// cannot be told from another device of the person.

import type { Visit } from "../kernel/event.ts";

/** 0: only a report with the email names the browser. 1: a page of it was seen too. 2: it also submitted the email in a form. */
type Evidence = 0 | 1 | 2;

/**
 * Finds the evidence of the browser of each visit of a person, from all of its visits. A link that brought another visit over may have
 * been another person's, so a form does not count for what it carried.
 */
export function weighVisits(visits: readonly Visit[]): (visit: Pick<Visit, "visitorId" | "isCarried">) => Evidence {
  const seen = new Set<string | null>();
  const withForm = new Set<string | null>();
  for (const { visitorId, isSeen, hasForm } of visits) {
    if (isSeen) seen.add(visitorId);
    if (hasForm) withForm.add(visitorId);
  }
  return ({ visitorId, isCarried }) => {
    // The operator entered it.
    if (visitorId === null) return 1;
    if (!seen.has(visitorId)) return 0;
    return withForm.has(visitorId) && !isCarried ? 2 : 1;
  };
}

/** A refusal counts for a person unless its browser has shown nothing, and another one is known to be the person's. */
export function refusalCounts(visits: readonly Visit[], visitorId: string, hasForm: boolean): boolean {
  const isKnown = hasForm || visits.some((visit) => visit.visitorId === visitorId && (visit.isSeen || visit.hasForm));
  const evidenceOf = weighVisits(visits);
  return isKnown || !visits.some((visit) => !visit.verdict?.bot && evidenceOf(visit) === 2);
}
