// What a record keeps of visits. Newest first; attribution chooses among them later.
//
// Anybody who knows an email can add a visit to its record, so additions must not be able to push the history out:
// of too many visits the oldest and the newest stay, and what lies between goes.

import { minuteMs } from "../kernel/time.ts";
import type { Identity, SeenId, Visit } from "../kernel/event.ts";

const keptAtEachEnd = 3;
const botsKept = 2;
const sessionMs = 30 * minuteMs;

/** Adds a visit to those of a visitor or a person; `oldest` is the age at which visits are forgotten. */
export function addVisit(known: readonly Visit[], visit: Visit, oldest: number): Visit[] {
  const seen = { ...visit, clickIds: firstSeen(known, visit.clickIds) };
  const [newest, ...others] = known;
  const visits = newest && isSameSession(newest, seen) ? [join(newest, seen), ...others] : [seen, ...known];
  return bounded(visits, oldest);
}

/** Joins the visits of a visitor to those of a person, each once. */
export function joinVisits(known: readonly Visit[], more: readonly Visit[], oldest: number): Visit[] {
  const key = (visit: Visit) => `${visit.visitorId} ${visit.seenAt}`;
  // The visitor's own copy is the fresher one of a visit that both have.
  const joined = new Map([...known, ...more].map((visit) => [key(visit), visit]));
  return bounded([...joined.values()], oldest);
}

/** The first UTM fields that were ever seen stay; the newest are in the visits. */
export function firstUtmOf(identity: Identity, visits: readonly Visit[]): Record<string, string> {
  if (Object.keys(identity.firstUtm).length) return identity.firstUtm;
  return visits.findLast((visit) => Object.keys(visit.utm).length)?.utm ?? {};
}

const newestFirst = (a: Visit, b: Visit) => b.seenAt - a.seenAt;

/** People's visits and bots' are bounded apart: a flood of bots pushes nobody out. */
function bounded(visits: Visit[], oldest: number): Visit[] {
  const kept = visits.filter((visit) => visit.seenAt >= oldest).toSorted(newestFirst);
  const people = kept.filter((visit) => !visit.verdict?.bot);
  const bots = kept.filter((visit) => visit.verdict?.bot).slice(0, botsKept);
  const ends =
    people.length <= 2 * keptAtEachEnd
      ? people
      : [...people.slice(0, keptAtEachEnd), ...people.slice(-keptAtEachEnd)];
  return [...ends, ...bots].toSorted(newestFirst);
}

/** A click id that was seen before keeps the time of its click. */
function firstSeen(known: readonly Visit[], clickIds: Record<string, SeenId>): Record<string, SeenId> {
  return Object.fromEntries(
    Object.entries(clickIds).map(([name, id]) => {
      const times = known.map((visit) => visit.clickIds[name]).filter((other) => other?.value === id.value);
      return [
        name,
        { ...id, seenAt: Math.min(id.seenAt, ...times.map((other) => other?.seenAt ?? id.seenAt)) },
      ];
    }),
  );
}

/** The same browser, moments later, with nothing new to say about where it came from. */
function isSameSession(newest: Visit, visit: Visit): boolean {
  const known = { ...ids(newest), ...newest.utm };
  const saysNothingNew = Object.entries({ ...ids(visit), ...visit.utm }).every(
    ([name, value]) => known[name] === value,
  );
  return newest.visitorId === visit.visitorId && visit.seenAt - newest.seenAt < sessionMs && saysNothingNew;
}

const ids = (visit: Visit) =>
  Object.fromEntries(Object.entries(visit.clickIds).map(([name, id]) => [name, id.value]));

/** What was seen against a visit later counts for all of it. */
function join(newest: Visit, visit: Visit): Visit {
  const worst = [newest.verdict, visit.verdict].reduce((one, other) =>
    (other?.score ?? 0) > (one?.score ?? 0) ? other : one,
  );
  const browserIds = { ...newest.browserIds, ...visit.browserIds };
  return { ...newest, browserIds, ...(worst ? { verdict: worst } : {}) };
}
