// From a hashed email to the ids behind it: consent first, then the identity record. Consent that cannot be read,
// for whatever reason, is a refusal.

import { within } from "../kernel/deadline.ts";
import type { Attribution, ConsentReading, Identity, SeenId, Sha256 } from "../kernel/event.ts";
import type { Store } from "../store/store.ts";
import { isUseful } from "./clickIds.ts";

type People = Store["people"];
export type ConsentMode = "opt-out" | "opt-in";
export type Known = {
  consent: ConsentReading;
  withheld: Attribution["withheld"];
  identity: Identity | null | "unreadable";
};

/** A store that takes longer than this to say what a person decided counts as one that cannot say. */
const usualMs = 2000;
/** What is left of an answer's time for storing the event and sending it. */
const restMs = 1500;
/** Longer than it takes to notice that a server has fallen silent, and to ask the one that took its place. */
const maxMs = 8000;

/**
 * How long a sender who waits for so long can wait for the look-up. An event goes out without what is known of its
 * person if that cannot be read, and nothing makes up for it later: so a database that holds still is waited for.
 */
export function lookUpMs(answerMs: number): number {
  return Math.min(Math.max(answerMs - restMs, answerMs / 2), maxMs);
}

/** A click after the conversion did not lead to it; the sender's clock may be off by this much. */
const clockSkewMs = 5 * 60_000;

export async function lookUp(
  people: People,
  siteId: string,
  emailSha256: Sha256,
  mode: ConsentMode,
  timeoutMs = usualMs,
): Promise<Known> {
  const [{ consent, withheld }, identity] = await Promise.all([
    readConsent(people, siteId, emailSha256, mode, timeoutMs),
    within(timeoutMs, people.findIdentity(siteId, emailSha256), "too slow").catch(
      () => "unreadable" as const,
    ),
  ]);
  return { consent, withheld, identity };
}

export async function readConsent(
  people: People,
  siteId: string,
  emailSha256: Sha256,
  mode: ConsentMode,
  timeoutMs = usualMs,
): Promise<Pick<Known, "consent" | "withheld">> {
  const consent = await within(timeoutMs, people.readConsent(siteId, emailSha256), "too slow").catch(
    () => "unreadable" as const,
  );
  return { consent, withheld: whyWithheld(consent, mode) };
}

function whyWithheld(consent: ConsentReading, mode: ConsentMode): Attribution["withheld"] {
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

/** Chooses what goes out with an event: nothing when consent withholds it, else the newest useful id of each kind. */
export function attribute(
  { consent, withheld, identity }: Known,
  at: number,
  { keepMs, trusts }: { keepMs: number; trusts: boolean },
): Attribution {
  const found = identity === "unreadable" ? "unreadable" : identity ? "found" : "none";
  const nothing = { clickIds: {}, browserIds: {}, utm: {}, browser: null };
  if (withheld || !identity || identity === "unreadable")
    return { consent, withheld, identity: found, ...nothing };
  return { consent, withheld, identity: found, ...choose(identity, at, keepMs, trusts) };
}

type Chosen = Pick<Attribution, "clickIds" | "browserIds" | "utm" | "browser">;

/** Visits of bots never lend their ids, unless the site trusts the person whatever was seen; visits are kept newest first, so the first id of a kind wins. */
function choose(identity: Identity, at: number, keepMs: number, trusts: boolean): Chosen {
  const clickIds: Record<string, SeenId> = {};
  const browserIds: Record<string, string> = {};
  let utm: Record<string, string> = {};
  let browser: Chosen["browser"] = null;
  for (const visit of identity.visits) {
    if ((visit.verdict?.bot && !trusts) || visit.seenAt < at - keepMs) continue;
    for (const [name, id] of Object.entries(visit.clickIds)) {
      const known = clickIds[name];
      if (
        id.seenAt <= at + clockSkewMs &&
        isUseful(name, id.seenAt, at) &&
        (!known || known.seenAt < id.seenAt)
      )
        clickIds[name] = id;
    }
    for (const [name, value] of Object.entries(visit.browserIds)) browserIds[name] ??= value;
    if (Object.keys(utm).length === 0) utm = visit.utm;
    browser ??= visit.browser;
  }
  return { clickIds, browserIds, utm, browser };
}
