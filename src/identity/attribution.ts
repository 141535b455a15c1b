// Finds the ids of a person by the hashed email: reads consent and the identity record. Consent that cannot be read counts
// as denied.

import { minuteMs } from "../kernel/time.ts";
import { within } from "../kernel/deadline.ts";
import type { Attribution, ConsentReading, Identity, SeenId, Sha256 } from "../kernel/event.ts";
import type { FoundPerson } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import { isBotVisit } from "../traffic/filter.ts";
import { isUseful } from "./clickIds.ts";
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

function withheldReason(consent: ConsentReading, mode: ConsentMode): Attribution["withheld"] {
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

/** Chooses the ids that are sent with an event: none when consent withholds them, else the newest useful one of each kind. */
export function attribute(
  { consent, withheld, identity }: KnownPerson,
  at: number,
  rules: { keepMs: number; isTrusted: boolean },
): Attribution {
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
  if (!withheld && identity && identity !== "unreadable") chooseIds(attribution, identity, at, rules);
  return attribution;
}

/** Adds click ids that the sender gave, unless consent withholds them. Of two of a kind the one seen last wins. */
export function addClickIds({ withheld, clickIds }: Attribution, given: Readonly<Record<string, SeenId>>, at: number): void {
  if (withheld) return;
  for (const [name, id] of Object.entries(given)) {
    const known = clickIds[name];
    if (isUseful(name, id.seenAt, at) && (!known || known.seenAt < id.seenAt)) clickIds[name] = id;
  }
}

/**
 * Ids of bot visits are not used unless the site trusts the person. Of several click ids of a kind the one with most evidence wins,
 * and of those the one seen last: so nobody who merely knows an email replaces its click. The same holds for the campaign. Visits are
 * stored newest first, so everything else comes from the first visit that has it.
 */
function chooseIds(
  attribution: Attribution,
  identity: Identity,
  at: number,
  { keepMs, isTrusted }: { keepMs: number; isTrusted: boolean },
): void {
  const { clickIds, browserIds } = attribution;
  const evidenceOf = weighVisits(identity.visits);
  const clickEvidence: Record<string, number> = {};
  let utmEvidence = -1;
  for (const visit of identity.visits) {
    if ((!isTrusted && isBotVisit(visit, identity)) || visit.seenAt < at - keepMs) continue;
    const evidence = evidenceOf(visit.visitorId);
    for (const name in visit.clickIds) {
      const id = visit.clickIds[name] as SeenId;
      const known = clickIds[name];
      const ahead = evidence - (clickEvidence[name] ?? -1);
      if (id.seenAt > at + clockSkewMs || !isUseful(name, id.seenAt, at)) continue;
      if (known && (ahead < 0 || (ahead === 0 && known.seenAt >= id.seenAt))) continue;
      clickIds[name] = id;
      clickEvidence[name] = evidence;
    }
    for (const name in visit.browserIds) browserIds[name] ??= visit.browserIds[name] as string;
    if (evidence > utmEvidence)
      for (const _ in visit.utm) {
        attribution.utm = visit.utm;
        utmEvidence = evidence;
        break;
      }
    attribution.browser ??= visit.browser;
  }
}
