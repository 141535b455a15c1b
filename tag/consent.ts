// Reads the visitor's consent from every source. The most restrictive source wins.

import { agent, optIn, page, safely } from "./page.ts";

type Decision = "granted" | "denied";
/** `byDefault`: Consent Mode starts with a refusal that no visitor has decided on. */
type Sources = { own?: Decision; gpc?: Decision; tcf?: Decision; gcm?: Decision; byDefault?: boolean };

/** The decisions on this page; every report carries them. */
export const sources: Sources = {};

// The relay's cookies remember refusals of earlier pages. Global Privacy Control needs no memory: it is always present.
safely(() =>
  page.cookie.replace(
    /__cc_(own|tcf|gcm)=(denied)/g,
    (_, source: "own" | "tcf" | "gcm", decision: Decision) => (sources[source] = decision),
  ),
);
if ((agent as { globalPrivacyControl?: boolean }).globalPrivacyControl) sources.gpc = "denied";

/**
 * The decision of an earlier `cc.consent` call. A site calls it once, while the other sources are present on every page.
 * The relay stores the decision too; the tag remembers it so that it does not wait for a decision again.
 */
export const earlier = safely(() => localStorage.__cc as Decision);

const has = (decision: Decision) => Object.values({ own: earlier, ...sources }).includes(decision);

/** Consent Mode may start with a default refusal that is updated a moment later. No report is sent in between. */
let isProvisional = false;
const updateTimeoutMs = 2000;

/** In opt-in mode the tag sends nothing before the visitor's decision. */
export const isDecided = () => !isProvisional && (!optIn || has("denied") || has("granted"));

export const mayIdentify = () => isDecided() && !has("denied");

/** Accepts the default as final: no update came in time. */
export function finalizeConsent(): void {
  isProvisional = false;
}

/** Reports a change. Does nothing until all sources had the time to decide. */
let onChange = () => {};

export function decide(decision: Decision): void {
  safely(() => (localStorage.__cc = decision));
  if (decision === "denied") finalizeConsent();
  sources.own = decision;
  onChange();
}

/** Starts reading all sources. Calls `report` when they have decided or a timeout has passed, then after every change. */
export function readConsent(report: (isFirst: boolean) => void): void {
  let reported = "";
  const reportChange = () => {
    const now = JSON.stringify(sources);
    if (!isDecided() || reported === now) return;
    const isFirst = !reported;
    reported = now;
    report(isFirst);
  };
  safely(() => readGoogle(reportChange));

  let tries = 20;
  const findTcf = () => {
    // The consent platform may load later or not at all, so a visit does not wait for it.
    const isPresent = safely(() => readTcf(reportChange));
    if (!isPresent && tries--) setTimeout(findTcf, 500);
    return isPresent;
  };
  setTimeout(
    () => {
      onChange = reportChange;
      reportChange();
    },
    findTcf() ? 1000 : 0,
  );
}

type TcData = {
  gdprApplies?: boolean;
  eventStatus?: string;
  purpose?: { consents?: Record<number, boolean> };
};
type Tcf = (command: string, version: number, callback: (data: TcData, ok: boolean) => void) => void;

/** IAB TCF 2.x: purpose 1 is storage, 7 is measuring ads. Until the visitor consents to both, TCF counts as denied. */
function readTcf(onDecision: () => void): true {
  // This throws where no platform is present.
  (window as unknown as { __tcfapi: Tcf }).__tcfapi("addEventListener", 2, (data, ok) => {
    safely(() => {
      if (!ok || data.gdprApplies === false) return;
      // In opt-in mode a visible banner is no decision yet.
      if (optIn && data.eventStatus === "cmpuishown") return;
      const consents = data.purpose?.consents ?? {};
      sources.tcf = consents[1] && consents[7] ? "granted" : "denied";
    });
    onDecision();
  });
  return true;
}

/** Consent Mode's word for one kind of storage. */
type Word = string | undefined;

/** Google Consent Mode v2: commands in the page's data layer, from before the tag and later. */
function readGoogle(onDecision: () => void): void {
  const layer = ((window as { dataLayer?: unknown[] }).dataLayer ??= []);
  const state: Word[] = [];
  const read = (entry: unknown) =>
    safely(() => {
      const [command, kind, values] = entry as [string, string, Record<string, Word>];
      const isUpdate = kind === "update";
      if (command !== "consent") return;
      const words = [values["ad_storage"], values["ad_user_data"]];
      // Defaults may differ by region, which only Google knows: the strictest one counts.
      const keep = (word: Word, i: number) => (state[i] = ((isUpdate || state[i] !== "denied") && word) || state[i]);
      const denied = words.map(keep).includes("denied");
      // A default is not the visitor's decision: it does not count in opt-in mode, and it never ends a refusal. Nor is an update of
      // other kinds of storage, which some consent platforms send with each page.
      if (!words.join("") || (!isUpdate && (optIn || (!denied && sources.gcm)))) return;
      sources.gcm = denied ? "denied" : "granted";
      sources.byDefault = isProvisional = !isUpdate && denied;
      const settle = () => {
        finalizeConsent();
        onDecision();
      };
      if (isUpdate || denied) setTimeout(settle, isProvisional ? updateTimeoutMs : 0);
      else onChange();
    });
  layer.forEach(read);
  const push = layer.push.bind(layer);
  layer.push = (...entries) => {
    entries.forEach(read);
    return push(...entries);
  };
}
