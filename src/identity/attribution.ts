// Finds the ids of a person by the hashed email: reads consent and the identity record. Consent that cannot be read counts
// as denied.

import { dayMs, minuteMs } from "../kernel/time.ts";
import { within } from "../kernel/deadline.ts";
import type { Attribution, ConsentReading, Identity, PathVisit, SeenId, Sha256, Visit } from "../kernel/event.ts";
import type { FoundPerson } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import { isBotVisit } from "../traffic/filter.ts";
import { clickKindOf, clickTimeIn, isNoClick, isUseful, isUsefulCookie, keepsClick } from "./clickIds.ts";
import { weighVisits } from "./evidence.ts";

type People = Store["people"];
export type ConsentMode = "opt-out" | "opt-in";
export type KnownPerson = FoundPerson & { withheld: Attribution["withheld"] };

const unreadable: FoundPerson = { consent: "unreadable", identity: "unreadable" };

/** Reads that take longer than this count as unreadable. */
const defaultTimeoutMs = 2000;
/** The part of the sender's time that is reserved for storing and sending the event. */
const reservedMs = 1500;
/** Long enough to detect that a database server is down and to reach its replacement. */
const maxTimeoutMs = 8000;

/**
 * Returns the part of the sender's time that the look-up may take. An event whose person cannot be read is sent without
 * ids, and nothing adds them later: so a slow database gets most of the time.
 */
export function lookUpTimeoutMs(answerMs: number): number {
  return Math.min(Math.max(answerMs - reservedMs, answerMs / 2), maxTimeoutMs);
}

/** A click after the conversion did not cause it, but the sender's clock may be wrong by this much. */
const clockSkewMs = 5 * minuteMs;

/** Visits after this time are later than the event. A date without a time is read as midnight, and may be any time of its day. */
const endOf = (at: number) => (at % dayMs === 0 ? at + dayMs : at + clockSkewMs);

export async function lookUpPerson(
  people: People,
  { id, settings }: { id: string; settings: { consentMode: ConsentMode } },
  emailSha256: Sha256 | undefined,
  timeoutMs = defaultTimeoutMs,
): Promise<KnownPerson> {
  if (emailSha256 === undefined) return { ...withoutRecord(settings.consentMode), identity: null };
  const lookUp = within(timeoutMs, people.lookUp(id, emailSha256), "too slow");
  const { consent, identity } = await lookUp.catch(() => unreadable);
  return { consent, withheld: withheldReason(consent, settings.consentMode), identity };
}

/** Without an email there is no record, so that the site's mode decides. */
const withoutRecord = (mode: ConsentMode) => ({ consent: "unknown", withheld: withheldReason("unknown", mode) }) as const;

export async function readConsent(
  people: People,
  siteId: string,
  emailSha256: Sha256 | undefined,
  mode: ConsentMode,
): Promise<Pick<KnownPerson, "consent" | "withheld">> {
  if (emailSha256 === undefined) return withoutRecord(mode);
  const read = within(defaultTimeoutMs, people.readConsent(siteId, emailSha256), "too slow");
  const consent = await read.catch(() => "unreadable" as const);
  return { consent, withheld: withheldReason(consent, mode) };
}

/** Consent may have been withdrawn since the event was received: it is read again before any later use. */
export async function withCurrentConsent(
  people: People,
  event: { siteId: string; person: { emailSha256?: Sha256 }; attribution: Attribution },
  mode: ConsentMode,
): Promise<Attribution> {
  const { siteId, person, attribution } = event;
  // Ids that were withheld when the event was received stay withheld.
  if (attribution.withheld) return attribution;
  return { ...attribution, ...(await readConsent(people, siteId, person.emailSha256, mode)) };
}

export function withheldReason(consent: ConsentReading, mode: ConsentMode): Attribution["withheld"] {
  switch (consent) {
    case "granted":
      return null;
    case "denied":
      return "opted out";
    case "unreadable":
      return "consent unreadable";
    case "unknown":
      return mode === "opt-in" ? "no consent" : null;
  }
}

type Rules = { keepMs: number; isTrusted: boolean };
type Weighed = Rules & { evidenceOf: ReturnType<typeof weighVisits> };

/** Visits of bots are left out unless the site trusts the person, and so are old ones. */
const isLeftOut = (visit: Visit, identity: Identity, at: number, { keepMs, isTrusted }: Rules) =>
  (!isTrusted && isBotVisit(visit, identity)) || visit.seenAt < at - keepMs;

