// Reads the text of a configuration file, YAML or JSON, and finds the line of every field.

import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument, type Node, type YAMLMap, type YAMLSeq } from "yaml";
import { Refusal, type PlacedFault } from "../kernel/refusal.ts";

/** The way to a field: `["sites", 0, "hosts"]`. */
export type Path = readonly (string | number)[];

type Place = { line: number; column: number };
export type FileFault = { path: Path; message: string };

export type FileDocument = {
  /** The file with an empty list in place of its sites, as JSON. Maps, lists and texts: every scalar is the text as it is written. */
  others: string;
  /** Each site as JSON, so that it can be read by itself. */
  sites: readonly string[];
  /** The place of a field, or of the nearest one that contains it. */
  placeOf(path: Path): Place;
};

const maxFileBytes = 2 * 1024 * 1024;
/** More would be no list that people work through; and no program reads more than `maxFaults`. */
const maxFaultsShown = 100;
export const maxFaults = 200;

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
    // With as many, a reader looks for no further ones.
    const count = faults.length < maxFaults ? String(more) : `at least ${more}`;
    if (more > 0) lines.push(`… and ${count} more.`);
    super(faults[0]?.field ?? "", `${lines.join("\n")}\nNothing was changed.`);
    this.faults = faults.slice(0, maxFaults);
  }
}

/** Writes `["sites", 0, "hosts"]` as `sites[0].hosts`. */
export const fieldText = (path: Path) =>
  path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");

/**
 * What the parser finds, as lines of JSON: the first is the file without its sites, and each further one is a site. A thread that gets
 * thousands of objects from another makes all of them at once; each of these is parsed when it is needed. `places` is for faults.
 */
export type ParsedFile = { values: string; places: string };

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
  if (faults.length > 0) throw new BadFile(fileName, faults);
  if (!document.contents) throw refusalAt(1, "The file is empty.");
  return writeParts(fileName, document.contents, placeAt);
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

/**
 * How large a file may be with its aliases written out. The values are its texts, lists, maps and the names of their fields. The thread
 * that accepts conversions reads a part, which is a site or the file without its sites, in turns of up to 50 ms.
 */
const maxPartValues = 20_000;
/** Each is checked several times where it is none that belongs there. */
const maxPartCollections = 5000;
const maxValues = 300_000;
const maxCharacters = 2 * maxFileBytes;
const maxFields = 1000;
const maxNameLength = 500;
const writtenOut = "with aliases (*name) written out: write long lists of settings as one text with commas, or divide the file";

type Field = { node: Node | null; path: Path; offset: number };
/** A field of a map, with its name and a colon, or an item of a list. */
type Entry = Field & { label: string };
/** A field as JSON, the places of what is in it, and its size with its aliases written out. */
type Written = { value: string; places: string; values: number; collections: number; depth: number };

