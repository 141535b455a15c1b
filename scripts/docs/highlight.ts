// Highlights code when the site is built: comments, strings, numbers and keywords, found by patterns instead of a parser.

import { escapeHtml } from "../../src/kernel/text.ts";

const text = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`;
const number = String.raw`\b\d[\d_]*(?:\.\d+)?\b`;
const slashes = String.raw`//[^\n]*|/\*[^]*?\*/`;
const hash = String.raw`(?<=^|\s)#[^\n]*`;
const words = (list: string) => `\\b(?:${list.replaceAll(" ", "|")})\\b`;

const script = words(
  "import from export const let function async await return if else for of while new throw try catch finally null true false typeof class this default",
);
const php = words(
  "function return if else foreach for as new throw try catch null true false array string int void class public fn defined define echo",
);
const python = words("import from def return if elif else for in with as try except raise None True False and or not pass");

type Rules = { comment?: string; text?: string; word?: string; number?: string };
const javascript: Rules = {
  comment: slashes,
  text: `${text}|\`(?:[^\`\\\\]|\\\\.)*\``,
  word: script,
  number,
};
const rules: Readonly<Record<string, Rules>> = {
  sh: {
    comment: hash,
    text,
    word: String.raw`(?<=^|[|&;]\s*|\n)(?:npx cleancast|curl|node|python3|php|npm|docker|sudo|systemctl|export)\b`,
  },
  js: javascript,
  ts: javascript,
  tsx: javascript,
  json: { text, number, word: words("true false null") },
  python: { comment: hash, text: `"""[^]*?"""|${text}`, word: python, number },
  php: { comment: `${slashes}|${hash}`, text, word: php, number },
  html: { comment: "<!--[^]*?-->", text },
  yaml: { comment: hash, text, number },
  ini: { comment: String.raw`(?<=^|\n)[#;][^\n]*` },
  nginx: { comment: hash, text },
  http: { word: String.raw`^(?:GET|POST|PUT|PATCH|DELETE)\b` },
};

export function highlight(code: string, language: string): string {
  const known = rules[language] ?? rules[{ bash: "sh", console: "sh", jsonc: "json", yml: "yaml" }[language] ?? ""];
  if (!known) return escapeHtml(code);
  const kinds = Object.entries(known) as [keyof Rules, string][];
  const pattern = new RegExp(kinds.map(([kind, source]) => `(?<${kind}>${source})`).join("|"), "g");
  let html = "";
  let end = 0;
  for (const match of code.matchAll(pattern)) {
    const kind = kinds.find(([name]) => match.groups?.[name] !== undefined)?.[0] ?? "text";
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${kind}">${escapeHtml(match[0])}</span>`;
    end = match.index + match[0].length;
  }
  return html + escapeHtml(code.slice(end));
}
