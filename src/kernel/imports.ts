// Imported files: what their rows can be, the fields that every row needs, and the counts of their outcomes.

export const uploadKinds = ["conversions", "identities"] as const;
export type UploadKind = (typeof uploadKinds)[number];

/** person: the email or its hash. content: a click id, a UTM field, a browser id or consent. */
export type MissingField = "person" | "event" | "eventTime" | "seenAt" | "content";

/** Returns what a file lacks. `present` are its fields, and those with a value for every row. */
export function missingFields(kind: UploadKind, present: readonly string[]): MissingField[] {
  const has = (name: string) => present.includes(name);
  const missing: MissingField[] = has("email") || has("hashed_email") ? [] : ["person"];
  if (kind === "conversions") return [...missing, ...(["event", "eventTime"] as const).filter((name) => !has(name))];
  // Consent needs no visit; a visit needs its time.
  const hasIds = present.some((field) => !["email", "hashed_email", "seenAt", "consent"].includes(field));
  if (hasIds) return has("seenAt") ? missing : [...missing, "seenAt"];
  return has("consent") ? missing : [...missing, "content"];
}

export type ImportTally = {
  rows: number;
  imported: number;
  duplicates: number;
  filtered: number;
  refused: number;
  /** By reason: the count, and the lines of the first rows. */
  reasons: Record<string, { count: number; lines: number[] }>;
  /** By platform and by state at planning. */
  deliveries: Record<string, Record<string, number>>;
  /** By platform and reason. */
  skipped: Record<string, Record<string, number>>;
};

export const newImportTally = (): ImportTally => ({
  rows: 0,
  imported: 0,
  duplicates: 0,
  filtered: 0,
  refused: 0,
  reasons: {},
  deliveries: {},
  skipped: {},
});
