// Bundles the relay with all its packages into dist/relay. The bundle starts in a third of the time and needs a third less
// memory than the sources, whose types are stripped and whose hundreds of files are resolved at each start. Run by
// `npm run build`.

import { rmSync } from "node:fs";
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
    handler: (code) =>
      JSON.stringify((JSON.parse(code) as { pattern: string }[]).map(({ pattern }) => ({ pattern }))),
  },
};

const program = fileURLToPath(new URL("src/cli.ts", root));

export async function bundleRelay(folder: string, more: readonly Plugin[], input = program): Promise<void> {
  const bundle = await rolldown({
    input,
    platform: "node",
    // Optional drivers of pg.
    external: [/^node:/, "pg-native", "pg-cloudflare"],
    plugins: [bundleRequired, crawlerPatterns, ...more],
    logLevel: "warn",
  });
  rmSync(folder, { recursive: true, force: true });
  await bundle.write({ dir: folder, format: "es", chunkFileNames: "[name]-[hash].js" });
  await bundle.close();
}

if (import.meta.main) await bundleRelay(out, [listPackages("relay")]);
