// Builds the tag: one minified file of at most 3 KB gzip. `npm run build` runs it.

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { buildTagScript } from "../src/identity/tagScript.ts";

const maxGzipBytes = 3 * 1024;
const root = new URL("..", import.meta.url);

const bundle = await rolldown({
  input: fileURLToPath(new URL("tag/main.ts", root)),
  platform: "browser",
  logLevel: "warn",
});
// Without a wrapper: the server puts the code into a function, see src/identity/tagScript.ts.
const { output } = await bundle.generate({ format: "es", minify: true });
await bundle.close();
const code = output[0].code
  .replaceAll("/* @__PURE__ */ ", "")
  // Fewer different words compress better. No text in the tag contains this one.
  .replace(/\bconst\b/g, "let")
  .trim();

// Measured as a site loads it, with its configuration.
const { gzip } = buildTagScript(code, { id: "x1y2z3a4b5", settings: { consentMode: "opt-out" } });
if (gzip.length > maxGzipBytes) {
  console.error(`The tag has ${gzip.length} bytes gzip; the limit is ${maxGzipBytes}. Nothing was written.`);
  process.exit(1);
}
mkdirSync(new URL("dist/", root), { recursive: true });
writeFileSync(new URL("dist/tag.js", root), code);
if (process.argv.includes("--verbose")) {
  console.log(`dist/tag.js: ${code.length} bytes; ${gzip.length} gzip with its configuration`);
}
