// What the visitor decided, from every place where it can be read. The most restrictive source wins.

import { agent, config, quietly } from "./page.ts";

export type Decision = "granted" | "denied";
type Sources = { own?: Decision; gpc?: Decision; tcf?: Decision; gcm?: Decision };

/** What was said on this page; every report carries it. */
export const sources: Sources = {};

/**
 * The site's own call is made once, on some page; the others speak on every page. The relay remembers it, and the tag
 * only so far that it need not wait again.
 */
export const earlier = quietly(() => localStorage.__cc as Decision);

const decisions = () => Object.values({ own: earlier, ...sources });

export function mayIdentify(): boolean {
  return !decisions().includes("denied") && (!config.optIn || decisions().includes("granted"));
}

/** Consent Mode begins with a refusal that the consent platform corrects a moment later, or not. Nothing is said meanwhile. */
export let mayBeCorrected = false;
const correctionMs = 2000;

export function isDecided(): boolean {
  return !mayBeCorrected && (!config.optIn || decisions().some(Boolean));
}

/** Nobody will correct anything any more. */
export function takeAsFinal(): void {
  mayBeCorrected = false;
}

/** Tells what is new, once the page has told its first visit. */
let changed = () => {};

function say(source: keyof Sources, decision: Decision): void {
  sources[source] = decision;
  changed();
}

export function decide(decision: Decision): void {
  quietly(() => (localStorage.__cc = decision));
  if (decision === "denied") takeAsFinal();
  say("own", decision);
}

/** Starts reading all sources. `report` runs once those that are there have spoken, or after a moment, and on news. */
export function readConsent(report: (isFirst: boolean) => void): void {
  let told = "";
  const tell = () => {
    const now = JSON.stringify(sources);
    if (mayBeCorrected || told === now) return;
    const isFirst = !told;
    told = now;
    changed = tell;
    report(isFirst);
  };
  if ((agent as { globalPrivacyControl?: boolean }).globalPrivacyControl) sources.gpc = "denied";
  quietly(() => readGoogle(tell));

  let tries = 20;
  const look = () => {
    // The consent platform may load after us, or not exist: a visit does not wait for it.
    const isThere = quietly(() => readTcf(tell));
    if (!isThere && tries--) setTimeout(look, 500);
    return isThere;
  };
  setTimeout(tell, look() ? 1000 : 0);
}

type TcData = {
  gdprApplies?: boolean;
  eventStatus?: string;
  purpose?: { consents?: Record<number, boolean> };
};
type Tcf = (command: string, version: number, callback: (data: TcData | null, ok: boolean) => void) => void;

/** IAB TCF 2.x: purpose 1 is storage, 7 is measuring ads. Until somebody agreed, the answer is no. */
function readTcf(spoke: () => void): boolean {
  const tcf = (window as { __tcfapi?: Tcf }).__tcfapi;
  if (!tcf) return false;
  tcf("addEventListener", 2, (data, ok) => {
    quietly(() => {
      if (!ok || !data || data.gdprApplies === false) return;
      // Where the site asks first, a banner that is shown has no answer yet.
      if (config.optIn && data.eventStatus === "cmpuishown") return;
      const consents = data.purpose?.consents ?? {};
      say("tcf", consents[1] && consents[7] ? "granted" : "denied");
    });
    spoke();
  });
  return true;
}

/** Google Consent Mode v2: commands that the page pushes into its data layer, before us and after. */
function readGoogle(spoke: () => void): void {
  const layer = ((window as { dataLayer?: unknown[] }).dataLayer ??= []);
  const state: Record<string, string> = {};
  const read = (entry: unknown) =>
    quietly(() => {
      const [command, kind, values] = entry as Iterable<unknown>;
      const isUpdate = kind === "update";
      // Where the site asks first, a default is not the visitor's answer.
      if (command !== "consent" || (config.optIn && !isUpdate)) return;
      for (const name of ["ad_storage", "ad_user_data"]) {
        const word = (values as Record<string, string>)[name];
        // Defaults may differ by region, which only Google knows: the strictest counts.
        if (word && (isUpdate || state[name] !== "denied")) state[name] = word;
      }
      const words = Object.values(state);
      if (!words.length) return;
      const denied = words.includes("denied");
      sources.gcm = denied ? "denied" : "granted";
      mayBeCorrected = denied && !isUpdate;
      const settle = () => {
        takeAsFinal();
        spoke();
      };
      if (denied || isUpdate) setTimeout(settle, isUpdate ? 0 : correctionMs);
      else changed();
    });
  layer.forEach(read);
  const push = layer.push.bind(layer);
  layer.push = (...entries) => {
    entries.forEach(read);
    return push(...entries);
  };
}
