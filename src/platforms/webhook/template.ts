// JSON templates: `{{field}}` and `{{clickIds.gclid}}` inside the strings of a JSON document. Because the template
// is parsed before it is filled, no value can break out of its place.

const placeholder = /\{\{\s*([\w.]+)\s*\}\}/g;

const known = new Set([
  "platformEventId",
  "event",
  "eventTime",
  "value",
  "currency",
  "orderId",
  "emailSha256",
  "phoneSha256",
  "clickIds",
  "utm",
  "consent",
]);

/** What is wrong with a template, in one sentence; null when nothing is. */
export function templateFault(template: string): string | null {
  const parsed = parsedOnce(template);
  if (parsed === undefined) return "must be valid JSON";
  for (const [, path] of template.matchAll(placeholder)) {
    const field = (path as string).split(".")[0] as string;
    if (!known.has(field))
      return `names {{${path}}}, which a conversion does not have (known: ${[...known].join(", ")})`;
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

/** The value at a dotted path of own properties; undefined where there is none. */
export function valueAt(root: unknown, path: string): unknown {
  let value = root;
  for (const key of path.split(".")) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

// The same few templates are used for every conversion; parsing them each time would cost more than filling.
const parsed = new Map<string, unknown>();

function parsedOnce(template: string): unknown {
  if (!parsed.has(template)) {
    if (parsed.size >= 1000) parsed.clear();
    parsed.set(template, parseOrUndefined(template));
  }
  return parsed.get(template);
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
