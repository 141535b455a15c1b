// Stores the tag's reports: a visit, a submitted email, a consent decision. Consent is applied first: data that it forbids is
// not stored, and such data that was stored before is removed.

import { hash } from "node:crypto";
import {
  consentSources,
  type ConsentReading,
  type ConsentSource,
  type ConsentState,
  type Identity,
  type Sha256,
  type Visit,
} from "../kernel/event.ts";
import { effectiveConsent, operator, otherBrowsers, type Decision, type PeopleRows } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import type { ConsentMode } from "./attribution.ts";
import { refusalCounts } from "./evidence.ts";
import { addVisit, firstUtmOf, joinVisits, markForm } from "./records.ts";

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
  /** From the cookie of a browser that refused for an email: see `giverOf`. */
  proof?: string | null;
  /**
   * Google's Consent Mode refuses by its default: nobody has decided on this page. Nothing is stored then, but it ends no grant
   * that the visitor gave before: a slow banner would delete their visits.
   */
  isDefaultRefusal?: boolean;
  /** The current state of each consent source on the page. */
  signals: Partial<Record<ConsentSource, ConsentState>>;
  /** null when nothing of the visit is stored. */
  visit: Omit<Visit, "visitorId"> | null;
  person: { emailSha256: Sha256; forms: Identity["forms"] } | null;
  /** The visitor submitted the email in a form, by hand. */
  hasForm?: boolean;
  /** Visits to another domain of the site, which the link to this page carried over. */
  carried?: readonly Visit[];
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
  /** Goes into a cookie of a browser that has refused for an email, so that it alone can lift that. */
  proof: string | null;
};

/**
 * A browser's refusal holds for so many of its emails, the newest, and for so many that it granted for. Programs invent thousands, and
 * a refusal is one transaction.
 */
const maxPersons = 50;
/** A visit joins the records of so many of them: each is a row to write. */
const maxJoined = 5;
/**
 * So many browsers' decisions are kept one by one for an email, because every conversion of the person reads them. Browsers without
 * cookies refuse with a new proof on every page.
 */
const maxBrowsers = { granted: 20, denied: 5 };

/**
 * Names the browser that refuses for an email, by a hash of both. Whoever knows the email cannot make it without the proof,
 * which is nowhere but in that browser. It does not identify the browser either: what one has refused for two emails has two
 * names, and neither leads to the other, to a visitor, or to the proof.
 */
const giverOf = (proof: string, emailSha256: Sha256) => hash("sha256", `${proof} ${emailSha256}`).slice(0, 22);

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
  const decisions = knownAs ? await store.people.listDecisions(siteId, knownAs) : [];
  const before = evaluateConsent(decisions, report, rules);
  const { suppressed, refused } = before;
  if (report.isDefaultRefusal && isOnlyDefault(decisions, report, rules))
    return { visitorId: null, consent: "unknown", suppressed: true, refusedBy: [], proof: report.proof ?? null };
  // A browser without an id remembers its refusal itself, and gets no id before it may have one.
  const mayDecide = report.visitorId || (suppressed ? refused && knownAs : true);
  const hasChanges = mayDecide && Object.keys(before.changes).length > 0;
  // Its email came before the page itself: reports can overtake each other.
  const completes = !report.visitorId && !report.person && decisions.length > 0;
  const hasDataToStore =
    hasChanges ||
    (suppressed ? refused && refusedPerson(report, rules) : report.visit || report.person || report.carried?.length || completes);
  if (!hasDataToStore) return { ...resultOf(before, report.visitorId), proof: report.proof ?? null };

  const visitorId = knownAs ?? newVisitorId();
  const change = async (rows: PeopleRows): Promise<StoredReport> => {
    // Reports of one page can overtake each other. Consent is read again under the visitor's lock, so that a visit after
    // its visitor's refusal is not stored.
    await rows.lockVisitor(visitorId, report.at);
    const stored = await rows.listDecisionsAbout(visitorId);
    const current = evaluateConsent(stored, report, rules);
    if (hasChanges || !current.refused)
      for (const [source, state] of Object.entries(current.changes)) await rows.decide(visitorId, source, state, report.at);
    let { proof = null } = report;
    if (current.refused) {
      const refusing = { ...report, person: refusedPerson(report, rules), proof: proof ?? newVisitorId() };
      if (await removeVisits(rows, visitorId, refusing)) ({ proof } = refusing);
    } else if (current.suppressed) await rows.removeVisitor(visitorId);
    else {
      await saveVisit(rows, visitorId, report, rules, { consent: current.consent, hasDecided: stored.length > 0 });
      // The browser gives the email again after its grant. That alone grants nothing: no page of it need have been seen.
      if (report.person && proof) await rows.liftRefusal(report.person.emailSha256, giverOf(proof, report.person.emailSha256));
    }
    return { ...resultOf(current, visitorId), proof };
  };
  return store.people.change(siteId, change, refused ? Infinity : deadline);
}

