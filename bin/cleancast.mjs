#!/usr/bin/env node
// Plain JavaScript, so that an old Node can still say what is wrong, or hand over to the Node that comes along on Linux.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const needed = 24;
const source = fileURLToPath(new URL("../src/", import.meta.url));
const built = fileURLToPath(new URL("../dist/relay/cli.js", import.meta.url));

if (Number(process.versions.node.split(".")[0]) >= needed) await start();
else handOver();

async function start() {
  // Settings may stand in a file .env beside the command; what the environment says already, wins.
  try {
    process.loadEnvFile();
  } catch {
    // There is none.
  }
  // Windows takes no path here, only an address.
  if (!isBuilt()) return import(pathToFileURL(join(source, "cli.ts")).href);
  // Beside the code, where only those can write who can change the code itself.
  nodeModule.enableCompileCache(join(dirname(built), "cache"));
  return import(pathToFileURL(built).href);
}

/** The built relay starts faster; where the sources were changed since, they are what is meant. */
function isBuilt() {
  if (!existsSync(built)) return false;
  if (!existsSync(join(source, "cli.ts"))) return true;
  const at = statSync(built).mtimeMs;
  return readdirSync(source, { recursive: true }).every(
    (name) => name.endsWith(".test.ts") || statSync(join(source, name)).mtimeMs <= at,
  );
}

/** `npx` and `npm start` find the Node that was installed with the package; a global install leaves that to us. */
function handOver() {
  const own = ownNode();
  if (!own) {
    console.error(
      `Cleancast needs Node ${needed} or newer; this is Node ${process.versions.node}. ` +
        "Install it from https://nodejs.org. On Linux (x64 and arm64, with glibc) Cleancast brings its own: " +
        "install it without --omit=optional.",
    );
    process.exit(1);
  }
  const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
    process.on(signal, () => {
      // A terminal gives Ctrl-C to both of us.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("error", (error) => {
    console.error(`Cleancast could not start ${own}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code) => process.exit(code ?? 1));
}

function ownNode() {
  if (process.platform !== "linux") return null;
  try {
    return createRequire(import.meta.url).resolve(`node-linux-${process.arch}/bin/node`);
  } catch {
    return null;
  }
}
