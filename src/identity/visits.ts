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
import { effectiveConsent, operator, type Decision, type PeopleRows } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import type { ConsentMode } from "./attribution.ts";
import { addVisit, firstUtmOf, joinVisits } from "./records.ts";

export type Report = {
  /** From the cookie; null for an unknown browser. */
  visitorId: string | null;
  /** The page's own id for an unknown browser: several reports may be sent before the first cookie is set. */
  proposedId: string | null;
  /**
   * A decision by the site's own consent call that the page remembers. A refusal counts, because its report may have been
   * lost. A grant counts only if nothing newer is known: the visitor may have refused on another host of the site.
   */
  remembered: ConsentState | null;
  /** Refusals that the browser's cookies remember. They are the same for everybody, so they do not name the browser. */
  refusals?: readonly ConsentSource[];
  /** The current state of each consent source on the page. */
  signals: Partial<Record<ConsentSource, ConsentState>>;
  /** null when nothing of the visit is stored. */
  visit: Omit<Visit, "visitorId"> | null;
  person: { emailSha256: Sha256; forms: Identity["forms"] } | null;
  at: number;
};

export type ReportRules = { consentMode: ConsentMode; keepMs: number };

export type StoredReport = {
  /** Goes into the visitor cookie; null where consent forbids one. */
  visitorId: string | null;
  consent: ConsentReading;
  /** Consent forbids storing the visit. */
  suppressed: boolean;
  /** The sources whose refusal applies now. */
  refusedBy: readonly ConsentSource[];
};

const maxPersons = 5;
/** Browsers without cookies refuse under a new id on every page. */
const maxRefusals = 5;

/** The giver of a decision that only records that this visitor's browser had refused before it had its id. */
const beforeId = "refused before";

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
  const before = evaluateConsent(knownAs ? await store.people.listDecisions(siteId, knownAs) : [], report, rules);
  const { suppressed, refused } = before;
  // A browser without an id remembers its refusal itself, and gets no id before it may have one.
  const mayDecide = report.visitorId || (suppressed ? refused && knownAs : true);
  const hasChanges = mayDecide && Object.keys(before.changes).length > 0;
  const hasDataToStore = hasChanges || (suppressed ? refused && refusedPerson(report, rules) : report.visit || report.person);
  if (!hasDataToStore) return resultOf(before, report.visitorId);

  const visitorId = knownAs ?? newVisitorId();
  const change = async (rows: PeopleRows): Promise<StoredReport> => {
    // Reports of one page can overtake each other. Consent is read again under the visitor's lock, so that a visit after
    // its visitor's refusal is not stored.
    await rows.lockVisitor(visitorId, report.at);
    const decisions = await rows.listDecisionsAbout(visitorId);
    const current = evaluateConsent(decisions, report, rules);
    if (hasChanges || !current.refused)
      for (const [source, state] of Object.entries(current.changes)) await rows.decide(visitorId, source, state, report.at);
    if (current.refused) await removeVisits(rows, visitorId, report, refusedPerson(report, rules));
    else if (current.suppressed) await rows.removeVisitor(visitorId);
    else {
      const isRecorded = decisions.some((one) => one.givenBy === beforeId);
      if (report.refusals?.length && !isRecorded) await rows.decide(visitorId, beforeId, "unknown", report.at);
      if (report.person && (isRecorded || report.refusals?.length))
        await liftOneRefusal(rows, report.person.emailSha256, visitorId, current.newState, report.at);
      await saveVisit(rows, visitorId, report, rules, current);
    }
    return resultOf(current, visitorId);
  };
  return store.people.change(siteId, change, refused ? Infinity : deadline);
}

/**
 * Returns the person for whom a refusal is stored because the email came with it. Opt-in mode stores no email without a
 * grant, and withholds the ids of persons without one anyway.
 */
const refusedPerson = ({ person }: Report, { consentMode }: ReportRules) => (consentMode === "opt-in" ? null : person);

const resultOf = ({ consent, suppressed, refusedBy }: ConsentEvaluation, visitorId: string | null): StoredReport => ({
  visitorId: suppressed ? null : visitorId,
  consent,
  suppressed,
  refusedBy,
});

type ConsentEvaluation = {
  /** Decisions that differ from the stored ones. */
  changes: Record<string, ConsentState>;
  consent: ConsentReading;
  refused: boolean;
  /** Nothing may be stored: refused, or not granted where the site asks first. */
  suppressed: boolean;
  refusedBy: ConsentSource[];
  /** A stored refusal has ended. */
  lifted: boolean;
  /** The state of refusals that have ended. */
  newState: ConsentState;
};

