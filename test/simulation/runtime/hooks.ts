// Changes how modules of the product are loaded into this process:
// - time, randomness, disk, network and database drivers come from `substitutes/`;
// - modules with state of their own get it for each simulated process;
// - a planted bug changes the text of one module; without one, decisions are recorded.

import { readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { decisionsIn, watchDecisions } from "../decisions.ts";
import type { FocusName } from "../focuses.ts";
import { replaceOnce } from "./text.ts";
import { currentProcess } from "./world.ts";

export type Mutation = {
  /** What goes wrong, as a sentence. */
  what: string;
  /** The path below `src/`. */
  file: string;
  /** Occurs in the file exactly once. */
  find: string;
  replace: string;
  /** The conditions under which it shows. */
  focus: FocusName;
  /**
   * A seed that finds it, and is tried first. A change of the product's timing may make it any other one. Left out where none is known.
   */
  seed?: number;
  /** So few seeds find it, or none, that the tests leave it to `npm run simulate:mutations`. */
  isRare?: boolean;
};

const root = new URL("../../../", import.meta.url);
const source = (path: string) => new URL(`src/${path}`, root).href;
const substitute = (name: string) => new URL(`test/simulation/substitutes/${name}`, root).href;

/** For all modules of the product. */
const everywhere: Readonly<Record<string, string>> = {
  "node:crypto": substitute("crypto.ts"),
  "node:timers/promises": substitute("timersPromises.ts"),
  "node:perf_hooks": substitute("perfHooks.ts"),
  "node:sqlite": substitute("sqlite.ts"),
  pg: substitute("pg.ts"),
  undici: substitute("undici.ts"),
};

/** For the modules in some folders. */
const inFolders: readonly [folder: string, specifier: string, url: string][] = [
  ["store/engine/", "node:fs", substitute("fs.ts")],
  ["store/engine/", "node:net", substitute("net.ts")],
  ["installation/", "node:fs", substitute("fs.ts")],
];

/** Modules whose variables belong to a process. */
const stateful = ["kernel/coarseTimers.ts", "kernel/concurrency.ts", "kernel/ids.ts", "store/engine/groupCommit.ts"].map(source);

export function installHooks(mutation: Mutation | null): void {
  const mutated = mutation && source(mutation.file);
  registerHooks({
    resolve(specifier, context, nextResolve) {
      const parent = context.parentURL ?? "";
      const url = parent.startsWith(source("")) ? substituteFor(specifier, parent) : undefined;
      if (url !== undefined) return { url, shortCircuit: true };
      // Hundreds of modules name each other by their files. Node would look for the package of each.
      if (specifier.startsWith(".") && parent.startsWith(root.href) && !parent.includes("/node_modules/"))
        return { url: new URL(specifier, parent).href, format: "module-typescript", shortCircuit: true };
      return nextResolve(specifier, context);
    },
    load(url, context, nextLoad) {
      const isStateful = stateful.includes(url);
      // The text of a decision may be what a planted bug has changed.
      const decisions = mutation || !url.startsWith(source("")) ? [] : decisionsIn(url.slice(source("").length));
      if (!isStateful && url !== mutated && decisions.length === 0) return nextLoad(url, context);
      const text = readFileSync(new URL(url), "utf8");
      const planted = mutation && url === mutated ? plant(text, mutation) : watchDecisions(text, decisions);
      // Node strips the types and keeps the result in its compile cache; to strip them here would load the parser at each start.
      const changed = isStateful ? perProcess(url, planted) : planted;
      return { format: "module-typescript", source: changed, shortCircuit: true };
    },
  });
}

function substituteFor(specifier: string, parent: string): string | undefined {
  const inFolder = inFolders.find(([folder, name]) => name === specifier && parent.startsWith(source(folder)));
  return inFolder?.[2] ?? everywhere[specifier];
}

const plant = (text: string, { find, replace, file }: Mutation) => replaceOnce(text, find, replace, file);

/** Wraps the body of a module into a function, and calls it for each process. */
function perProcess(url: string, text: string): string {
  const imports = text.match(/^import [^;]+;/gm) ?? [];
  const names = [...text.matchAll(/^export (?:async )?(?:function|const) (\w+)/gm)].map(([, name]) => name);
  const body = text.replaceAll(/^import [^;]+;/gm, "").replaceAll(/^export /gm, "");
  return `${imports.join("\n")}
    import { instanceOf } from ${JSON.stringify(import.meta.url)};
    function create() {
      ${body}
      return { ${names.join(", ")} };
    }
    const unused = create();
    const current = () => instanceOf(${JSON.stringify(url)}, create);
    const methodsOf = (name) => Object.keys(unused[name] ?? {}).filter((method) => typeof unused[name][method] === "function");
    const own = (name) => {
      if (typeof unused[name] === "function") return (...args) => current()[name](...args);
      const methods = methodsOf(name).map((method) => [method, (...args) => current()[name][method](...args)]);
      return methods.length > 0 ? Object.fromEntries(methods) : unused[name];
    };
    ${names.map((name) => `const ${name}$ = own("${name}"); export { ${name}$ as ${name} };`).join("\n    ")}`;
}

/** For the checks, which call pure functions of the product outside of any process. */
const ofChecks = new Map<string, unknown>();

export function instanceOf<T>(url: string, create: () => T): T {
  const modules = currentProcess()?.modules ?? ofChecks;
  const known = modules.get(url) as T | undefined;
  if (known) return known;
  const created = create();
  modules.set(url, created);
  return created;
}
