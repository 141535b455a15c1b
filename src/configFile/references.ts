// Replaces references to secrets: `${NAME}` by a variable, `@file` by the content of a file. A secret itself never stands in
// a configuration file, so that the file can be shared and kept in version control.

import { Fault } from "../kernel/refusal.ts";
import type { FileFault, Path } from "./document.ts";

/** Both return a fault for what does not exist. The management API passes only the secrets of the request. */
export type Lookup = {
  variable: (name: string) => string | Fault;
  file: (path: string) => string | Fault;
};

export type Resolver = {
  /** Returns a part of the file with its references replaced. */
  resolve: (value: unknown, path: Path) => unknown;
  faults: FileFault[];
  /** True for a field whose value came from a reference. */
  isReference: (path: Path) => boolean;
};

const reference = /\$(\$\{|\{([^}]*)\})/g;
const variableName = /^[A-Za-z_][A-Za-z0-9_]*$/;
const keyOf = (path: Path) => JSON.stringify(path);

export function createResolver(lookup: Lookup): Resolver {
  const faults: FileFault[] = [];
  const references = new Set<string>();

  function readText(text: string, path: Path): string {
    const fail = (message: string) => {
      faults.push({ path, message });
      return text;
    };
    if (text.startsWith("@@")) return text.slice(1);
    if (text.startsWith("@")) {
      references.add(keyOf(path));
      const content = lookup.file(text.slice(1));
      return content instanceof Fault ? fail(content.message) : content.trim();
    }
    return text.replaceAll(reference, (_, escaped: string, name: string | undefined) => {
      if (escaped === "${") return "${";
      references.add(keyOf(path));
      if (name === undefined || !variableName.test(name))
        return fail(`"\${${name ?? ""}}" is no reference; write it like \${META_TOKEN}.`);
      const found = lookup.variable(name);
      return found instanceof Fault ? fail(found.message) : found;
    });
  }

  function resolve(node: unknown, path: Path): unknown {
    if (typeof node === "string") return readText(node, path);
    if (Array.isArray(node)) return node.map((one, i) => resolve(one, [...path, i]));
    if (typeof node === "object" && node !== null)
      return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, resolve(one, [...path, name])]));
    return node;
  }

  return { resolve, faults, isReference: (path) => references.has(keyOf(path)) };
}
