// Finds the ids of a person by the hashed email: reads consent and the identity record. Consent that cannot be read counts
// as denied.

import { minuteMs } from "../kernel/time.ts";
import { within } from "../kernel/deadline.ts";
import type { Attribution, ConsentReading, Identity, PathVisit, SeenId, Sha256, Visit } from "../kernel/event.ts";
import type { FoundPerson } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import { isBotVisit } from "../traffic/filter.ts";
import { clickKindOf, isNoClick, isUseful, isUsefulCookie } from "./clickIds.ts";
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
    if (isLeftOut(visit, identity, at, rules) || visit.seenAt > at + clockSkewMs) continue;
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

type Evidences = Record<string, number>;

/**
 * Ids of bot visits are not used unless the site trusts the person. Of several ids of a kind the one with most evidence wins, and of
 * those the one seen last: so nobody who merely knows an email replaces its click. The same holds for the campaign and the browser.
 * Visits are stored newest first. Of one after the event only click ids are used, which have a time of their own, and the browser
 * where no other is known.
 */
function chooseIds(attribution: Attribution, identity: Identity, at: number, rules: Weighed): void {
  const { clickIds, browserIds } = attribution;
  const { evidenceOf } = rules;
  const clickEvidence: Evidences = {};
  const cookieEvidence: Evidences = {};
  let utmEvidence = -1;
  let browserEvidence = -Infinity;
  for (const visit of identity.visits) {
    if (isLeftOut(visit, identity, at, rules)) continue;
    const evidence = evidenceOf(visit);
    for (const name in visit.clickIds) {
      const id = visit.clickIds[name] as SeenId;
      const known = clickIds[name];
      const ahead = evidence - (clickEvidence[name] ?? -1);
      if (id.seenAt > at + clockSkewMs || !isUseful(name, id.seenAt, at)) continue;
      if (known && (ahead < 0 || (ahead === 0 && known.seenAt >= id.seenAt))) continue;
      clickIds[name] = id;
      clickEvidence[name] = evidence;
    }
    const isLater = visit.seenAt > at + clockSkewMs;
    const ofBrowser = isLater ? evidence - laterPenalty : evidence;
    if (visit.browser && ofBrowser > browserEvidence) {
      attribution.browser = visit.browser;
      browserEvidence = ofBrowser;
    }
    if (isLater) continue;
    for (const name in visit.browserIds) {
      if (evidence <= (cookieEvidence[name] ?? -1) || !isUsefulCookie(name, visit.seenAt, at)) continue;
      browserIds[name] = visit.browserIds[name] as string;
      cookieEvidence[name] = evidence;
    }
    if (evidence > utmEvidence)
      for (const _ in visit.utm) {
        attribution.utm = visit.utm;
        utmEvidence = evidence;
        break;
      }
  }
  if (identity.visits.length > 1) removeOutweighed(clickIds, clickEvidence, browserIds, cookieEvidence);
}

/** More than any evidence. */
const laterPenalty = 3;

/** Removes clicks where one of their kind has more evidence: platforms choose among those that they get by rules of their own. */
function removeOutweighed(
  clickIds: Attribution["clickIds"],
  clickEvidence: Evidences,
  browserIds: Attribution["browserIds"],
  cookieEvidence: Evidences,
): void {
  const max: Evidences = {};
  for (const [name, evidence] of [...Object.entries(clickEvidence), ...Object.entries(cookieEvidence)]) {
    const kind = clickKindOf(name);
    if (kind !== undefined) max[kind] = Math.max(max[kind] ?? 0, evidence);
  }
  const isOutweighed = (name: string, evidence = 0) => evidence < (max[clickKindOf(name) ?? ""] ?? 0);
  for (const name in clickEvidence) if (isOutweighed(name, clickEvidence[name])) delete clickIds[name];
  for (const name in cookieEvidence) if (isOutweighed(name, cookieEvidence[name])) delete browserIds[name];
}