/** Writes the parts of a file, and refuses one that its aliases make too large before they are written out. */
function writeParts(fileName: string, contents: Node, placeAt: (offset: number) => Place): ParsedFile {
  const faults: PlacedFault[] = [];
  const anchors = new Map<string, Written>();
  const sites: Written[] = [];
  const faultAt = ({ path, offset }: Field, message: string) => ({ ...placeAt(offset), field: fieldText(path), message });
  const placesText = ({ offset }: Field, inside = "") => {
    const { line, column } = placeAt(offset);
    return `[${line},${column}${inside}]`;
  };
  const leafOf = (text: string, field: Field) => ({
    value: JSON.stringify(text),
    places: placesText(field),
    values: 1,
    collections: 0,
    depth: 0,
  });

  const others = write({ node: contents, path: [], offset: contents.range?.[0] ?? 0 });
  if (faults.length > 0) throw new BadFile(fileName, faults);
  const textOf = (key: "value" | "places") => [others, ...sites].map((part) => part[key]).join("\n");
  return { values: textOf("value"), places: textOf("places") };

  function write(field: Field): Written {
    const { node, path } = field;
    const isSites = path.length === 1 && path[0] === "sites";
    if (isAlias(node)) {
      // The list of sites is written as parts.
      const known = isSites ? undefined : anchors.get(node.source);
      if (!known) faults.push(faultAt(field, `*${node.source} stands for no value before it.`));
      return { ...(known ?? leafOf("", field)), places: placesText(field) };
    }
    if (isSites && isSeq(node)) return writeSites(field, node);
    const isCollection = isMap(node) || isSeq(node);
    const written = isCollection ? writeCollection(field, node) : leafOf(isScalar(node) ? String(node.value) : "", field);
    if (node?.anchor) anchors.set(node.anchor, written);
    return written;
  }

  function writeSites(field: Field, list: YAMLSeq): Written {
    let values = 0;
    let characters = 0;
    for (const item of itemsOf(list, field)) {
      const site = write(item);
      values += site.values;
      characters += site.value.length;
      refuseAbove(field, values, maxValues, `values ${writtenOut}`);
      refuseAbove(field, characters, maxCharacters, `characters ${writtenOut}`);
      sites.push(site);
    }
    return { ...leafOf("", field), value: "[]" };
  }

  function writeCollection(field: Field, node: YAMLMap | YAMLSeq): Written {
    const { path } = field;
    const values: string[] = [];
    const places: string[] = [];
    const size = { values: 1, collections: 1, characters: 0, depth: 0 };
    const [open, close] = isMap(node) ? "{}" : "[]";
    for (const { label, ...entry } of isMap(node) ? fieldsOf(node, field) : itemsOf(node, field)) {
      const written = write(entry);
      size.values += written.values + (label ? 1 : 0);
      size.collections += written.collections;
      size.characters += label.length + written.value.length;
      size.depth = Math.max(size.depth, written.depth + 1);
      // In the whole file, people look for the field that makes it too large.
      const at = path.length === 0 ? entry : field;
      refuseAbove(field, size.values, maxPartValues, `values ${writtenOut}`, at);
      refuseAbove(field, size.collections, maxPartCollections, `lists and maps ${writtenOut}`, at);
      refuseAbove(field, size.characters, maxCharacters, `characters ${writtenOut}`, at);
      refuseAbove(field, size.depth, maxDepth, "levels", at);
      values.push(label + written.value);
      places.push(label + written.places);
    }
    return {
      value: `${open}${values.join(",")}${close}`,
      places: placesText(field, `,${open}${places.join(",")}${close}`),
      ...size,
    };
  }

  function* itemsOf({ items }: YAMLSeq, { path, offset }: Field): Generator<Entry> {
    for (const [i, node] of (items as (Node | null)[]).entries())
      yield { node, path: [...path, i], offset: node?.range?.[0] ?? offset, label: "" };
  }

  /** The place of a field is that of its name, so that people see the line that they wrote. */
  function* fieldsOf({ items }: YAMLMap, map: Field): Generator<Entry> {
    refuseAbove(map, items.length, maxFields, "fields");
    const names = new Set<string>();
    for (const { key, value } of items as { key: Node | null; value: Node | null }[]) {
      const place = { ...map, node: key, offset: key?.range?.[0] ?? map.offset };
      const { value: name } = write(place);
      const isText = name.startsWith('"');
      if (!isText) faults.push(faultAt(place, "The name of a field must be a text."));
      if (names.has(name)) faults.push({ ...faultAt(place, "Map keys must be unique."), field: "" });
      names.add(name);
      refuseAbove(place, name.length, maxNameLength, "characters in the name of a field");
      if (isText) yield { ...place, node: value, path: [...map.path, String(JSON.parse(name))], label: `${name}:` };
    }
  }

  function refuseAbove(field: Field, count: number, max: number, what: string, at = field): void {
    if (count <= max) return;
    const subject = field.path.length === 0 ? "The file without its sites has" : "has";
    throw new BadFile(fileName, [faultAt(at, `${subject} more than ${max.toLocaleString("en-US")} ${what}.`)]);
  }
}

/** Line and column of a field, and those of what is in it. */
type PlaceTree = [line: number, column: number, inside?: Record<string | number, PlaceTree>];

export function toDocument({ values, places }: ParsedFile): FileDocument {
  const [others = "", ...sites] = values.split("\n");
  let lines: string[] | undefined;
  const trees: PlaceTree[] = [];
  return {
    others,
    sites,
    placeOf(path) {
      lines ??= places.split("\n");
      const [list, index] = path;
      const part = list === "sites" && typeof index === "number" && index < sites.length ? index + 1 : 0;
      let tree = (trees[part] ??= JSON.parse(lines[part] ?? "") as PlaceTree);
      for (const name of part > 0 ? path.slice(2) : path) {
        const inside = tree[2] && Object.hasOwn(tree[2], name) ? tree[2][name] : undefined;
        if (!inside) break;
        tree = inside;
      }
      const [line, column] = tree;
      return { line, column };
    },
  };
}