/** True where the visitor has granted before, and without the default of Consent Mode that grant would hold. */
function isOnlyDefault(decisions: readonly Decision[], report: Report, rules: ReportRules): boolean {
  const { gcm: _default, ...signals } = report.signals;
  return evaluateConsent(decisions, { ...report, signals }, rules).consent === "granted";
}

/**
 * Returns the person for whom a refusal is stored because the email came with it. Opt-in mode stores no email without a
 * grant, and withholds the ids of persons without one anyway.
 */
const refusedPerson = ({ person }: Report, { consentMode }: ReportRules) => (consentMode === "opt-in" ? null : person);

const resultOf = ({ consent, suppressed, refusedBy }: ConsentEvaluation, visitorId: string | null) => ({
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
    suppressed: !mayStore(consent, rules.consentMode),
    refusedBy: consentSources.filter((source) => current[source] === "denied"),
  };
}

export const isRefusal = (consent: ConsentReading) => consent === "denied" || consent === "unreadable";

/** False after a refusal, and without a grant where the site asks first. */
export const mayStore = (consent: ConsentReading, mode: ConsentMode) =>
  consent === "granted" || (consent === "unknown" && mode === "opt-out");

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

type Refusing = Pick<Report, "person" | "hasForm" | "at"> & { proof: string };

/**
 * Applies a visitor's refusal: it holds for every email that they submitted, and their visits are removed. Returns false if it
 * holds for none.
 */
async function removeVisits(rows: PeopleRows, visitorId: string, refusing: Refusing): Promise<boolean> {
  const { person, hasForm = false, proof, at } = refusing;
  const visitor = await rows.lockVisitor(visitorId, at);
  // Emails that the record has no room for, or had before it was purged, are still known by the grant for them.
  const granted = await rows.listGrantedBy(visitorId);
  const refused = new Set([...granted, ...visitor.emailSha256s, ...(person ? [person.emailSha256] : [])]);
  let isRecorded = false;
  for (const emailSha256 of refused) {
    const identity = await rows.lockIdentity(emailSha256, at);
    // Visits of others may have displaced the browser's own from the person's record.
    const known = [...visitor.visits, ...identity.visits];
    const counts =
      granted.includes(emailSha256) || refusalCounts(known, visitorId, hasForm && emailSha256 === person?.emailSha256);
    if (counts) await decideOnce(rows, emailSha256, giverOf(proof, emailSha256), "denied", at);
    isRecorded ||= counts;
    const visits = identity.visits.filter((visit) => visit.visitorId !== visitorId);
    if (visits.length === 0) await rows.removeIdentity(emailSha256);
    else if (counts || visits.length < identity.visits.length)
      await rows.saveIdentity(emailSha256, { ...identity, visits, firstUtm: {} }, at);
  }
  await rows.removeVisitor(visitorId);
  return isRecorded;
}

/**
 * Records a browser's decision about a person, whose identity is locked. Where there is no room for one more browser it counts as that of
 * all others: no refusal is lost, and only the operator lifts one of those.
 */
