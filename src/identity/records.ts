// Maintains the visits of a record, newest first; attribution chooses among them later.
//
// Anyone who knows an email can add a visit to its record, so additions must not displace the history: of too many visits
// the oldest and the newest are kept.

import { minuteMs } from "../kernel/time.ts";
import type { Identity, SeenId, Visit } from "../kernel/event.ts";

const maxAtEachEnd = 3;
const maxBots = 2;
const sessionMs = 30 * minuteMs;

/** Adds a visit to those of a visitor or a person; visits before `oldest` are dropped. */
export function addVisit(known: readonly Visit[], visit: Visit, oldest: number): Visit[] {
  const seen = { ...visit, clickIds: firstSeen(known, visit.clickIds) };
  const [newest, ...others] = known;
  const visits = newest && isSameSession(newest, seen) ? [mergeVisits(newest, seen), ...others] : [seen, ...known];
  return boundVisits(visits, oldest);
}

export const markForm = (visits: readonly Visit[]) => visits.map((visit): Visit => ({ ...visit, hasForm: true }));

/** Joins the visits of a visitor to those of a person, each once. A form that the visitor submitted counts for all of them. */
export function joinVisits(known: readonly Visit[], more: readonly Visit[], oldest: number): Visit[] {
  const key = (visit: Visit) => `${visit.visitorId} ${visit.seenAt}`;
  const hadForm = known.some((visit) => visit.hasForm && visit.visitorId === more[0]?.visitorId);
  // Of a visit that both have, the visitor's copy is newer.
  const joined = new Map([...known, ...(hadForm ? markForm(more) : more)].map((visit) => [key(visit), visit]));
  return boundVisits([...joined.values()], oldest);
}

/** Keeps the first UTM fields ever seen; the newest are in the visits. */
export function firstUtmOf(identity: Identity, visits: readonly Visit[]): Record<string, string> {
  if (Object.keys(identity.firstUtm).length) return identity.firstUtm;
  return visits.findLast((visit) => Object.keys(visit.utm).length)?.utm ?? {};
}

const newestFirst = (a: Visit, b: Visit) => b.seenAt - a.seenAt;

/** Bounds visits of people and of bots separately: a flood of bots displaces no person. Nor do reports without a form others. */
function boundVisits(visits: Visit[], oldest: number): Visit[] {
  const kept = visits.filter((visit) => visit.seenAt >= oldest).toSorted(newestFirst);
  const people = kept.filter((visit) => !visit.verdict?.bot);
  const bots = kept.filter((visit) => visit.verdict?.bot).slice(0, maxBots);
  const withForm = keepEnds(people.filter((visit) => visit.hasForm));
  const others = keepEnds(people.filter((visit) => !visit.hasForm));
  return [...withForm, ...others, ...bots].toSorted(newestFirst);
}

const keepEnds = (visits: Visit[]) =>
  visits.length <= 2 * maxAtEachEnd ? visits : [...visits.slice(0, maxAtEachEnd), ...visits.slice(-maxAtEachEnd)];

/** A click id that was seen before keeps the time of its click. */
function firstSeen(known: readonly Visit[], clickIds: Record<string, SeenId>): Record<string, SeenId> {
  return Object.fromEntries(
    Object.entries(clickIds).map(([name, id]) => {
      const times = known.map((visit) => visit.clickIds[name]).filter((other) => other?.value === id.value);
      return [name, { ...id, seenAt: Math.min(id.seenAt, ...times.map((other) => other?.seenAt ?? id.seenAt)) }];
    }),
  );
}

/** True for the same browser within half an hour, with no new click id or UTM field. A visit to another domain has none of its pages. */
function isSameSession(newest: Visit, visit: Visit): boolean {
  if (newest.isCarried) return false;
  const known = { ...ids(newest), ...newest.utm };
  const hasNothingNew = Object.entries({ ...ids(visit), ...visit.utm }).every(([name, value]) => known[name] === value);
  return newest.visitorId === visit.visitorId && visit.seenAt - newest.seenAt < sessionMs && hasNothingNew;
}

const ids = (visit: Visit) => Object.fromEntries(Object.entries(visit.clickIds).map(([name, id]) => [name, id.value]));

/** A worse verdict on a later page counts for the whole visit. */
function mergeVisits(newest: Visit, visit: Visit): Visit {
  const verdicts = [newest.verdict, visit.verdict].filter((one) => one !== undefined);
  const [worst] = verdicts.toSorted((one, other) => other.score - one.score);
  const shadows = [...new Set(verdicts.flatMap((one) => one.shadows ?? []))];
  const browserIds = { ...newest.browserIds, ...visit.browserIds };
  return {
    ...newest,
    browserIds,
    ...(visit.isSeen && { isSeen: true }),
    ...(visit.isSubmitted && { isSubmitted: true }),
    ...(worst && { verdict: shadows.length ? { ...worst, shadows } : worst }),
  };
}
