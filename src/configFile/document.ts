// Reads the text of a configuration file, YAML or JSON, and finds the line of every field.

import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Document, type Node } from "yaml";
import { Refusal, type PlacedFault } from "../kernel/refusal.ts";

/** The way to a field: `["sites", 0, "hosts"]`. */
export type Path = readonly (string | number)[];

export type Place = { line: number; column: number };
export type FileFault = { path: Path; message: string };

export type FileDocument = {
  /** Maps, lists and texts: every scalar is the text as it is written. */
  value: unknown;
  /** The place of a field, or of the nearest one that contains it. */
  placeOf(path: Path): Place;
};

export const maxFileBytes = 2 * 1024 * 1024;
/** The rest would not fit on a screen. */
const maxFaultsShown = 20;

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
    this.faults = faults;
  }
}

/** Writes `["sites", 0, "hosts"]` as `sites[0].hosts`. */
export const fieldText = (path: Path) =>
  path.map((part, i) => (typeof part === "number" ? `[${part}]` : i === 0 ? part : `.${part}`)).join("");

export function readDocument(fileName: string, text: string): FileDocument {
  if (Buffer.byteLength(text) > maxFileBytes)
    throw new Refusal("file", `${fileName} is larger than ${maxFileBytes / 1024 / 1024} MiB.`);
  const lineCounter = new LineCounter();
  // With `failsafe` every scalar stays text: a pixel id of 17 digits is not rounded, and `on` is no boolean.
  const document = parseDocument(text, { lineCounter, schema: "failsafe", prettyErrors: false });
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
  if (!document.contents) throw new BadFile(fileName, [{ line: 1, column: 1, field: "", message: "The file is empty." }]);
  return { value: toValue(fileName, document), placeOf: (path) => placeAt(offsetOf(document, path)) };
}

function toValue(fileName: string, document: Document): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    // A file of a few lines whose aliases repeat each other would fill the memory.
    throw new BadFile(fileName, [{ line: 1, column: 1, field: "", message: "The file has too many aliases (*name)." }]);
  }
}

/** Points to the name of a field where it has one, so that people see the line that they wrote. */
function offsetOf(document: Document, path: Path): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const part of path) {
    let next: Node | null = null;
    if (isMap(node)) {
      const pair = node.items.find((one) => isPair(one) && isScalar(one.key) && String(one.key.value) === part);
      if (!pair) break;
      offset = (pair.key as Node).range?.[0] ?? offset;
      next = pair.value as Node | null;
    } else if (isSeq(node) && typeof part === "number") {
      next = (node.items[part] as Node | undefined) ?? null;
      if (!next) break;
      offset = next.range?.[0] ?? offset;
    } else break;
    node = next;
  }
  return offset;
}
