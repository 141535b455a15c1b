// Ranks the parts of the documentation for a question: for the search of the site, which gets this file without its types, and for
// assistants.

/** A part of a page, between two headings. Short keys keep the index small: `s`: section, `t`: page, `h`: heading, `u`: address, `x`: text. */
export type Part = { s: string; t: string; h: string; u: string; x: string };

/** How much a field counts. */
const weights = { t: 10, h: 9, x: 2.5 } as const;

/** Pages about use come before those that explain, lists of options after both, and decisions last. */
const sections: Readonly<Record<string, number>> = { Explanation: 0.95, Commands: 0.85, Decisions: 0.3 };

const folded = (text: string) => text.toLowerCase().normalize("NFKD").replaceAll(/\p{M}/gu, "");

/** Words of a question in the singular: a text may have the plural. */
const wordsOf = (question: string) => {
  const words = folded(question).match(/[\p{L}\p{N}_.-]*[\p{L}\p{N}]/gu) ?? [];
  return [...new Set(words.map((word) => word.replace(/(?<=\p{L}{2}[^s])s$/u, "")))].slice(0, 20);
};

const isInWord = (sign: string | undefined) => sign !== undefined && /[\p{L}\p{N}]/u.test(sign);

/** From 0 to 1: the whole text, words of it, the beginning of a word, or letters within one. */
function likeness(text: string, wanted: string): number {
  if (text === wanted) return 1;
  let best = 0;
  for (let at = text.indexOf(wanted); at >= 0 && best < 0.8; at = text.indexOf(wanted, at + 1)) {
    const begins = !isInWord(text[at - 1]);
    const ends = !isInWord(text[at + wanted.length]) || text.slice(at + wanted.length).match(/^s(?![\p{L}\p{N}])/u) !== null;
    best = Math.max(best, begins ? (ends ? 0.8 : 0.5) : 0.1);
  }
  return best;
}

/** Finds the parts that have all words of the question, or, where none has, as many as possible. The exact words in one place count most. */
export function rankParts<One extends Part>(parts: readonly One[], question: string, max: number): One[] {
  const words = wordsOf(question);
  const phrase = words.join(" ");
  const found = parts.flatMap((part) => {
    const fields = [
      [folded(part.t), weights.t],
      [folded(part.h), weights.h],
      [folded(part.x), weights.x],
    ] as const;
    const best = (wanted: string) => Math.max(...fields.map(([text, weight]) => weight * likeness(text, wanted)));
    const points = words.map(best);
    const hits = points.filter((one) => one > 0).length;
    if (hits === 0) return [];
    const sum = 2 * best(phrase) + points.reduce((all, one) => all + one, 0) / words.length + (part.h === "" ? 0.5 : 0);
    return [{ part, hits, points: sum * (sections[part.s] ?? 1) }];
  });
  const maxHits = Math.max(...found.map(({ hits }) => hits));
  return found
    .filter(({ hits }) => hits === maxHits)
    .toSorted((one, other) => other.points - one.points)
    .slice(0, max)
    .map(({ part }) => part);
}
