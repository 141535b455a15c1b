// JSON templates: `{{field}}` and `{{clickIds.gclid}}` inside the strings of a JSON document. Because the template
// is parsed before it is filled, no value can break out of its place.

import { conversionFieldNames } from "../shared/conversionJson.ts";
import { at, parseJson } from "../shared/json.ts";

const placeholder = /\{\{\s*([\w.]+)\s*\}\}/g;

/** Says in one sentence what is wrong with a template; null when it is fine. */
export function templateFault(template: string): string | null {
  const parsed = parsedOnce(template);
  if (parsed === undefined) return "must be valid JSON";
  for (const [, path] of template.matchAll(placeholder)) {
    const field = (path as string).split(".")[0] as string;
    if (!conversionFieldNames.includes(field))
      return `names {{${path}}}, which a conversion does not have (known: ${conversionFieldNames.join(", ")})`;
  }
  return null;
}

export function fillTemplate(template: string, fields: Record<string, unknown>): string {
  return JSON.stringify(fill(parsedOnce(template), fields));
}

function fill(node: unknown, fields: Record<string, unknown>): unknown {
  if (typeof node === "string") return fillText(node, fields);
  if (Array.isArray(node)) return node.map((inner) => fill(inner, fields));
  if (typeof node === "object" && node !== null) {
    return Object.fromEntries(Object.entries(node).map(([key, inner]) => [key, fill(inner, fields)]));
  }
  return node;
}

function fillText(text: string, fields: Record<string, unknown>): unknown {
  const alone = /^\{\{\s*([\w.]+)\s*\}\}$/.exec(text);
  // A field that is the whole string keeps its type: a number stays a number, an absent one becomes null.
  if (alone) return valueAt(fields, alone[1] as string) ?? null;
  return text.replace(placeholder, (_all, path: string) => {
    const value = valueAt(fields, path) ?? "";
    return typeof value === "string" ? value : JSON.stringify(value);
  });
}

const valueAt = (fields: Record<string, unknown>, path: string) => at(fields, ...path.split("."));

// Connections have few templates, and parsing one for every conversion would cost more than filling it.
const parsed = new Map<string, unknown>();

function parsedOnce(template: string): unknown {
  if (!parsed.has(template)) {
    if (parsed.size >= 1000) parsed.clear();
    parsed.set(template, parseJson(template));
  }
  return parsed.get(template);
}
