// An identity record keeps the last few visits, newest first, and lets attribution choose among them: whoever merely
// knows an email can add a visit, but cannot erase the history.

import type { Identity, Visit } from "../event.ts";

const visitsKept = 5;

const newestFirst = (a: Visit, b: Visit) => b.seenAt - a.seenAt;

export function addVisit(known: Identity, visit: Visit, forms: Identity["forms"]): Identity {
  // People's visits go before bots': a flood of bots must not push them out.
  const visits = [visit, ...known.visits]
    .toSorted((a, b) => Number(a.bot) - Number(b.bot) || newestFirst(a, b))
    .slice(0, visitsKept)
    .toSorted(newestFirst);
  const isFirstUtm = Object.keys(known.firstUtm).length === 0;
  return {
    visits,
    firstUtm: isFirstUtm ? visit.utm : known.firstUtm,
    forms: { ...known.forms, ...forms },
  };
}
