// Builds the tag: one file, minified, at most 3 KB over the wire. Run by `npm run build`.

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

const largest = 3 * 1024;
const root = new URL("..", import.meta.url);

const bundle = await rolldown({
  input: fileURLToPath(new URL("tag/main.ts", root)),
  platform: "browser",
  logLevel: "warn",
});
const { output } = await bundle.generate({ format: "iife", minify: true });
await bundle.close();
const code = output[0].code.trim();

const size = gzipSync(code, { level: 9 }).length;
if (size > largest) {
  console.error(`The tag has ${size} bytes gzip; the limit is ${largest}. Nothing was written.`);
  process.exit(1);
}
mkdirSync(new URL("dist/", root), { recursive: true });
writeFileSync(new URL("dist/tag.js", root), code);
if (process.argv.includes("--verbose")) console.log(`dist/tag.js: ${code.length} bytes, ${size} gzip`);
