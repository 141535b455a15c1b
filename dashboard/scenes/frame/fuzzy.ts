// Finds names by what somebody types of them.

const fold = (text: string) => text.toLowerCase().normalize("NFKD").replaceAll(/\p{M}/gu, "");

/** Points for one word: the start of a word is better than its middle, and letters in order are better than nothing. */
function pointsOf(name: string, word: string): number {
  const at = name.indexOf(word);
  if (at === 0) return 12;
  if (at > 0) return /[^\p{L}\p{N}]/u.test(name[at - 1] ?? "") ? 10 : 5;
  if (word.length < 3) return 0;
  let place = -1;
  for (const letter of word) {
    place = name.indexOf(letter, place + 1);
    if (place < 0) return 0;
  }
  // Letters that are spread over the whole name say nothing.
  return place - name.indexOf(word[0] as string) < 2 * word.length ? 1 : 0;
}

/** Returns how well the name matches; 0 if one of the typed words is not in it. A name that is nothing else is the best. */
export function matchPoints(name: string, typed: string): number {
  const words = fold(typed).split(/\s+/).filter(Boolean);
  const folded = fold(name);
  const points = words.map((word) => pointsOf(folded, word));
  if (points.includes(0)) return 0;
  const sum = points.reduce((all, one) => all + one, 0);
  return sum + (folded === words.join(" ") ? 20 : 0) + 1 / (1 + folded.length);
}
