// Shows a plan, as text or to programs. In the text, + is added, ~ is changed, - is removed. Secrets are never shown.

import { countOf } from "../kernel/text.ts";
import type { Change, ChangedLine, Plan } from "./planning.ts";

const signs: Record<Change["kind"], string> = { add: "+", change: "~", remove: "-" };

export function diffText({ changes }: Pick<Plan, "changes">): string {
  return changes
    .map(({ kind, what, lines = [], loss = null }) => {
      const width = Math.max(0, ...lines.map(({ name }) => name.length));
      const shown = lines.map((line) => `    ${lineText(line, width)}`);
      const warning = loss === null ? [] : [`    ! ${loss}`];
      return [`${signs[kind]} ${what}`, ...shown, ...warning].join("\n");
    })
    .join("\n");
}

function lineText({ name, before, after }: ChangedLine, width: number): string {
  const start = `${name.padEnd(width)}  `;
  if (before === null) return `+ ${start}${quote(after ?? "")}`;
  if (after === null) return `- ${start}${quote(before)}`;
  return before === after ? `~ ${start}${quote(after)} → changed` : `~ ${start}${quote(before)} → ${quote(after)}`;
}

/** Texts of a file must not control the terminal. */
const quote = (text: string) => (text === "" ? '""' : text.replace(/[\p{Cc}\p{Cf}]/gu, "·"));

/** `2 to add, 1 to change, 0 to remove.` */
export function summaryText({ changes }: Pick<Plan, "changes">): string {
  const count = (kind: Change["kind"]) => changes.filter((one) => one.kind === kind).length;
  return `${count("add")} to add, ${count("change")} to change, ${count("remove")} to remove.`;
}

/** Says what is deleted for good; empty where nothing is. */
export const lossText = ({ changes }: Pick<Plan, "changes">) => changes.flatMap(({ loss }) => loss ?? []).join(" ");

/** The plan as programs get it. */
export const describePlan = ({ changes, unlisted, notes }: Plan) => ({
  changes: changes.map(({ kind, what, lines = [], loss = null }) => ({ kind, what, lines, loss })),
  unlisted,
  notes,
});

export function unlistedText({ unlisted }: Pick<Plan, "unlisted">): string {
  if (unlisted.length === 0) return "";
  const lines = unlisted.map((what) => `  ${what}`);
  return `Not in the file, and kept (${countOf(unlisted.length, "thing")}; --prune removes them):\n${lines.join("\n")}`;
}
