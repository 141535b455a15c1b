/** "1 note", "2 notes"; `many` for irregular plurals and for verbs: "1 delivery waits", "2 deliveries wait". */
export const countOf = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

export const escapeHtml = (text: string) => text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);

/** A longer text is no misspelled name, and would take long to compare. */
const maxWordLength = 100;
/** As in `google`, for google_ads. */
const minBeginning = 4;

/**
 * Finds the known word that differs least from a misspelled one, without regard to case, or the only one that begins with it; null
 * where none is near. The first `sharedLength` characters, which all words share, do not count.
 */
export function findNearest(word: string, known: Iterable<string>, sharedLength = 0): string | null {
  if (word.length > maxWordLength) return null;
  const maxDistance = Math.max(1, Math.floor((word.length - sharedLength) / 3));
  const typed = word.toLowerCase();
  const all = [...known];
  const near = all
    .filter((one) => Math.abs(one.length - word.length) <= maxDistance)
    .map((one) => ({ one, distance: editDistance(typed, one.toLowerCase()) }))
    .filter(({ distance }) => distance <= maxDistance)
    .toSorted((a, b) => a.distance - b.distance);
  if (near[0]) return near[0].one;
  const longer = typed.length - sharedLength >= minBeginning ? all.filter((one) => one.toLowerCase().startsWith(typed)) : [];
  return longer.length === 1 ? (longer[0] ?? null) : null;
}

/** "Did you mean time_zone?"; nothing where no known word is near. */
export const didYouMean = (nearest: string | null) => (nearest === null ? "" : `Did you mean ${nearest}?`);

/** Counts the insertions, deletions and replacements that turn one word into another. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 1; i <= from.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= to.length; j += 1) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}

/** The Swedish locale writes times as 2026-11-15 09:05. */
export const timeText = (ms: number, timeZone: string) =>
  `${new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "short" }).format(ms)} ${timeZone}`;

/** The languages of what people outside of the dashboard read: reports and walls. */
export const reportLanguages = ["en", "de"] as const;
export type ReportLanguage = (typeof reportLanguages)[number];

/** A share in percent as people read it: rounded, but neither 0 nor 100 for less than all and more than nothing. */
export function shownPercent(part: number, whole: number): number {
  const percent = (100 * part) / whole;
  if (part === 0 || part === whole) return percent;
  const rounded = percent >= 10 && percent <= 99 ? Math.round(percent) : Math.round(10 * percent) / 10;
  return part < whole ? Math.min(Math.max(rounded, 0.1), 99.9) : rounded;
}

/** "57%"; a dash where there is nothing to have a share of. */
export function percentText(part: number, whole: number, locale: string): string {
  if (whole === 0) return "–";
  return new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 1 }).format(shownPercent(part, whole) / 100);
}
