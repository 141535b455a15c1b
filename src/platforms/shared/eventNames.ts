// The name under which an event goes to a platform: the connection's choice, else the platform's standard name for it, else
// what the platform does with other events. Senders' names match without regard to case.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames } from "../platform.ts";

/** `AddToCart`, `add-to-cart` and `add_to_cart` are one event. */
export function foldName(name: string): string {
  let folded = foldedNames.get(name);
  if (folded === undefined) {
    folded = name.toLowerCase().replace(/[\s_-]+/g, "");
    // Senders choose the names: a new one with every event must not fill the memory.
    if (foldedNames.size >= maxNames) foldedNames.clear();
    foldedNames.set(name, folded);
  }
  return folded;
}

/** Every platform folds the name of every conversion several times, and there are few names. */
const foldedNames = new Map<string, string>();
const maxNames = 1000;

const foldedStandards = new WeakMap<EventNames["standard"], Map<string, string>>();

function standardName(name: string, { standard }: EventNames): string | undefined {
  let names = foldedStandards.get(standard);
  if (!names) {
    names = new Map(Object.entries(standard).map(([ours, theirs]) => [foldName(ours), theirs]));
    foldedStandards.set(standard, names);
  }
  return names.get(foldName(name));
}

export const nameSetting = (event: string) => `event.${foldName(event)}`;

type KnownNames = { of: EventNames; names: Map<string, string | null> };
const namesBySettings = new WeakMap<ConnectionSettings, KnownNames>();

/** Returns the platform's name for an event; null when the platform has none and the connection chose none. */
export function eventNameOf(
  { name }: Pick<Conversion, "name">,
  settings: ConnectionSettings,
  names: EventNames,
): string | null {
  let known = namesBySettings.get(settings);
  if (known?.of !== names) {
    known = { of: names, names: new Map() };
    namesBySettings.set(settings, known);
  }
  let found = known.names.get(name);
  if (found === undefined) {
    found = findName(name.trim(), settings, names);
    if (known.names.size >= maxNames) known.names.clear();
    known.names.set(name, found);
  }
  return found;
}

function findName(own: string, settings: ConnectionSettings, names: EventNames): string | null {
  const found = settings[nameSetting(own)] ?? standardName(own, names);
  if (found !== undefined) return found;
  if (names.others === "own name") return own;
  return names.others === "not sent" ? null : names.others.name;
}

/** Says what is wrong with a connection's choice of a name; null when it is fine. */
export function nameFault(chosen: string, names: EventNames): string | null {
  if (names.choices && !names.choices.includes(chosen)) return `must be one of ${names.choices.join(", ")}`;
  return names.check?.(chosen) ?? null;
}

/** True for a refund without a name chosen for it: no advertising platform can revoke a conversion's value. */
export function isUnnamedRefund({ name }: Conversion, settings: ConnectionSettings): boolean {
  return foldName(name) === "refund" && settings[nameSetting(name)] === undefined;
}
