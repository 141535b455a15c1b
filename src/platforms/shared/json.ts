// Reads JSON of third parties, in which anything may be missing or of another type: nothing here throws.

/** Returns undefined for a text that is not JSON. */
export function parseJson(text: string): unknown {
  // Many responses are empty, and an exception costs more than everything else that is done with one.
  if (text === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns the value at a path, as in `at(body, "error", "code")`, or undefined. Reads only own properties. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  let here = value;
  for (const key of path) {
    if (typeof here !== "object" || here === null || !Object.hasOwn(here, key)) return undefined;
    here = (here as Record<string | number, unknown>)[key];
  }
  return here;
}

/** Returns the text or number at a path as text; empty where there is neither. */
export function textAt(value: unknown, ...path: readonly (string | number)[]): string {
  const found = at(value, ...path);
  return typeof found === "string" ? found : typeof found === "number" ? String(found) : "";
}

export function listAt(value: unknown, ...path: readonly (string | number)[]): unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}

/** Turns a list in a response into a picker's choices; elements without an id are left out. */
export function choicesOf(list: readonly unknown[], id = "id", name = "name"): { value: string; label: string }[] {
  return list.flatMap((one) => {
    const value = textAt(one, id);
    return value ? [{ value, label: textAt(one, name) || value }] : [];
  });
}
