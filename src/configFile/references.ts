// Replaces references to secrets: `${NAME}` by a variable, `@file` by the content of a file. A secret itself never stands in
// a configuration file, so that the file can be shared and kept in version control.

import { Fault } from "../kernel/refusal.ts";
import { maxFaults, type FileFault, type Path } from "./document.ts";
import { isContainer } from "./issues.ts";

/** Both return a fault for what does not exist. The management API passes only the secrets of the request. */
export type Lookup = {
  variable: (name: string) => string | Fault;
  file: (path: string) => string | Fault;
};

export type Resolver = {
  /** Replaces the references in a part of the file, and returns it. */
  resolve: (value: unknown, path: Path) => unknown;
  faults: FileFault[];
  /** True for a field whose value came from a reference. */
  isReference: (path: Path) => boolean;
};

// Bounded, so that a text of many beginnings is not searched to its end from each of them.
const reference = /\$(\$\{|\{([^}]{0,200})\}?)/g;
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const keyOf = (path: Path) => JSON.stringify(path);
/** In one text, with those that are escaped. Few have more than one. */
const maxReferences = 10;
/** In what all references stand for: a file can repeat the longest secret in every field. */
const maxCharacters = 8 * 1024 * 1024;
const tooLong = `is a reference too many: those of the file stand for more than ${maxCharacters / 1024 / 1024} MiB. Divide the file.`;

export function createResolver(lookup: Lookup): Resolver {
  const faults: FileFault[] = [];
  const references = new Set<string>();
  let characters = 0;

  function readText(text: string, path: Path): string {
    if (faults.length >= maxFaults) return text;
    if (text.startsWith("@@")) return text.slice(1);
    const take = (found: string | Fault, written: string) => {
      characters += found instanceof Fault ? 0 : found.length;
      const content = characters > maxCharacters ? new Fault(tooLong) : found;
      if (!(content instanceof Fault)) return content;
      faults.push({ path, message: content.message });
      return written;
    };
    if (text.startsWith("@")) {
      references.add(keyOf(path));
      return take(lookup.file(text.slice(1)), text).trim();
    }
    if (text.split("${", maxReferences + 2).length > maxReferences + 1) {
      faults.push({ path, message: `has more than ${maxReferences} references.` });
      return text;
    }
    return text.replaceAll(reference, (written, escaped: string, name: string) => {
      if (escaped === "${") return "${";
      references.add(keyOf(path));
      const isReference = written.endsWith("}") && variableName.test(name);
      return take(
        isReference ? lookup.variable(name) : new Fault(`"${written}" is no reference; write it like \${META_TOKEN}.`),
        written,
      );
    });
  }

  function resolve(node: unknown, path: Path): unknown {
    if (typeof node === "string") return node.startsWith("@") || node.includes("${") ? readText(node, path) : node;
    if (!isContainer(node)) return node;
    for (const name of Array.isArray(node) ? node.keys() : Object.keys(node)) {
      const value: unknown = Reflect.get(node, name);
      const resolved = resolve(value, [...path, name]);
      if (resolved !== value) Reflect.set(node, name, resolved);
    }
    return node;
  }

  return { resolve, faults, isReference: (path) => references.has(keyOf(path)) };
}
