// Builds the dashboard to dist/dashboard: static files, each with a gzip and a Brotli copy. Browsers take Brotli over HTTPS only, so
// the limits are those of gzip. `npm run build` runs it. The build fails when the first load exceeds its limit in any language.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { build, type Plugin } from "vite";
import { listPackages } from "../scripts/bundledPackages.ts";
import { buildShared } from "./shared/build.ts";

/** What is left of 250 KB is for the answers of the relay: test/dashboard/lists.test.ts counts them too. */
const maxFirstLoadBytes = 240_000;
const maxSignInBytes = 168_000;
const framePage = ["scenes/frame/Frame.tsx", "scenes/overview/Overview.tsx"];
const out = new URL("../dist/dashboard/", import.meta.url);

type Chunk = {
  file: string;
  modules: readonly string[];
  imports: readonly string[];
  styles: readonly string[];
};
const chunks: Chunk[] = [];
const listChunks: Plugin = {
  name: "list-chunks",
  generateBundle(_options, files) {
    for (const file of Object.values(files))
      if (file.type === "chunk")
        chunks.push({
          file: file.fileName,
          modules: file.moduleIds,
          imports: file.imports,
          styles: [...(file.viteMetadata?.importedCss ?? [])],
        });
  },
};

await build({
  configFile: fileURLToPath(new URL("vite.config.ts", import.meta.url)),
  plugins: [listPackages("dashboard"), listChunks],
  logLevel: "warn",
});

await buildShared();

const sizes = new Map<string, number>();
for (const name of readdirSync(new URL("assets/", out))) {
  const bytes = readFileSync(new URL(`assets/${name}`, out));
  const zipped = gzipSync(bytes, { level: 9 });
  writeFileSync(new URL(`assets/${name}.gz`, out), zipped);
  writeFileSync(new URL(`assets/${name}.br`, out), brotliCompressSync(bytes));
  sizes.set(`assets/${name}`, zipped.length);
}

/** Returns the chunks that a page with these modules loads: their own, and all that those import. */
function chunksOf(modules: readonly string[]): Set<Chunk> {
  const needed = new Set<Chunk>();
  const add = (chunk: Chunk | undefined, wanted: string) => {
    if (!chunk) throw new Error(`The build has no ${wanted}. Update the first load in dashboard/build.ts.`);
    if (needed.has(chunk)) return;
    needed.add(chunk);
    for (const file of chunk.imports)
      add(
        chunks.find((one) => one.file === file),
        file,
      );
  };
  for (const module of modules)
    add(
      chunks.find((one) => one.modules.some((id) => id.endsWith(`/dashboard/${module}`))),
      module,
    );
  return needed;
}

// The browser loads the file of the frame together with the first one. The relay leaves these lines out before sign-in.
const start = chunksOf(["main.tsx"]);
const frame = chunksOf(framePage).difference(start);
const lines = [...frame].flatMap(({ file, styles }) => [
  `<link rel="modulepreload" crossorigin href="/dashboard/${file}">`,
  ...styles.map((style) => `<link rel="stylesheet" crossorigin href="/dashboard/${style}">`),
]);
// What main.tsx asks first. The answers come while the scripts are loaded.
lines.push(...["session", "sites"].map((route) => `<link rel="preload" as="fetch" crossorigin href="/api/v1/${route}">`));
const index = new URL("index.html", out);
writeFileSync(index, readFileSync(index, "utf8").replace("</head>", `<!-- frame -->${lines.join("")}<!-- /frame --></head>`));

const english = ["main.tsx", ...framePage];
const firstLoads = {
  "first load in English": { modules: english, max: maxFirstLoadBytes },
  "first load in German": { modules: [...english, "messages/de/firstPage.ts"], max: maxFirstLoadBytes },
  "sign-in page in English": { modules: ["main.tsx"], max: maxSignInBytes },
};
for (const [name, { modules, max }] of Object.entries(firstLoads)) {
  const needed = chunksOf(modules);
  const files = [...needed].flatMap(({ file, styles }) => [file, ...styles]);
  const bytes = files.reduce((sum, file) => sum + (sizes.get(file) ?? 0), 0);
  if (bytes > max) fail(`The dashboard's ${name} has ${bytes} bytes of script and styles (gzip); the limit is ${max}.`);
  const hasGerman = [...needed].some((one) => one.modules.some((id) => id.includes("/messages/de/")));
  if (hasGerman !== name.endsWith("German")) fail(`The ${name} ${hasGerman ? "has" : "lacks"} the German texts.`);
  if (process.argv.includes("--verbose"))
    console.log(`dist/dashboard: ${name}: ${bytes} bytes of script and styles in ${files.length} files`);
}

function fail(message: string): never {
  console.error(message);
  process.exit(1);
}