/** Chooses the ids that are sent with an event: none when consent withholds them, else the newest useful one of each kind. */
export function attribute({ consent, withheld, identity }: KnownPerson, at: number, rules: Rules): Attribution {
  const found = identity === "unreadable" ? "unreadable" : identity ? "found" : "none";
  const attribution: Attribution = {
    consent,
    withheld,
    identity: found,
    clickIds: {},
    browserIds: {},
    utm: {},
    browser: null,
  };
  if (!withheld && identity && identity !== "unreadable") {
    const evidenceOf = weighVisits(identity.visits);
    chooseIds(attribution, identity, at, { ...rules, evidenceOf });
    // Most people have one visit, and pay nothing for this.
    if (identity.visits.length > 1) addPath(attribution, identity, at, { ...rules, evidenceOf });
  }
  return attribution;
}

/** Adds click ids that the sender gave, unless consent withholds them. Of two of a kind the one seen last wins. */
export function addClickIds(attribution: Attribution, given: Readonly<Record<string, SeenId>>, at: number): void {
  const { withheld, clickIds, path } = attribution;
  if (withheld) return;
  for (const [name, id] of Object.entries(given)) {
    const known = clickIds[name];
    if (!isUseful(name, id.seenAt, at) || (known && known.seenAt >= id.seenAt)) continue;
    clickIds[name] = id;
    if (path && known?.value !== id.value)
      attribution.path = boundPath([...path, { at: id.seenAt, clickId: name }].toSorted((one, other) => one.at - other.at));
  }
}

/** The whole of a conversion is divided by the number of its touches: statistics need a number that all of these divide. */
const maxPath = 8;

/** Of visits from the oldest on. The first is kept, because a model gives it everything. */
const boundPath = (visits: PathVisit[]): PathVisit[] =>
  visits.length > maxPath ? [...visits.slice(0, 1), ...visits.slice(1 - maxPath)] : visits;

export const isTouch = ({ utmSource, utmCampaign, clickId }: PathVisit) => Boolean(utmSource || utmCampaign || clickId);

/** Of visits with touches only those with most evidence count, as among click ids. */
function addPath(attribution: Attribution, identity: Identity, at: number, rules: Weighed): void {
  const { visits } = identity;
  const { evidenceOf } = rules;
  const path: PathVisit[] = [];
  const evidences: number[] = [];
  let maxEvidence = 0;
  for (let i = visits.length - 1; i >= 0; i--) {
    const visit = visits[i] as Visit;
    if (isLeftOut(visit, identity, at, rules) || visit.seenAt > endOf(at)) continue;
    const step: PathVisit = { at: visit.seenAt };
    const { utm_source: utmSource, utm_campaign: utmCampaign } = visit.utm;
    const clickId = newClickOf(visits, i);
    if (utmSource) step.utmSource = utmSource;
    if (utmCampaign) step.utmCampaign = utmCampaign;
    if (clickId !== undefined) step.clickId = clickId;
    if (visit.isSubmitted) step.hasForm = true;
    const evidence = evidenceOf(visit);
    if (evidence > maxEvidence && isTouch(step)) maxEvidence = evidence;
    path.push(step);
    evidences.push(evidence);
  }
  const kept = path.filter((_visit, i) => (evidences[i] ?? 0) >= maxEvidence);
  if (kept.length > 1) attribution.path = boundPath(kept);
}

/** The newest click id of a visit that no older visit has: one that is seen again is no new touch. */
function newClickOf(visits: readonly Visit[], at: number): string | undefined {
  const { clickIds = {} } = visits[at] ?? {};
  let newest: string | undefined;
  for (const name in clickIds) {
    const { value, seenAt } = clickIds[name] as SeenId;
    if (isNoClick(name) || (newest !== undefined && seenAt <= (clickIds[newest]?.seenAt ?? 0))) continue;
    let isNew = true;
    for (let older = at + 1; isNew && older < visits.length; older++) isNew = visits[older]?.clickIds[name]?.value !== value;
    if (isNew) newest = name;
  }
  return newest;
}

/** Why an id was chosen. `isCarried`: a link carried the click to a browser with more evidence than the click itself has. */
type Choice = { evidence: number; at: number; isCarried?: boolean };
type Choices = Record<string, Choice>;

