#!/usr/bin/env node
// Plain JavaScript, so that an old Node can still report the problem, or start the Node that is installed with the package.

import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import nodeModule, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import * as util from "node:util";

const minNode = 24;
const source = fileURLToPath(new URL("../src/", import.meta.url));
const built = fileURLToPath(new URL("../dist/relay/cli.js", import.meta.url));

if (Number(process.versions.node.split(".")[0]) >= minNode) await start();
else startWithOwnNode();

async function start() {
  // The reader of a pipe may end first, such as `head`. Without a listener, the next write would end this process with an error.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", ignoreBrokenPipe);
  readEnvironmentFile();
  // Windows accepts only a URL here, not a path.
  if (!isBuilt()) return import(pathToFileURL(join(source, "cli.ts")).href);
  // The cache is next to the code: only users who can change the code itself can write there.
  nodeModule.enableCompileCache(join(dirname(built), "cache"));
  return import(pathToFileURL(built).href);
}

function ignoreBrokenPipe(error) {
  if (error.code !== "EPIPE") throw error;
}

/**
 * A file .env in the working folder may hold settings; variables of the environment take precedence. A file that exists and
 * cannot be read stops the start: with the defaults instead of its settings, a relay may listen on all addresses, or begin a
 * new database.
 */
function readEnvironmentFile() {
  let text;
  try {
    text = readFileSync(".env", "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return;
    console.error(
      `Cleancast cannot start:\n  - .env in ${process.cwd()} exists and cannot be read (${error.code}); ` +
        "let this user read it, or remove it.",
    );
    process.exit(1);
  }
  // Some editors on Windows begin a file with a byte order mark.
  for (const [name, value] of Object.entries(util.parseEnv(text.replace(/^\uFEFF/, "")))) process.env[name] ??= value;
}

/** The built relay starts faster, but sources that were changed since take precedence. */
function isBuilt() {
  if (!existsSync(built)) return false;
  if (!existsSync(join(source, "cli.ts"))) return true;
  const at = statSync(built).mtimeMs;
  // Node's own recursive reading takes three times as long.
  const isUnchanged = (folder) =>
    readdirSync(folder, { withFileTypes: true }).every((entry) => {
      const path = `${folder}/${entry.name}`;
      if (entry.name.endsWith(".test.ts")) return true;
      return statSync(path).mtimeMs <= at && (!entry.isDirectory() || isUnchanged(path));
    });
  return isUnchanged(source);
}

/** `npx` and `npm start` find the Node that was installed with the package; a global install does not. */
function startWithOwnNode() {
  const own = findOwnNode();
  if (!own) {
    console.error(
      `Cleancast needs Node ${minNode} or newer; this is Node ${process.versions.node}. ` +
        "Install it from https://nodejs.org. On Linux (x64 and arm64, with glibc) Cleancast brings its own: " +
        "install it without --omit=optional.",
    );
    process.exit(1);
  }
  const child = spawn(own, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: "inherit" });
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"]) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes.
      if (signal !== "SIGINT" || !process.stdin.isTTY) child.kill(signal);
    });
  }
  child.on("error", (error) => {
    console.error(`Cleancast could not start ${own}: ${error.message}`);
    process.exit(1);
  });
  child.on("exit", (code) => process.exit(code ?? 1));
}

function findOwnNode() {
  if (process.platform !== "linux") return null;
  try {
    return createRequire(import.meta.url).resolve(`node-linux-${process.arch}/bin/node`);
  } catch {
    return null;
  }
}
