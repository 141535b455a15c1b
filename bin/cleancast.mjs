#!/usr/bin/env node
// Plain JavaScript, so that an old Node can still say what is wrong.

import { existsSync, readdirSync, statSync } from "node:fs";
import nodeModule from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `Cleancast needs Node 24; this is Node ${process.versions.node}. ` +
      "Run it with 'npm start' or 'npx cleancast': after 'npm ci' they bring their own.",
  );
  process.exit(1);
}
// Settings may stand in a file .env beside the command; what the environment says already, wins.
try {
  process.loadEnvFile();
} catch {
  // There is none.
}

const source = fileURLToPath(new URL("../src/", import.meta.url));
const built = fileURLToPath(new URL("../dist/relay/cli.js", import.meta.url));

/** The built relay starts faster; where the sources were changed since, they are what is meant. */
function isBuilt() {
  if (!existsSync(built)) return false;
  if (!existsSync(join(source, "cli.ts"))) return true;
  const at = statSync(built).mtimeMs;
  return readdirSync(source, { recursive: true }).every(
    (name) => name.endsWith(".test.ts") || statSync(join(source, name)).mtimeMs <= at,
  );
}

if (isBuilt()) {
  // Beside the code, where only those can write who can change the code itself.
  nodeModule.enableCompileCache(join(dirname(built), "cache"));
  await import(built);
} else {
  await import(join(source, "cli.ts"));
}
