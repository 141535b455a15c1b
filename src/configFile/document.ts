// Reads the text of a configuration file, YAML or JSON, and finds the line of every field.

import { isMap, isScalar, isSeq, LineCounter, parseDocument, type Node } from "yaml";
import { Refusal, type PlacedFault } from "../kernel/refusal.ts";

/** The way to a field: `["sites", 0, "hosts"]`. */
export type Path = readonly (string | number)[];

type Place = { line: number; column: number };
export type FileFault = { path: Path; message: string };

export type FileDocument = {
  /** Maps, lists and texts: every scalar is the text as it is written. */
  value: unknown;
  /** The place of a field, or of the nearest one that contains it. */
  placeOf(path: Path): Place;
};

const maxFileBytes = 2 * 1024 * 1024;
/** More would be no list that people work through; and no program reads more than `maxFaults`. */
const maxFaultsShown = 100;
const maxFaults = 200;

/** A file with faults. Its message has a line for each. */
export class BadFile extends Refusal {
  override readonly faults: readonly PlacedFault[];

  constructor(fileName: string, faults: readonly PlacedFault[]) {
    const lines = faults
      .slice(0, maxFaultsShown)
      .map(({ line, column, field, message }) =>
        [`${fileName}:${line}:${column}`, ...(field ? [field] : []), message].join(": "),
      );
    const more = faults.length - lines.length;
    if (more > 0) lines.push(`… and ${more} more.`);
    super(faults[0]?.field ?? "", `${lines.join("\n")}\nNothing was changed.`);
    this.faults = faults.slice(0, maxFaults);
  }
}

/** Writes `["sites", 0, "hosts"]` as `sites[0].hosts`. */
export const fieldText = (path: Path) =>
  path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");

/**
 * What the parser finds, as JSON: a thread that gets thousands of objects from another makes all of them at once. `places` is a list of
 * fields with their lines and columns.
 */
export type ParsedFile = { value: string; places: string };

/** Far deeper than a configuration is. A parser that calls itself for each level would overflow its stack. */
const maxDepth = 50;

/** Parses a file in time that grows with its length alone. */
export function parseFile(fileName: string, text: string): ParsedFile {
  if (Buffer.byteLength(text) > maxFileBytes)
    throw new Refusal("file", `${fileName} is larger than ${maxFileBytes / 1024 / 1024} MiB.`);
  const refusalAt = (line: number, message: string) => new BadFile(fileName, [{ line, column: 1, field: "", message }]);
  const deepLine = findDeepLine(text);
  if (deepLine) throw refusalAt(deepLine, `More than ${maxDepth} levels are nested here.`);
  const lineCounter = new LineCounter();
  // With `failsafe` every scalar stays text: a pixel id of 17 digits is not rounded, and `on` is no boolean. The parser would
  // compare every key of a map with every other one.
  const document = parseDocument(text, { lineCounter, schema: "failsafe", prettyErrors: false, uniqueKeys: false });
  const placeAt = (offset: number): Place => {
    const { line, col } = lineCounter.linePos(offset);
    return { line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const faults = [...document.errors, ...document.warnings].map(({ message, pos }) => ({
    ...placeAt(pos[0]),
    field: "",
    message: message.endsWith(".") ? message : `${message}.`,
  }));
  const places: [field: string, Place][] = [];
  for (const { path, offset, isRepeated } of fieldsOf(document.contents)) {
    if (isRepeated) faults.push({ ...placeAt(offset), field: "", message: "Map keys must be unique." });
    places.push([fieldText(path), placeAt(offset)]);
  }
  if (faults.length > 0) throw new BadFile(fileName, faults);
  if (!document.contents) throw refusalAt(1, "The file is empty.");
  try {
    return { value: JSON.stringify(document.toJS({ maxAliasCount: 100 })), places: JSON.stringify(places) };
  } catch {
    // A file of a few lines whose aliases repeat each other would fill the memory.
    throw refusalAt(1, "The file has too many aliases (*name).");
  }
}

/** Returns the first line that is nested too deeply, by its indentation or by its brackets; 0 where there is none. */
function findDeepLine(text: string): number {
  let depth = 0;
  const lines = text.split("\n");
  for (const [i, line] of lines.entries()) {
    // A level may be a list in a list, "- - - a".
    if ((/^[ -]*/.exec(line)?.[0].length ?? 0) > 10 * maxDepth) return i + 1;
    for (const sign of line) {
      if (sign === "{" || sign === "[") depth += 1;
      else if (sign === "}" || sign === "]") depth = Math.max(0, depth - 1);
      if (depth > maxDepth) return i + 1;
    }
  }
  return 0;
}

type Field = { path: Path; offset: number; isRepeated: boolean };

/** All fields with their places: the name of a field where it has one, so that people see the line that they wrote. */
function* fieldsOf(node: Node | null, path: Path = [], offset = node?.range?.[0] ?? 0, isRepeated = false): Generator<Field> {
  yield { path, offset, isRepeated };
  if (isMap(node)) {
    const names = new Set<string>();
    for (const { key, value } of node.items) {
      if (!isScalar(key)) continue;
      const name = String(key.value);
      yield* fieldsOf(value as Node | null, [...path, name], key.range?.[0] ?? offset, names.has(name));
      names.add(name);
    }
  } else if (isSeq(node)) {
    for (const [i, item] of (node.items as (Node | null)[]).entries())
      yield* fieldsOf(item, [...path, i], item?.range?.[0] ?? offset);
  }
}

export function toDocument(parsed: ParsedFile): FileDocument {
  // Only a file with faults needs it.
  let places: Map<string, Place> | undefined;
  return {
    value: JSON.parse(parsed.value) as unknown,
    placeOf(path) {
      places ??= new Map(JSON.parse(parsed.places) as [string, Place][]);
      for (let length = path.length; length > 0; length -= 1) {
        const place = places.get(fieldText(path.slice(0, length)));
        if (place) return place;
      }
      return places.get("") ?? { line: 1, column: 1 };
    },
  };
}
