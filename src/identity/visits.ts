// Stores the tag's reports: a visit, a submitted email, a consent decision. Consent is applied first: data that it forbids is
// not stored, and such data that was stored before is removed.

import {
  consentSources,
  type ConsentReading,
  type ConsentSource,
  type ConsentState,
  type Identity,
  type Sha256,
  type Visit,
} from "../kernel/event.ts";
import { effectiveConsent, type Decision, type PeopleRows } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import type { ConsentMode } from "./attribution.ts";
import { addVisit, firstUtmOf, joinVisits } from "./records.ts";

export type Report = {
  /** From the cookie; null for an unknown browser. */
  visitorId: string | null;
  /** The page's own id for an unknown browser: several reports may be sent before the first cookie is set. */
  proposedId: string | null;
  /** A decision that the page remembers. It counts when the relay has no decision of the site's own consent call. */
  remembered: ConsentState | null;
  /** The current state of each consent source on the page. */
  signals: Partial<Record<ConsentSource, ConsentState>>;
  /** null when nothing of the visit is stored. */
  visit: Omit<Visit, "visitorId"> | null;
  person: { emailSha256: Sha256; forms: Identity["forms"] } | null;
  at: number;
};

export type ReportRules = { consentMode: ConsentMode; keepMs: number };

/** `suppressed`: consent forbids storing the visit. `visitorId` goes into the cookie. */
export type StoredReport = { visitorId: string | null; consent: ConsentReading; suppressed: boolean };

const maxPersons = 5;

export async function storeReport(
  store: Pick<Store, "people">,
  siteId: string,
  report: Report,
  rules: ReportRules,
  newVisitorId: () => string,
  /** A refusal of consent is stored even after this time. */
  deadline = Infinity,
): Promise<StoredReport> {
  const knownAs = report.visitorId ?? report.proposedId;
  const before = evaluateConsent(
    knownAs ? await store.people.listDecisions(siteId, knownAs) : [],
    report,
    rules,
  );
  const { suppressed, refused } = before;
  const hasChanges = Object.keys(before.changes).length > 0;
  const hasDataToStore =
    hasChanges || (suppressed ? refused && report.person : report.visit || report.person);
  if (!hasDataToStore) return { visitorId: report.visitorId, consent: before.consent, suppressed };

  const visitorId = knownAs ?? newVisitorId();
  const change = async (rows: PeopleRows): Promise<StoredReport> => {
    // Reports of one page can overtake each other. Consent is read again under the visitor's lock, so that a visit after
    // its visitor's refusal is not stored.
    await rows.lockVisitor(visitorId, report.at);
    const current = evaluateConsent(await rows.listDecisionsAbout(visitorId), report, rules);
    for (const [source, state] of Object.entries(current.changes))
      await rows.decide(visitorId, source, state, report.at);
    if (current.refused) await removeVisits(rows, visitorId, report);
    else if (current.suppressed) await rows.removeVisitor(visitorId);
    else await saveVisit(rows, visitorId, report, rules, current);
    return { visitorId, consent: current.consent, suppressed: current.suppressed };
  };
  return store.people.change(siteId, change, refused ? Infinity : deadline);
}

type ConsentEvaluation = {
  /** Decisions that differ from the stored ones. */
  changes: Record<string, ConsentState>;
  consent: ConsentReading;
  refused: boolean;
  /** Nothing may be stored: refused, or not granted where the site asks first. */
  suppressed: boolean;
  /** A stored refusal has ended. */
  lifted: boolean;
};

function evaluateConsent(
  stored: readonly Decision[],
  { signals, remembered }: Report,
  rules: ReportRules,
): ConsentEvaluation {
  const needsRemembered = remembered && !stored.some((one) => one.givenBy === "own");
  const changes = findChanges(needsRemembered ? { own: remembered, ...signals } : signals, stored);
  const before = effectiveConsent(stored.map((one) => one.state));
  const consent = effectiveConsent([
    ...stored.filter((one) => !(one.givenBy in changes)).map((one) => one.state),
    ...Object.values(changes),
  ]);
  const refused = isRefusal(consent);
  const suppressed = refused || (consent === "unknown" && rules.consentMode === "opt-in");
  return { changes, consent, refused, suppressed, lifted: isRefusal(before) && !refused };
}

