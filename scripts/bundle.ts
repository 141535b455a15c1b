// Builds the relay with everything it needs into dist/relay: it starts in a third of the time and keeps a third less in
// memory than the sources, whose types have to be taken out and whose hundreds of files have to be found at each start.
// What is built needs no package beside it. Run by `npm run build`.

import { rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown, type Plugin } from "rolldown";
import { listPackages } from "./bundledPackages.ts";

const root = new URL("..", import.meta.url);
const out = fileURLToPath(new URL("dist/relay/", root));

/** What the sources load when it is first needed is put into the bundle, and is still evaluated only then. */
const bundleRequired: Plugin = {
  name: "bundle-required",
  transform: {
    filter: { code: "createRequire(import.meta.url)" },
    handler: (code) => code.replace("const require = createRequire(import.meta.url);", ""),
  },
};

/** Of the list of crawlers only the patterns are used, a tenth of it. */
const patternsOfCrawlers: Plugin = {
  name: "patterns-of-crawlers",
  transform: {
    filter: { id: /crawler-user-agents\.json$/ },
    handler: (code) =>
      JSON.stringify((JSON.parse(code) as { pattern: string }[]).map(({ pattern }) => ({ pattern }))),
  },
};

export async function bundleRelay(folder: string, more: readonly Plugin[]): Promise<void> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL("src/cli.ts", root)),
    platform: "node",
    // Drivers that pg would use if they were there.
    external: [/^node:/, "pg-native", "pg-cloudflare"],
    plugins: [bundleRequired, patternsOfCrawlers, ...more],
    logLevel: "warn",
  });
  rmSync(folder, { recursive: true, force: true });
  await bundle.write({ dir: folder, format: "es", chunkFileNames: "[name]-[hash].js" });
  await bundle.close();
}

if (import.meta.main) await bundleRelay(out, [listPackages("relay")]);
