// Bundles the relay with all its packages into dist/relay. The bundle starts in a third of the time and needs a third less
// memory than the sources, whose types are stripped and whose hundreds of files are resolved at each start. Run by
// `npm run build`.

import { rmSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown, type Plugin } from "rolldown";
import { listPackages } from "./bundledPackages.ts";

const root = new URL("..", import.meta.url);
const out = fileURLToPath(new URL("dist/relay/", root));

/** Also bundles the packages that the sources `require` on first use; they are still evaluated only then. */
const bundleRequired: Plugin = {
  name: "bundle-required",
  transform: {
    filter: { code: "createRequire(import.meta.url)" },
    handler: (code) => code.replace("const require = createRequire(import.meta.url);", ""),
  },
};

/** Reduces the list of crawlers to its patterns, less than a tenth of its size. */
const crawlerPatterns: Plugin = {
  name: "crawler-patterns",
  transform: {
    filter: { id: /crawler-user-agents\.json$/ },
    handler: (code) => JSON.stringify((JSON.parse(code) as { pattern: string }[]).map(({ pattern }) => ({ pattern }))),
  },
};

/**
 * Takes the modules of Node as objects. An `import` of one of them reads all its exports, and those of node:http load a whole
 * client that the relay does not use.
 */
const modulesOfNode: Plugin = {
  name: "modules-of-node",
  // The runtime of the bundle imports node:module itself.
  resolveId: { filter: { id: /^node:(?!module$)/ }, handler: (id) => `\0${id}` },
  load: {
    // oxlint-disable-next-line no-control-regex -- the mark of modules that are no files
    filter: { id: /^\0node:/ },
    handler: (id) => `module.exports = process.getBuiltinModule("${id.slice(1)}");`,
  },
};

/** Leaves out parts of packages that the relay does not use, and that would be evaluated at each start. */
const usedParts: Plugin = {
  name: "used-parts",
  load: {
    filter: { id: /node_modules\/(undici\/index|glob\/.*\/index(\.min)?)\.js$/ },
    handler: (id) =>
      id.includes("undici")
        ? `Object.assign(require("./lib/dispatcher/dispatcher").prototype, require("./lib/api"));
           exports.Agent = require("./lib/dispatcher/agent");`
        : // @fastify/static lists a folder with it if it is told to make a route for each file.
          `exports.glob = () => { throw new Error("glob is not part of the bundle"); };`,
  },
};

/** Escapes all but ASCII: Node reads a file with other characters as two bytes for each character, and V8 keeps it so. */
const oneByte: Plugin = {
  name: "one-byte",
  generateBundle(_options, chunks) {
    for (const chunk of Object.values(chunks)) if (chunk.type === "chunk") chunk.code = escape(chunk.code);
  },
};

const escape = (code: string) =>
  // oxlint-disable-next-line no-control-regex -- the range begins with the first character
  code.replaceAll(/[^\u0000-\u007f]/g, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);

const program = fileURLToPath(new URL("src/cli.ts", root));
/** The programs of threads. Each is found next to the file that starts it. */
const threads = {
  tableThread: fileURLToPath(new URL("src/tables/thread.ts", root)),
  documentThread: fileURLToPath(new URL("src/configFile/thread.ts", root)),
};

export async function bundleRelay(folder: string, more: readonly Plugin[], input = program): Promise<void> {
  const bundle = await rolldown({
    input: { [basename(input, ".ts")]: input, ...threads },
    platform: "node",
    // Optional drivers of pg.
    external: ["node:module", "pg-native", "pg-cloudflare"],
    plugins: [modulesOfNode, usedParts, bundleRequired, crawlerPatterns, oneByte, ...more],
    logLevel: "warn",
  });
  rmSync(folder, { recursive: true, force: true });
  await bundle.write({ dir: folder, format: "es", chunkFileNames: "[name]-[hash].js" });
  await bundle.close();
}

if (import.meta.main) await bundleRelay(out, [listPackages("relay")]);
