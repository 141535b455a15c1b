// Builds the tag: a minified file of at most 3 KB gzip, and its second part of at most 2 KB, which is loaded when it is
// needed. `npm run build` runs it.

import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { buildTagScript, buildSecondPart } from "../src/identity/tagScript.ts";

const root = new URL("..", import.meta.url);

async function bundle(file: string): Promise<string> {
  const bundled = await rolldown({
    input: fileURLToPath(new URL(file, root)),
    platform: "browser",
    logLevel: "warn",
  });
  // Without a wrapper: the server puts the first part into a function, see src/identity/tagScript.ts; the second is a module.
  const { output } = await bundled.generate({ format: "es", minify: true });
  await bundled.close();
  return (
    output[0].code
      .replaceAll("/* @__PURE__ */ ", "")
      // Fewer different words compress better. No text in the tag contains this one.
      .replace(/\bconst\b/g, "let")
      .trim()
  );
}

/** Measured as a site loads them, with its configuration. */
const linkDomains = ["shop.example"];

const parts = [
  {
    source: "tag/main.ts",
    file: "dist/tag.js",
    maxGzipBytes: 3 * 1024,
    built: (code: string) => buildTagScript(code, { id: "x1y2z3a4b5", settings: { consentMode: "opt-out", linkDomains } }),
  },
  {
    source: "tag/use.ts",
    file: "dist/use.js",
    maxGzipBytes: 2 * 1024,
    built: (code: string) => buildSecondPart(code, linkDomains),
  },
];

mkdirSync(new URL("dist/", root), { recursive: true });
for (const { source, file, maxGzipBytes, built } of parts) {
  const code = await bundle(source);
  const { gzip } = built(code);
  if (gzip.length > maxGzipBytes) {
    console.error(`${file} has ${gzip.length} bytes gzip; the limit is ${maxGzipBytes}. It was not written.`);
    process.exit(1);
  }
  writeFileSync(new URL(file, root), code);
  if (process.argv.includes("--verbose")) console.log(`${file}: ${code.length} bytes; ${gzip.length} gzip as it is served`);
}