async function decideOnce(
  rows: PeopleRows,
  emailSha256: Sha256,
  giver: string,
  state: keyof typeof maxBrowsers,
  at: number,
): Promise<void> {
  const decisions = await rows.listDecisionsAbout(emailSha256);
  const stateBy = (one: string) => decisions.find(({ givenBy }) => givenBy === one)?.state;
  const own = stateBy(giver);
  if (own === state) return;
  const given = decisions.filter(
    (one) => one.state === state && one.givenBy !== operator && one.givenBy !== otherBrowsers[state],
  );
  const hasRoom =
    own !== undefined ||
    (given.length < maxBrowsers[state] && (state === "denied" || (await rows.listGrantedBy(giver)).length < maxPersons));
  const recorded = hasRoom ? giver : otherBrowsers[state];
  if (stateBy(recorded) !== state) await rows.decide(emailSha256, recorded, state, at);
}

type SavedVisit = Pick<Report, "visit" | "person" | "hasForm" | "carried" | "at">;

/** Records whose email a visitor gave elsewhere, such as at a payment service. Does nothing where consent forbids it. */
export async function identifyVisitor(
  store: Pick<Store, "people">,
  siteId: string,
  visitorId: string,
  person: NonNullable<Report["person"]>,
  rules: ReportRules & { at: number },
): Promise<void> {
  await store.people.change(siteId, async (rows) => {
    const { at } = rules;
    const { visits } = await rows.lockVisitor(visitorId, at);
    const stored = await rows.listDecisionsAbout(visitorId);
    const consent = effectiveConsent(stored.map(({ state }) => state));
    if (visits.length > 0 && mayStore(consent, rules.consentMode))
      await saveVisit(rows, visitorId, { visit: null, person, at }, rules, { consent, hasDecided: stored.length > 0 });
    // A refusal removed the record, and the lock has made an empty one.
    else if (visits.length === 0) await rows.removeVisitor(visitorId);
  });
}

async function saveVisit(
  rows: PeopleRows,
  visitorId: string,
  { visit, person, hasForm = false, carried = [], at }: SavedVisit,
  rules: ReportRules,
  { consent, hasDecided }: { consent: ConsentReading; hasDecided: boolean },
): Promise<void> {
  const oldest = at - rules.keepMs;
  const visitor = await rows.lockVisitor(visitorId, at);
  // Pages report themselves before they report an email.
  const isSeen = !person || hasDecided || visitor.visits.some((one) => one.isSeen);
  const reported: Visit | null = visit && {
    ...visit,
    visitorId,
    ...(isSeen && { isSeen }),
    ...(person && hasForm && { isSubmitted: true }),
  };
  const own = reported ? addVisit(visitor.visits, reported, oldest) : visitor.visits;
  const joined = carried.map((one): Visit => ({ ...one, visitorId, ...(isSeen && { isSeen }) }));
  const visits = joined.length > 0 ? joinVisits(own, joined, oldest) : own;
  const persons = person
    ? [person.emailSha256, ...visitor.emailSha256s.filter((one) => one !== person.emailSha256)]
    : visitor.emailSha256s;
  await rows.saveVisitor(visitorId, { visits, emailSha256s: persons.slice(0, maxPersons) }, at);

  for (const emailSha256 of persons.slice(0, maxJoined)) {
    const isGiven = emailSha256 === person?.emailSha256;
    const identity = await rows.lockIdentity(emailSha256, at);
    if (consent === "granted" && isSeen) await decideOnce(rows, emailSha256, visitorId, "granted", at);
    const all = joinVisits(identity.visits, isGiven && hasForm ? markForm(visits) : visits, oldest);
    const forms = isGiven ? { ...identity.forms, ...person.forms } : identity.forms;
    await rows.saveIdentity(emailSha256, { visits: all, firstUtm: firstUtmOf(identity, all), forms }, at);
  }
}
