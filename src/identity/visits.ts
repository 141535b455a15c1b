// What the tag reports: a visit, an email that was submitted, a decision. Consent comes first every time; what it
// forbids is not stored, and what was stored before is removed.

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
import { addVisit, firstUtmOf, joinVisits } from "./records.ts";

export type Report = {
  /** From the cookie; null for a browser that is not known. */
  visitorId: string | null;
  /** What the page calls such a browser: its reports may all be on their way before the first cookie is set. */
  proposedId: string | null;
  /** A word to the site's own switch that the page remembers: it counts where the relay never heard of one. */
  remembered: ConsentState | null;
  /** What each source says now. A source that is silent has nothing to say, or is not there. */
  signals: Partial<Record<ConsentSource, ConsentState>>;
  /** null when there is nothing to remember of the visit. */
  visit: Omit<Visit, "visitorId"> | null;
  person: { emailSha256: Sha256; forms: Identity["forms"] } | null;
  at: number;
};

export type Rules = { consentMode: "opt-out" | "opt-in"; keepMs: number };

/** `suppressed`: consent forbids to remember the visit. The visitor's id goes into the cookie. */
export type Taken = { visitorId: string | null; consent: ConsentReading; suppressed: boolean };

const personsKept = 5;

export async function takeReport(
  store: Pick<Store, "people">,
  siteId: string,
  report: Report,
  rules: Rules,
  newVisitorId: () => string,
  /** Until when it is of use; a refusal always is. */
  by = Infinity,
): Promise<Taken> {
  const knownAs = report.visitorId ?? report.proposedId;
  const seen = weigh(knownAs ? await store.people.listDecisions(siteId, knownAs) : [], report, rules);
  const { suppressed, refused } = seen;
  const hasNews = Object.keys(seen.news).length > 0;
  const somethingToStore = hasNews || (suppressed ? refused && report.person : report.visit || report.person);
  if (!somethingToStore) return { visitorId: report.visitorId, consent: seen.consent, suppressed };

  const visitorId = knownAs ?? newVisitorId();
  const take = async (rows: PeopleRows): Promise<Taken> => {
    // Reports of one page can overtake each other. Read again while the visitor is held: a visit that comes after its
    // visitor's refusal must not be stored.
    await rows.lockVisitor(visitorId, report.at);
    const weighed = weigh(await rows.listDecisionsAbout(visitorId), report, rules);
    for (const [source, state] of Object.entries(weighed.news))
      await rows.decide(visitorId, source, state, report.at);
    if (weighed.refused) await refuse(rows, visitorId, report);
    else if (weighed.suppressed) await rows.removeVisitor(visitorId);
    else await remember(rows, visitorId, report, rules, weighed);
    return { visitorId, consent: weighed.consent, suppressed: weighed.suppressed };
  };
  return store.people.change(siteId, take, refused ? Infinity : by);
}

type Weighed = {
  news: Record<string, ConsentState>;
  consent: ConsentReading;
  refused: boolean;
  /** Nothing may be remembered: refused, or not agreed to where that is required. */
  suppressed: boolean;
  /** There was a refusal on record, and it has ended. */
  lifted: boolean;
};

function weigh(said: readonly Decision[], { signals, remembered }: Report, rules: Rules): Weighed {
  const heard = said.some((one) => one.givenBy === "own") || !remembered;
  const news = newsIn(heard ? signals : { own: remembered, ...signals }, said);
  const before = effectiveConsent(said.map((one) => one.state));
  const consent = effectiveConsent([
    ...said.filter((one) => !(one.givenBy in news)).map((one) => one.state),
    ...Object.values(news),
  ]);
  const refused = isRefusal(consent);
  const suppressed = refused || (consent === "unknown" && rules.consentMode === "opt-in");
  return { news, consent, refused, suppressed, lifted: isRefusal(before) && !refused };
}

const isRefusal = (consent: ConsentReading) => consent === "denied" || consent === "unreadable";

/** The decisions that differ from what is on record. A source that falls silent after a refusal has lifted it. */
function newsIn(signals: Report["signals"], said: readonly Decision[]): Record<string, ConsentState> {
  const news: Record<string, ConsentState> = {};
  for (const source of consentSources) {
    const stored = said.find((one) => one.givenBy === source)?.state;
    // The site's own call is heard once and holds; browser signals are there on every page or not at all.
    const current = signals[source] ?? (source === "gpc" && stored ? "unknown" : undefined);
    if (current && current !== stored && !(current === "unknown" && stored === undefined))
      news[source] = current;
  }
  return news;
}

/** The visitor said no: it holds for every person they are, and what they left behind goes. */
async function refuse(rows: PeopleRows, visitorId: string, { person, at }: Report): Promise<void> {
  const visitor = await rows.lockVisitor(visitorId, at);
  // Those that an earlier refusal took from the record are still known by the decisions made for them.
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

async function remember(
  rows: PeopleRows,
  visitorId: string,
  { visit, person, at }: Report,
  rules: Rules,
  { consent, lifted }: Weighed,
): Promise<void> {
  const now = consent === "granted" ? "granted" : "unknown";
  if (lifted) {
    for (const { subject, state } of await rows.listDecisionsBy(visitorId)) {
      if (state !== now) await rows.decide(subject, visitorId, now, at);
    }
  }
  const oldest = at - rules.keepMs;
  const visitor = await rows.lockVisitor(visitorId, at);
  const visits = visit ? addVisit(visitor.visits, { ...visit, visitorId }, oldest) : visitor.visits;
  const persons = person
    ? [person.emailSha256, ...visitor.emailSha256s.filter((one) => one !== person.emailSha256)]
    : visitor.emailSha256s;
  await rows.saveVisitor(visitorId, { visits, emailSha256s: persons.slice(0, personsKept) }, at);

  for (const emailSha256 of persons.slice(0, personsKept)) {
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
