// What the visitor decided, from every place where it can be read. The most restrictive source wins.

import { agent, config, quietly } from "./page.ts";

type Decision = "granted" | "denied";
type Sources = { own?: Decision; gpc?: Decision; tcf?: Decision; gcm?: Decision };

export const sources: Sources = {};

/** Called whenever a source says something new. */
let changed: () => void = () => {};

export function say(source: keyof Sources, decision: Decision): void {
  if (sources[source] === decision) return;
  sources[source] = decision;
  changed();
}

export function mayIdentify(): boolean {
  const decisions = Object.values(sources);
  return !decisions.includes("denied") && (!config.optIn || decisions.includes("granted"));
}

export function isDecided(): boolean {
  return !config.optIn || Object.keys(sources).length > 0;
}

/** Starts reading all sources; `first` runs once the ones that are there have spoken, or after a second. */
export function readConsent(onChange: () => void, first: () => void): void {
  if ((agent as { globalPrivacyControl?: boolean }).globalPrivacyControl) sources.gpc = "denied";
  quietly(readGoogle);

  let started = false;
  const start = () => {
    if (started) return;
    started = true;
    changed = onChange;
    first();
  };
  if (!quietly(() => readTcf(start))) {
    // The consent platform may load after us, or not exist: do not wait for it.
    let tries = 20;
    const look = () => {
      if (!quietly(() => readTcf(start)) && tries--) setTimeout(look, 500);
    };
    setTimeout(look, 500);
    start();
  } else {
    setTimeout(start, 1000);
  }
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
      const consents = data.purpose?.consents ?? {};
      say("tcf", consents[1] && consents[7] ? "granted" : "denied");
    });
    spoke();
  });
  return true;
}

/** Google Consent Mode v2: commands that the page pushes into its data layer, before us and after. */
function readGoogle(): void {
  const layer = ((window as { dataLayer?: unknown[] }).dataLayer ??= []);
  const state: Record<string, string> = {};
  const read = (entry: unknown) => {
    const [command, , values] = Array.from((entry as ArrayLike<unknown>) ?? []);
    if (command !== "consent") return;
    Object.assign(state, values);
    const decisions = [state.ad_storage, state.ad_user_data];
    if (decisions.includes("denied")) say("gcm", "denied");
    else if (decisions.includes("granted")) say("gcm", "granted");
  };
  layer.forEach((entry) => quietly(() => read(entry)));
  const push = layer.push.bind(layer);
  layer.push = (...entries) => {
    entries.forEach((entry) => quietly(() => read(entry)));
    return push(...entries);
  };
}