function evaluateConsent(
  stored: readonly Decision[],
  { visitorId, signals, remembered, refusals = [] }: Report,
  rules: ReportRules,
): ConsentEvaluation {
  const known: Record<string, ConsentReading> = Object.fromEntries([
    ...stored.map((one) => [one.givenBy, one.state]),
    ...refusals.map((source) => [source, "denied"]),
  ]);
  const counts = remembered === "denied" || (remembered && !known.own);
  const changes = findChanges(counts ? { own: remembered, ...signals } : signals, known);
  // A browser can get an id although it refused, from a report of another tab. Then the refusal must be applied to the id.
  for (const source of visitorId ? refusals : []) {
    const isStored = stored.some((one) => one.givenBy === source && one.state === "denied");
    if (!isStored) changes[source] ??= "denied";
  }
  const current = { ...known, ...changes };
  const consent = effectiveConsent(Object.values(current));
  const refused = isRefusal(consent);
  return {
    changes,
    consent,
    refused,
    suppressed: refused || (consent === "unknown" && rules.consentMode === "opt-in"),
    refusedBy: consentSources.filter((source) => current[source] === "denied"),
    lifted: isRefusal(effectiveConsent(Object.values(known))) && !refused,
    newState: consent === "granted" ? "granted" : "unknown",
  };
}

export const isRefusal = (consent: ConsentReading) => consent === "denied" || consent === "unreadable";

/** Finds the decisions that differ from the stored ones. A privacy signal that is gone has lifted its refusal. */
function findChanges(signals: Report["signals"], known: Record<string, ConsentReading>): Record<string, ConsentState> {
  const changes: Record<string, ConsentState> = {};
  for (const source of consentSources) {
    const stored = known[source];
    // The site's own call is made once and holds; browser signals are sent on every page or not at all.
    const current = signals[source] ?? (source === "gpc" && stored ? "unknown" : undefined);
    if (current && current !== stored && !(current === "unknown" && stored === undefined)) changes[source] = current;
  }
  return changes;
}

/** Applies a visitor's refusal: it holds for every email that they submitted, and their visits are removed. */
async function removeVisits(rows: PeopleRows, visitorId: string, report: Report, person: Report["person"]): Promise<void> {
  const { at } = report;
  const visitor = await rows.lockVisitor(visitorId, at);
  // Emails that an earlier refusal removed from the record are still known by their decisions.
  const earlier = (await rows.listDecisionsBy(visitorId)).map((decision) => decision.subject);
  for (const emailSha256 of new Set([...earlier, ...visitor.emailSha256s, ...(person ? [person.emailSha256] : [])])) {
    await addRefusal(rows, emailSha256, visitorId, report);
    const identity = await rows.lockIdentity(emailSha256, at);
    const visits = identity.visits.filter((visit) => visit.visitorId !== visitorId);
    if (visits.length) await rows.saveIdentity(emailSha256, { ...identity, visits, firstUtm: {} }, at);
    else await rows.removeIdentity(emailSha256);
  }
  await rows.removeVisitor(visitorId);
}

/**
 * Records that this visitor's refusal holds for an email. A browser that refused on an earlier page has no id since then,
 * so the refusal that the email already has counts as its own.
 */
async function addRefusal(rows: PeopleRows, emailSha256: Sha256, visitorId: string, { refusals, at }: Report): Promise<void> {
  const decisions = await rows.listDecisionsAbout(emailSha256);
  const count = decisions.filter(isVisitorsRefusal).length;
  const isNew = !decisions.some((one) => one.givenBy === visitorId);
  if (isNew && count >= (refusals?.length ? 1 : maxRefusals)) return;
  await decideOnce(rows, emailSha256, visitorId, "denied", at);
}

/**
 * Ends one refusal about an email, the first time that a visitor whose browser had refused gives it after their grant. The
 * refusals of other browsers stay: each of them must grant, too.
 */
async function liftOneRefusal(
  rows: PeopleRows,
  emailSha256: Sha256,
  visitorId: string,
  newState: ConsentState,
  at: number,
): Promise<void> {
  const decisions = await rows.listDecisionsAbout(emailSha256);
  if (decisions.some((one) => one.givenBy === visitorId)) return;
  const [newest] = decisions.filter(isVisitorsRefusal).toSorted((a, b) => b.decidedAt - a.decidedAt);
  if (!newest) return;
  await rows.decide(emailSha256, newest.givenBy, newState, at);
  await rows.decide(emailSha256, visitorId, newState, at);
}

const isVisitorsRefusal = ({ givenBy, state }: Decision) => state === "denied" && givenBy !== operator;

async function saveVisit(
  rows: PeopleRows,
  visitorId: string,
  { visit, person, at }: Report,
  rules: ReportRules,
  { consent, lifted, newState }: ConsentEvaluation,
): Promise<void> {
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
    const forms = emailSha256 === person?.emailSha256 ? { ...identity.forms, ...person.forms } : identity.forms;
    await rows.saveIdentity(emailSha256, { visits: joined, firstUtm: firstUtmOf(identity, joined), forms }, at);
  }
}

async function decideOnce(rows: PeopleRows, subject: string, givenBy: string, state: ConsentState, at: number): Promise<void> {
  const known = (await rows.listDecisionsAbout(subject)).find((one) => one.givenBy === givenBy);
  if (known?.state !== state) await rows.decide(subject, givenBy, state, at);
}
