// An identity record keeps the last few visits, newest first, and lets attribution choose among them: whoever merely
// knows an email can add a visit, but cannot erase the history.

import type { Identity, Visit } from "../event.ts";

const visitsKept = 5;

export function addVisit(known: Identity, visit: Visit, forms: Identity["forms"]): Identity {
  const visits = [visit, ...known.visits].toSorted((a, b) => b.seenAt - a.seenAt).slice(0, visitsKept);
  const isFirstUtm = Object.keys(known.firstUtm).length === 0;
  return {
    visits,
    firstUtm: isFirstUtm ? visit.utm : known.firstUtm,
    forms: { ...known.forms, ...forms },
  };
}
