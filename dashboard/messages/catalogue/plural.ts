import { countText } from "../../common/format/numbers.ts";
import { language } from "./language.ts";

type Forms = Partial<Record<Intl.LDMLPluralRule, string>> & { other: string };

const rules = new Map<string, Intl.PluralRules>();

/** Chooses the form for a count and puts the count in place of "#": `plural(2, { one: "# key", other: "# keys" })`. */
export function plural(count: number, forms: Forms): string {
  const name = language();
  const rule = rules.get(name) ?? new Intl.PluralRules(name);
  rules.set(name, rule);
  return (forms[rule.select(count)] ?? forms.other).replaceAll("#", () => countText(count));
}

/** Joins words as the language does: "a, b and c". */
export const listText = (words: readonly string[], type: "conjunction" | "disjunction" = "conjunction") =>
  new Intl.ListFormat(language(), { type }).format(words);