export const isRefusal = (consent: ConsentReading) => consent === "denied" || consent === "unreadable";

/** Finds the decisions that differ from the stored ones. A privacy signal that is gone has lifted its refusal. */
function findChanges(
  signals: Report["signals"],
  decisions: readonly Decision[],
): Record<string, ConsentState> {
  const changes: Record<string, ConsentState> = {};
  for (const source of consentSources) {
    const stored = decisions.find((one) => one.givenBy === source)?.state;
    // The site's own call is made once and holds; browser signals are sent on every page or not at all.
    const current = signals[source] ?? (source === "gpc" && stored ? "unknown" : undefined);
    if (current && current !== stored && !(current === "unknown" && stored === undefined))
      changes[source] = current;
  }
  return changes;
}

/** Applies a visitor's refusal: it holds for every email that they submitted, and their visits are removed. */
async function removeVisits(rows: PeopleRows, visitorId: string, { person, at }: Report): Promise<void> {
  const visitor = await rows.lockVisitor(visitorId, at);
  // Emails that an earlier refusal removed from the record are still known by their decisions.
  const earlier = (await rows.listDecisionsBy(visitorId)).map((decision) => decision.subject);
  for (const emailSha256 of new Set([
    ...earlier,
    ...visitor.emailSha256s,
    ...(person ? [person.emailSha256] : []),
  ])) {
    await decideOnce(rows, emailSha256, visitorId, "denied", at);
    const identity = await rows.lockIdentity(emailSha256, at);
    const visits = identity.visits.filter((visit) => visit.visitorId !== visitorId);
    if (visits.length) await rows.saveIdentity(emailSha256, { ...identity, visits, firstUtm: {} }, at);
    else await rows.removeIdentity(emailSha256);
  }
  await rows.removeVisitor(visitorId);
}

async function saveVisit(
  rows: PeopleRows,
  visitorId: string,
  { visit, person, at }: Report,
  rules: ReportRules,
  { consent, lifted }: ConsentEvaluation,
): Promise<void> {
  const newState = consent === "granted" ? "granted" : "unknown";
  if (lifted) {
    for (const { subject, state } of await rows.listDecisionsBy(visitorId)) {
      if (state !== newState) await rows.decide(subject, visitorId, newState, at);
    }
  }
  const oldest = at - rules.keepMs;
  const visitor = await rows.lockVisitor(visitorId, at);
  const visits = visit ? addVisit(visitor.visits, { ...visit, visitorId }, oldest) : visitor.visits;
  const persons = person
    ? [person.emailSha256, ...visitor.emailSha256s.filter((one) => one !== person.emailSha256)]
    : visitor.emailSha256s;
  await rows.saveVisitor(visitorId, { visits, emailSha256s: persons.slice(0, maxPersons) }, at);

  for (const emailSha256 of persons.slice(0, maxPersons)) {
    if (consent === "granted") await decideOnce(rows, emailSha256, visitorId, "granted", at);
    const identity = await rows.lockIdentity(emailSha256, at);
    const joined = joinVisits(identity.visits, visits, oldest);
    const forms =
      emailSha256 === person?.emailSha256 ? { ...identity.forms, ...person.forms } : identity.forms;
    await rows.saveIdentity(
      emailSha256,
      { visits: joined, firstUtm: firstUtmOf(identity, joined), forms },
      at,
    );
  }
}

async function decideOnce(
  rows: PeopleRows,
  subject: string,
  givenBy: string,
  state: ConsentState,
  at: number,
): Promise<void> {
  const known = (await rows.listDecisionsAbout(subject)).find((one) => one.givenBy === givenBy);
  if (known?.state !== state) await rows.decide(subject, givenBy, state, at);
}