/** Of several ids of a kind the one with most evidence wins, and of those the one seen last. */
const isBetter = (evidence: number, at: number, known: Choice | undefined) =>
  !known || evidence > known.evidence || (evidence === known.evidence && at > known.at);

/**
 * Ids of bot visits are not used unless the site trusts the person. As evidence comes first, nobody who merely knows an email replaces
 * its click. The same holds for the campaign and the browser. Visits are stored newest first. Of one after the event the clicks are used
 * whose own time is before, and the browser with its other cookies where no earlier ones are known. Clicks on the day of a date
 * without a time are not used, though visits are: Google refuses a conversion before its click.
 */
function chooseIds(attribution: Attribution, identity: Identity, at: number, rules: Weighed): void {
  const { clickIds, browserIds } = attribution;
  const { evidenceOf } = rules;
  const clicks: Choices = {};
  const cookies: Choices = {};
  let utmEvidence = -1;
  let browserEvidence = -Infinity;
  for (const visit of identity.visits) {
    if (isLeftOut(visit, identity, at, rules)) continue;
    const { visitorId, seenAt } = visit;
    const evidence = evidenceOf(visit);
    const isCarried = Boolean(visit.isCarried) && evidenceOf({ visitorId }) > evidence;
    for (const name in visit.clickIds) {
      const id = visit.clickIds[name] as SeenId;
      if (id.seenAt > at + clockSkewMs || !isUseful(name, id.seenAt, at) || !isBetter(evidence, id.seenAt, clicks[name]))
        continue;
      clickIds[name] = id;
      clicks[name] = { evidence, at: id.seenAt, isCarried };
    }
    const isLater = seenAt > endOf(at);
    const ofBrowser = isLater ? evidence - laterPenalty : evidence;
    if (visit.browser && ofBrowser > browserEvidence) {
      attribution.browser = visit.browser;
      browserEvidence = ofBrowser;
    }
    for (const name in visit.browserIds) {
      const value = visit.browserIds[name] as string;
      const clickedAt = clickTimeIn(name, value);
      const isClick = keepsClick(name);
      if (isClick && (clickedAt === undefined ? isLater : clickedAt > at + clockSkewMs)) continue;
      const choice: Choice = { evidence: isClick ? evidence : ofBrowser, at: clickedAt ?? seenAt };
      if (!isUsefulCookie(name, choice.at, at) || !isBetter(choice.evidence, choice.at, cookies[name])) continue;
      browserIds[name] = value;
      cookies[name] = choice;
    }
    if (!isLater && evidence > utmEvidence)
      for (const _ in visit.utm) {
        attribution.utm = visit.utm;
        utmEvidence = evidence;
        break;
      }
  }
  if (identity.visits.length > 1) removeOutweighed(clickIds, clicks, browserIds, cookies);
}

/** More than any evidence. */
const laterPenalty = 3;

/** Removes clicks where one of their kind has more evidence: platforms choose among those that they get by rules of their own. */
function removeOutweighed(
  clickIds: Attribution["clickIds"],
  clicks: Choices,
  browserIds: Attribution["browserIds"],
  cookies: Choices,
): void {
  for (const name in cookies) {
    if (!isOvertaken(name, cookies[name] as Choice, clicks)) continue;
    delete browserIds[name];
    delete cookies[name];
  }
  const max: Record<string, number> = {};
  for (const [name, { evidence }] of [...Object.entries(clicks), ...Object.entries(cookies)]) {
    const kind = clickKindOf(name);
    if (kind !== undefined) max[kind] = Math.max(max[kind] ?? 0, evidence);
  }
  const isOutweighed = (name: string, { evidence }: Choice) => evidence < (max[clickKindOf(name) ?? ""] ?? -Infinity);
  for (const name in clicks) if (isOutweighed(name, clicks[name] as Choice)) delete clickIds[name];
  for (const name in cookies) if (isOutweighed(name, cookies[name] as Choice)) delete browserIds[name];
}

/** A link brings a person from the click to the page where they convert: an older click that a cookie kept does not outweigh that one. */
function isOvertaken(cookie: string, { evidence, at }: Choice, clicks: Choices): boolean {
  const kind = clickKindOf(cookie);
  if (kind === undefined) return false;
  for (const name in clicks) {
    const click = clicks[name] as Choice;
    if (click.isCarried && clickKindOf(name) === kind && evidence > click.evidence && at < click.at) return true;
  }
  return false;
}
