// Builds the dashboard to dist/dashboard: static files, each with a gzip copy. `npm run build` runs it. The build fails when the
// first load exceeds its limit.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { listPackages } from "../scripts/bundledPackages.ts";

const maxFirstLoadBytes = 250_000;
const out = new URL("../dist/dashboard/", import.meta.url);

await build({
  configFile: fileURLToPath(new URL("vite.config.ts", import.meta.url)),
  plugins: [listPackages("dashboard")],
  logLevel: "warn",
});

const sizes = new Map<string, number>();
for (const name of readdirSync(new URL("assets/", out))) {
  const zipped = gzipSync(readFileSync(new URL(`assets/${name}`, out)), { level: 9 });
  writeFileSync(new URL(`assets/${name}.gz`, out), zipped);
  sizes.set(`assets/${name}`, zipped.length);
}

type Chunk = { file: string; imports?: string[] };
const chunks = JSON.parse(readFileSync(new URL(".vite/manifest.json", out), "utf8")) as Record<string, Chunk>;

/** The chunks that the overview needs: the frame, the page, and all their imports. */
const firstLoad = new Set<string>();
const add = (key: string) => {
  const chunk = chunks[key];
  if (!chunk)
    throw new Error(
      `The build has no chunk ${key}. Update the list of first-load chunks in dashboard/build.ts.`,
    );
  if (firstLoad.has(chunk.file)) return;
  firstLoad.add(chunk.file);
  for (const other of chunk.imports ?? []) add(other);
};
for (const key of ["index.html", "scenes/frame/Frame.tsx", "scenes/overview/Overview.tsx"]) add(key);

const bytes = [...firstLoad].reduce((sum, file) => sum + (sizes.get(file) ?? 0), 0);
if (bytes > maxFirstLoadBytes) {
  console.error(
    `The dashboard's first load has ${bytes} bytes of script (gzip); the limit is ${maxFirstLoadBytes}.`,
  );
  process.exit(1);
}
if (process.argv.includes("--verbose"))
  console.log(`dist/dashboard: first load ${bytes} bytes of script (gzip)`);
