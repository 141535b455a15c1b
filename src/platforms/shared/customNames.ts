// Names of custom events. Each platform has its own rules; an event's own name is changed to follow them, because an event
// under a changed name is worth more than one that is not sent.

import type { NameRules } from "../platform.ts";

const identifier = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Says in one sentence which rule a name breaks; null when it follows all. */
export function nameRuleFault(name: string, rules: NameRules = {}): string | null {
  if (rules.form === "identifier" && !identifier.test(name))
    return "must consist of letters, digits and underscores, and begin with a letter";
  if (name.length > (rules.maxLength ?? Infinity)) return `must have at most ${rules.maxLength} characters`;
  return isReserved(name, rules) ? "must not be a name that the platform reserves" : null;
}

/** Returns the name as the platform accepts it: `Closed Won` becomes `closed_won` where only identifiers are allowed. */
export function fitName(name: string, rules: NameRules = {}): string {
  if (nameRuleFault(name, rules) === null) return name;
  const shaped = rules.form === "identifier" && !identifier.test(name) ? toIdentifier(name) : name;
  const free = isReserved(shaped, rules) ? `custom_${shaped}` : shaped;
  return cut(free, rules.maxLength ?? Infinity);
}

function isReserved(name: string, { reserved = [], reservedPrefixes = [] }: NameRules): boolean {
  const lower = name.toLowerCase();
  return reserved.includes(lower) || reservedPrefixes.some((prefix) => lower.startsWith(prefix));
}

/** Removes accents, and replaces everything else that is not allowed. Of a name in another script nothing may be left. */
function toIdentifier(name: string): string {
  const words = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  if (words === "") return "custom_event";
  return /^[a-z]/.test(words) ? words : `custom_${words}`;
}

/** Also removes half a surrogate pair at the end. */
function cut(text: string, length: number): string {
  return text.length <= length ? text : text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}
