// Reads the visitor's consent from every source. The most restrictive source wins.

import { agent, config, safely } from "./page.ts";

export type Decision = "granted" | "denied";
type Sources = { own?: Decision; gpc?: Decision; tcf?: Decision; gcm?: Decision };

/** The decisions on this page; every report carries them. */
export const sources: Sources = {};

/**
 * The decision of an earlier `cc.consent` call. A site calls it once, while the other sources are present on every page.
 * The relay stores the decision too; the tag remembers it so that it does not wait for a decision again.
 */
export const earlier = safely(() => localStorage.__cc as Decision);

const decisions = () => Object.values({ own: earlier, ...sources });

export function mayIdentify(): boolean {
  return !decisions().includes("denied") && (!config.optIn || decisions().includes("granted"));
}

/** Consent Mode may start with a default refusal that is updated a moment later. No report is sent in between. */
export let isProvisional = false;
const updateTimeoutMs = 2000;

export function isDecided(): boolean {
  return !isProvisional && (!config.optIn || decisions().some(Boolean));
}

/** Accepts the default as final: no update came in time. */
export function finalizeConsent(): void {
  isProvisional = false;
}

/** Reports a change. Does nothing until the first visit was reported. */
let onChange = () => {};

function setDecision(source: keyof Sources, decision: Decision): void {
  sources[source] = decision;
  onChange();
}

export function decide(decision: Decision): void {
  safely(() => (localStorage.__cc = decision));
  if (decision === "denied") finalizeConsent();
  setDecision("own", decision);
}

/** Starts reading all sources. Calls `report` when they have decided or a timeout has passed, then after every change. */
export function readConsent(report: (isFirst: boolean) => void): void {
  let reported = "";
  const reportChange = () => {
    const now = JSON.stringify(sources);
    if (isProvisional || reported === now) return;
    const isFirst = !reported;
    reported = now;
    onChange = reportChange;
    report(isFirst);
  };
  if ((agent as { globalPrivacyControl?: boolean }).globalPrivacyControl) sources.gpc = "denied";
  safely(() => readGoogle(reportChange));

  let tries = 20;
  const findTcf = () => {
    // The consent platform may load later or not at all, so a visit does not wait for it.
    const isPresent = safely(() => readTcf(reportChange));
    if (!isPresent && tries--) setTimeout(findTcf, 500);
    return isPresent;
  };
  setTimeout(reportChange, findTcf() ? 1000 : 0);
}

type TcData = {
  gdprApplies?: boolean;
  eventStatus?: string;
  purpose?: { consents?: Record<number, boolean> };
};
type Tcf = (command: string, version: number, callback: (data: TcData | null, ok: boolean) => void) => void;

/** IAB TCF 2.x: purpose 1 is storage, 7 is measuring ads. Until the visitor consents to both, TCF counts as denied. */
function readTcf(onDecision: () => void): boolean {
  const tcf = (window as { __tcfapi?: Tcf }).__tcfapi;
  if (!tcf) return false;
  tcf("addEventListener", 2, (data, ok) => {
    safely(() => {
      if (!ok || !data || data.gdprApplies === false) return;
      // In opt-in mode a visible banner is no decision yet.
      if (config.optIn && data.eventStatus === "cmpuishown") return;
      const consents = data.purpose?.consents ?? {};
      setDecision("tcf", consents[1] && consents[7] ? "granted" : "denied");
    });
    onDecision();
  });
  return true;
}

/** Google Consent Mode v2: commands in the page's data layer, from before the tag and later. */
function readGoogle(onDecision: () => void): void {
  const layer = ((window as { dataLayer?: unknown[] }).dataLayer ??= []);
  const state: Record<string, string> = {};
  const read = (entry: unknown) =>
    safely(() => {
      const [command, kind, values] = entry as Iterable<unknown>;
      const isUpdate = kind === "update";
      // In opt-in mode a default is not the visitor's decision.
      if (command !== "consent" || (config.optIn && !isUpdate)) return;
      for (const name of ["ad_storage", "ad_user_data"]) {
        const word = (values as Record<string, string>)[name];
        // Defaults may differ by region, which only Google knows: the strictest one counts.
        if (word && (isUpdate || state[name] !== "denied")) state[name] = word;
      }
      const words = Object.values(state);
      if (!words.length) return;
      const denied = words.includes("denied");
      sources.gcm = denied ? "denied" : "granted";
      isProvisional = denied && !isUpdate;
      const settle = () => {
        finalizeConsent();
        onDecision();
      };
      if (denied || isUpdate) setTimeout(settle, isUpdate ? 0 : updateTimeoutMs);
      else onChange();
    });
  layer.forEach(read);
  const push = layer.push.bind(layer);
  layer.push = (...entries) => {
    entries.forEach(read);
    return push(...entries);
  };
}
