// Under which name an event goes to a platform: the connection's choice, else the platform's standard name for it, else
// what the platform makes of others. Senders' names match without regard to case.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings } from "../platform.ts";

export type EventNames = {
  /** Our usual names, in lower case, and the platform's for them. */
  standard: Readonly<Record<string, string>>;
  /** What becomes of all others: sent under the sender's own name, under this one, or not at all. */
  others: "own name" | { name: string } | "not sent";
  /** What a connection may choose: one of these, or anything that `check` takes. */
  choices?: readonly string[];
  /** One sentence that says what is wrong with a chosen name; null when it is fine. */
  check?: (name: string) => string | null;
};

/** `AddToCart`, `add-to-cart` and `add_to_cart` are one event. */
export function foldName(name: string): string {
  let folded = foldings.get(name);
  if (folded === undefined) {
    folded = name.toLowerCase().replace(/[\s_-]+/g, "");
    // Senders choose the names: whoever makes up a new one each time must not fill the memory.
    if (foldings.size >= maxFoldings) foldings.clear();
    foldings.set(name, folded);
  }
  return folded;
}

/** Every platform asks several times for every conversion, and there are few names. */
const foldings = new Map<string, string>();
const maxFoldings = 1000;

const foldedNames = new WeakMap<EventNames["standard"], Map<string, string>>();

function standardName(name: string, { standard }: EventNames): string | undefined {
  let names = foldedNames.get(standard);
  if (!names) {
    names = new Map(Object.entries(standard).map(([ours, theirs]) => [foldName(ours), theirs]));
    foldedNames.set(standard, names);
  }
  return names.get(foldName(name));
}

export const nameSetting = (event: string) => `event.${foldName(event)}`;

/** The platform's name for an event; null when the platform has none and the connection chose none. */
export function eventNameOf(
  { name }: Pick<Conversion, "name">,
  settings: ConnectionSettings,
  names: EventNames,
): string | null {
  const own = name.trim();
  const known = settings[nameSetting(own)] ?? standardName(own, names);
  if (known !== undefined) return known;
  if (names.others === "own name") return own;
  return names.others === "not sent" ? null : names.others.name;
}

/** What is wrong with a connection's choice of a name; null when it is fine. */
export function nameFault(chosen: string, names: EventNames): string | null {
  if (names.choices && !names.choices.includes(chosen)) return `must be one of ${names.choices.join(", ")}`;
  return names.check?.(chosen) ?? null;
}
