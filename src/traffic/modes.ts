// The mode of each signal on a site. A site chooses with entries such as `pointer:press too short=on`; `all=on` is for every
// signal that begins in shadow.

import type { VisitRules } from "./lists.ts";
import { evidenceModes } from "../contract/traffic.ts";
import type { EvidenceMode, Signal } from "./signal.ts";
import { signals } from "./signals.ts";

/** Names a signal in counts, and where a site chooses its mode. */
export const nameOf = ({ category, name }: Pick<Signal, "category" | "name">) => `${category}:${name}`;

const everyShadow = "all";
const names = new Set([everyShadow, ...signals.map((signal) => nameOf(signal).toLowerCase())]);

/** Returns null for an entry that names no signal or no mode. */
export function readEntry(entry: string): [name: string, mode: EvidenceMode] | null {
  const at = entry.lastIndexOf("=");
  const [name, mode] = [entry.slice(0, at).trim(), entry.slice(at + 1).trim()];
  return names.has(name) && (evidenceModes as readonly string[]).includes(mode) ? [name, mode as EvidenceMode] : null;
}

type ActiveSignal = { signal: Signal; isOn: boolean };
type Modes = {
  of: ReadonlyMap<Signal, EvidenceMode>;
  /** Without those that are off. */
  active: readonly ActiveSignal[];
};

/** The settings object is replaced when it changes, so its modes are cached by it. */
const cached = new WeakMap<object, Modes>();

export function modesOf(rules: Pick<VisitRules, "evidence">): Modes {
  let modes = cached.get(rules);
  if (!modes) {
    const chosen = new Map(rules.evidence.flatMap((entry) => [readEntry(entry) ?? []].filter((one) => one.length === 2)));
    const usual = ({ mode = "on" }: Signal) => (mode === "shadow" ? (chosen.get(everyShadow) ?? mode) : mode);
    const of = new Map(signals.map((signal) => [signal, chosen.get(nameOf(signal).toLowerCase()) ?? usual(signal)]));
    const active = [...of].flatMap(([signal, mode]) => (mode === "off" ? [] : { signal, isOn: mode === "on" }));
    modes = { of, active };
    cached.set(rules, modes);
  }
  return modes;
}
