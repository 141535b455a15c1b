// Compares a configuration file with the stored configuration. The result is a list of changes, none of which is made yet; all
// faults of the file are collected first, so that a bad file changes nothing.

import type { z } from "zod";
import { threadShare } from "../kernel/concurrency.ts";
import { Denied } from "../kernel/refusal.ts";
import { BadFile, fieldText, type FileFault, type Path } from "./document.ts";
import type { Change, ConfigurationContext, Plan, Planning } from "./planning.ts";
import { planMembers } from "./planMembers.ts";
import { planSites } from "./planSite.ts";
import { readDocument } from "./readDocument.ts";
import { createResolver, type Lookup } from "./references.ts";
import { configurationFile, siteEntry, type ConfigurationFile, type SiteEntry } from "./schema.ts";

export type FileText = { name: string; text: string; lookup: Lookup };

type CheckedFile = {
  content: ConfigurationFile;
  isReference: Planning["isReference"];
  /** Creates the refusal of a file with these faults. */
  refusalOf: (faults: readonly FileFault[]) => BadFile;
};

/** Checks what can be checked without an installation: syntax, references and fields. */
export async function checkFile(file: FileText): Promise<CheckedFile> {
  const document = await readDocument(file.name, file.text);
  const { resolve, faults, isReference } = createResolver(file.lookup);
  const refusalOf = (found: readonly FileFault[]) => {
    const placed = found.map(({ path, message }) => ({
      ...document.placeOf(path),
      field: fieldText(path),
      message,
    }));
    return new BadFile(
      file.name,
      placed.toSorted((one, other) => one.line - other.line || one.column - other.column),
    );
  };
  const rest = threadShare.begin("configuration");
  const { sites, others } = splitSites(document.value);
  const result = configurationFile.safeParse(resolve(others, []));
  const wrong = (result.error?.issues ?? []).flatMap((issue) => faultsOf(issue, []));
  const entries: SiteEntry[] = [];
  // There may be thousands.
  for (const [i, site] of sites.entries()) {
    await rest();
    const path: Path = ["sites", i];
    const { data, error } = siteEntry.safeParse(resolve(site, path));
    if (data) entries.push(data);
    else wrong.push(...error.issues.flatMap((issue) => faultsOf(issue, path)));
  }
  // A reference without a value has no form to check.
  const unresolved = new Set(faults.map(({ path }) => fieldText(path)));
  faults.push(...wrong.filter(({ path }) => !unresolved.has(fieldText(path))));
  if (!result.success || faults.length > 0) throw refusalOf(faults);
  const content = result.data.sites ? { ...result.data, sites: entries } : result.data;
  return { content, isReference, refusalOf };
}

/** Takes the sites out of a file: `others` is the file with an empty list in their place. */
function splitSites(value: unknown): { sites: readonly unknown[]; others: unknown } {
  if (typeof value !== "object" || value === null || !("sites" in value) || !Array.isArray(value.sites))
    return { sites: [], others: value };
  return { sites: value.sites, others: { ...value, sites: [] } };
}

export async function planFile(context: ConfigurationContext, file: FileText, { prune }: { prune: boolean }): Promise<Plan> {
  const { content, isReference, refusalOf } = await checkFile(file);
  checkRights(context, content);
  await context.directory.refresh();
  const faults: FileFault[] = [];
  const rest = threadShare.begin("configuration");
  const planning: Planning = { context, prune, faults, unlisted: [], notes: [], isReference, rest };
  const sites = await planSites(planning, content);
  const members = await planMembers(planning, content);
  if (faults.length > 0) throw refusalOf(faults);
  const { unlisted, notes } = planning;
  const isRemoval = ({ kind }: Change) => kind === "remove";
  // Until everything else is there, nothing of a site may be missing that the file replaces.
  const changes = [...sites.filter((one) => !isRemoval(one)), ...members, ...sites.filter(isRemoval)];
  return { changes, unlisted, notes };
}

/** Refuses the whole file: a part of it would not be what its author wants. */
function checkRights({ rights }: ConfigurationContext, { sites = [], members }: ConfigurationFile): void {
  const deny = (field: string, message: string) => new Denied("forbidden", message, undefined, field);
  if (members && !rights.members) throw deny("members", "Only an owner of the whole installation can apply a file with members.");
  const withKeys = sites.findIndex(({ keys }) => keys !== undefined);
  if (withKeys >= 0 && !rights.keys)
    throw deny(fieldText(["sites", withKeys, "keys"]), "This API key needs the scope keys for a file with keys.");
}

/** `at` is the place of what was checked. */
function faultsOf(issue: z.core.$ZodIssue, at: Path): FileFault[] {
  const path = [...at, ...issue.path.map((part) => (typeof part === "symbol" ? String(part) : part))];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => ({ path: [...path, key], message: "is not a known field." }));
  const message = issue.message.replace(/^Invalid (?:input|option): /, "");
  if (message.endsWith("received undefined")) return [{ path, message: "is required." }];
  const expected = issue.code === "invalid_type" ? forms[issue.expected] : undefined;
  return [{ path, message: `${expected ?? message}.` }];
}

/** Names the forms of values as people write them. A field without a value is an empty text. */
const forms: Readonly<Record<string, string>> = {
  array: "must be a list; write [] for an empty one",
  object: "must have fields of its own; write {} for none",
  record: "must have fields of its own; write {} for none",
  string: "must be a single text",
};
