// Reads a part of a configuration file by its schema, also where it has faults: what is wrong is left out or replaced, so that the
// values of everything else can be checked in the same round. What comes of a file with faults is never applied.

import { randomBytes } from "node:crypto";
import type { z } from "zod";
import { shortId } from "../kernel/ids.ts";
import { maxFaults, type FileFault, type Path } from "./document.ts";
import { faultsOf, findIssues, isContainer, meantChoice, valueAt, type Issue } from "./issues.ts";
import type { Planning } from "./planning.ts";

const unique = () => randomBytes(32).toString("hex");

/** Stand for the values of required fields that are missing or wrong: the faults of such a field are known already. */
const placeholders: Readonly<Record<string, () => unknown>> = {
  version: () => "1",
  hosts: () => [`${shortId()}.invalid`],
  name: () => "placeholder",
  key: unique,
  hash: unique,
  email: () => `${shortId()}@placeholder.invalid`,
  role: () => "viewer",
  url: () => `https://placeholder.invalid/${shortId()}`,
  to: () => "folder",
};

/** Each round removes something; a file of real faults needs three or four. */
const maxRounds = 20;

type ReadPart<T> = {
  /** Null where nothing of it could be read. */
  data: T | null;
  faults: FileFault[];
  /** The fields with faults, and those that a misspelled one is: what else is said of them follows from the repair. */
  settled: readonly Path[];
  /** Entries of lists are left out: returns the path in the file of a path in `data`. */
  pathInFile: (path: Path) => Path;
};

/** Repairs the value itself. A part with very many faults is read up to `maxFaults`. */
export async function readPart<T>(schema: z.ZodType<T>, value: unknown, rest: Planning["rest"]): Promise<ReadPart<T>> {
  let found = await findIssues(schema, value, rest);
  if ("data" in found) return { data: found.data, faults: [], settled: [], pathInFile: (path) => path };
  const repaired: Repaired = { root: value, replaced: new Map() };
  const leftOut = new Map<unknown, number[]>();
  const faults: FileFault[] = [];
  const settled = new Map<string, Path>();
  for (let round = 0; round < maxRounds && "issues" in found; round += 1) {
    // Misspelled fields first: they are not missing.
    const isUnknown = ({ issue }: Issue) => issue.code === "unrecognized_keys";
    const issues = found.issues.toSorted((one, other) => Number(isUnknown(other)) - Number(isUnknown(one)));
    for (const issue of issues) {
      if (faults.length >= maxFaults) break;
      for (const fault of faultsOf(issue, valueAt(repaired.root, issue.path))) add(fault);
    }
    if (faults.length >= maxFaults) break;
    const surplus = new Map<unknown[], Set<number>>();
    for (const issue of issues) repair(repaired, issue, surplus);
    for (const [list, indexes] of surplus) leaveOut(list, indexes);
    await rest();
    found = await findIssues(schema, repaired.root, rest);
  }
  return { data: "data" in found ? found.data : null, faults, settled: [...settled.values()], pathInFile };

  function add({ path, message, meant }: ReturnType<typeof faultsOf>[number]): void {
    const own = pathInFile(path);
    if (!settled.has(JSON.stringify(own))) faults.push({ path: own, message });
    for (const one of meant ? [own, pathInFile(meant)] : [own]) settled.set(JSON.stringify(one), one);
  }

  function pathInFile(path: Path): Path {
    let node: unknown = repaired.root;
    return path.map((part) => {
      const index = typeof part === "number" ? (leftOut.get(node)?.[part] ?? part) : part;
      node = isContainer(node) ? Reflect.get(node, part) : undefined;
      return index;
    });
  }

  function leaveOut(list: unknown[], indexes: ReadonlySet<number>): void {
    const isKept = (_: unknown, i: number) => !indexes.has(i);
    leftOut.set(list, (leftOut.get(list) ?? list.map((_, i) => i)).filter(isKept));
    list.splice(0, list.length, ...list.filter(isKept));
  }
}

/** `replaced` has the names of the fields with a placeholder, by the object that they are in. */
type Repaired = { root: unknown; replaced: Map<unknown, Set<string | number>> };

/** Changes as little as makes the value valid in this place. Entries of lists are collected in `surplus`. */
function repair(repaired: Repaired, { issue, path }: Issue, surplus: Map<unknown[], Set<number>>): void {
  const { root, replaced } = repaired;
  if (issue.code === "unrecognized_keys") {
    const node = valueAt(root, path);
    for (const key of isContainer(node) ? issue.keys : []) Reflect.deleteProperty(node as object, key);
    return;
  }
  const parentPath = path.slice(0, -1);
  const parent = valueAt(root, parentPath);
  const name = path.at(-1);
  if (!isContainer(parent) || name === undefined) return;
  const meant = meantChoice(issue, Reflect.get(parent, name));
  const placeholder = Object.hasOwn(placeholders, name) ? placeholders[name] : undefined;
  const known = replaced.get(parent) ?? new Set();
  if (meant !== null) Reflect.set(parent, name, meant);
  else if (Array.isArray(parent)) surplus.set(parent, (surplus.get(parent) ?? new Set()).add(Number(name)));
  else if (placeholder && !known.has(name)) {
    replaced.set(parent, known.add(name));
    Reflect.set(parent, name, placeholder());
  } else if (Object.hasOwn(parent, name)) Reflect.deleteProperty(parent, name);
  else repair(repaired, { issue: { ...issue, code: "custom" }, path: parentPath, known: [] }, surplus);
}
