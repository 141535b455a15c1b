// Compares a configuration file with the stored configuration. The result is a list of changes, none of which is made yet; all
// faults of the file are collected first, so that a bad file changes nothing.

import type { z } from "zod";
import { threadShare } from "../kernel/concurrency.ts";
import { Denied, Refusal, type PlacedFault } from "../kernel/refusal.ts";
import { BadFile, fieldText, maxFaults, type FileFault, type Path } from "./document.ts";
import type { Change, ConfigurationContext, Plan, Planning } from "./planning.ts";
import { planMembers } from "./planMembers.ts";
import { planSites } from "./planSite.ts";
import { readDocument } from "./readDocument.ts";
import { createResolver, type Lookup } from "./references.ts";
import { readPart } from "./repair.ts";
import { configurationFile, siteEntry, type ConfigurationFile, type SiteEntry } from "./schema.ts";

export type FileText = { name: string; text: string; lookup: Lookup };

type ReadFile = {
  /** Without what is wrong with it. Null where it could not be read, or was not read to its end because of its many faults. */
  content: ConfigurationFile | null;
  faults: readonly FileFault[];
  isReference: Planning["isReference"];
  /** True for a fault that only follows from what was left out or replaced. */
  isConsequence: (fault: FileFault) => boolean;
  pathInFile: (path: Path) => Path;
  /** Creates the refusal of a file with these faults. */
  refusalOf: (faults: readonly FileFault[]) => Promise<BadFile>;
};

/** Reads a file and finds what is wrong with its syntax, references and fields. */
export async function readFile(file: FileText): Promise<ReadFile> {
  const document = await readDocument(file.name, file.text);
  const { resolve, faults, isReference } = createResolver(file.lookup);
  const rest = threadShare.begin("configuration");
  const read = async <T>(schema: z.ZodType<T>, json: string, path: Path) => {
    await rest();
    const value = JSON.parse(json) as unknown;
    await rest();
    const resolved = resolve(value, path);
    await rest();
    return readPart(schema, resolved, rest);
  };
  const main = await read(configurationFile, document.others, []);
  const settled: Path[] = [...main.settled];
  const wrong = [...main.faults];
  const entries: { entry: SiteEntry; path: Path; pathInFile: (path: Path) => Path }[] = [];
  const areEnough = () => faults.length + wrong.length >= maxFaults;
  // There may be thousands.
  for (const [i, site] of document.sites.entries()) {
    if (areEnough()) break;
    const path: Path = ["sites", i];
    const part = await read(siteEntry, site, path);
    wrong.push(...part.faults.map((fault) => ({ ...fault, path: [...path, ...fault.path] })));
    settled.push(...part.settled.map((one) => [...path, ...one]));
    if (part.data) entries.push({ entry: part.data, path, pathInFile: part.pathInFile });
  }
  // A reference without a value has no form to check.
  const unresolved = new Set(faults.map(({ path }) => fieldText(path)));
  settled.push(...faults.map(({ path }) => path));
  const { data } = main;
  const isSettled = createCover(settled);
  const pathInFile = (path: Path): Path => {
    const entry = path[0] === "sites" ? entries[Number(path[1])] : undefined;
    return entry ? [...entry.path, ...entry.pathInFile(path.slice(2))] : main.pathInFile(path);
  };
  return {
    content: areEnough() ? null : data && (data.sites ? { ...data, sites: entries.map(({ entry }) => entry) } : data),
    faults: [...faults, ...wrong.filter(({ path }) => !unresolved.has(fieldText(path)))],
    isReference: (path) => isReference(pathInFile(path)),
    isConsequence: ({ path }) => isSettled(path),
    pathInFile,
    async refusalOf(found) {
      const placed: PlacedFault[] = [];
      for (const { path, message } of found.slice(0, maxFaults)) {
        await rest();
        placed.push({ ...document.placeOf(path), field: fieldText(path), message });
      }
      return new BadFile(
        file.name,
        placed.toSorted((one, other) => one.line - other.line || one.column - other.column),
      );
    },
  };
}

/**
 * True for a field that has a fault, is in one that has, or is a whole list or map with a fault in it: another fault of these
 * may follow from the first.
 */
function createCover(faulty: readonly Path[]): (path: Path) => boolean {
  const own = new Set(faulty.map(fieldText));
  const containers = new Set(faulty.flatMap((path) => path.map((_, i) => fieldText(path.slice(0, i)))));
  return (path) =>
    path.some((_, i) => own.has(fieldText(path.slice(0, i + 1)))) ||
    (typeof path.at(-1) === "string" && containers.has(fieldText(path)));
}

/** Refuses a file with all its faults at once: those of its form, and those of its values. */
export async function planFile(context: ConfigurationContext, file: FileText, { prune }: { prune: boolean }): Promise<Plan> {
  const { content, faults, isReference, isConsequence, pathInFile, refusalOf } = await readFile(file);
  if (content && faults.length === 0) {
    checkRights(context, content);
    const { plan, faults: found } = await compare(context, content, { prune, isReference });
    if (found.length > 0) throw await refusalOf(found);
    return plan;
  }
  // What is left of the file would remove what it names.
  const found = content ? await findValueFaults(context, content, isReference) : [];
  const others = await threadShare.map("configuration", found, ({ path, message }) => {
    const fault = { path: pathInFile(path), message };
    return isConsequence(fault) ? [] : [fault];
  });
  throw await refusalOf([...faults, ...others.flat()]);
}

async function findValueFaults(
  context: ConfigurationContext,
  content: ConfigurationFile,
  isReference: Planning["isReference"],
): Promise<readonly FileFault[]> {
  try {
    checkRights(context, content);
    return (await compare(context, content, { prune: false, isReference })).faults;
  } catch (error) {
    // The caller hears of it when the file is well formed.
    if (error instanceof Refusal) return [];
    throw error;
  }
}

async function compare(
  context: ConfigurationContext,
  content: ConfigurationFile,
  { prune, isReference }: Pick<Planning, "prune" | "isReference">,
): Promise<{ plan: Plan; faults: readonly FileFault[] }> {
  await context.directory.refresh();
  const rest = threadShare.begin("configuration");
  const planning: Planning = { context, prune, faults: [], unlisted: [], notes: [], isReference, rest };
  const sites = await planSites(planning, content);
  const members = await planMembers(planning, content);
  const { faults, unlisted, notes } = planning;
  const isRemoval = ({ kind }: Change) => kind === "remove";
  // Until everything else is there, nothing of a site may be missing that the file replaces.
  const changes = [...sites.filter((one) => !isRemoval(one)), ...members, ...sites.filter(isRemoval)];
  return { plan: { changes, unlisted, notes }, faults };
}

/** Refuses the whole file: a part of it would not be what its author wants. */
function checkRights({ rights }: ConfigurationContext, { sites = [], members }: ConfigurationFile): void {
  const deny = (field: string, message: string) => new Denied("forbidden", message, undefined, field);
  if (members && !rights.members) throw deny("members", "Only an owner of the whole installation can apply a file with members.");
  const withKeys = sites.findIndex(({ keys }) => keys !== undefined);
  if (withKeys >= 0 && !rights.keys)
    throw deny(fieldText(["sites", withKeys, "keys"]), "This API key needs the scope keys for a file with keys.");
}
