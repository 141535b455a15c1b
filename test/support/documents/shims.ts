// The programs that a page finds on its PATH: some with the test process behind them, and stand-ins for what is not installed.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { command } from "../relay.ts";
import { root } from "./documents.ts";

/** Sends its arguments and variables to the test process, and prints what that answers. */
const asks = (url: string, ...program: string[]) => `#!/bin/bash
{ printf '%s\\0' "$(($# + ${program.length}))" ${program.join(" ")} "$@"; env -0; } | curl -sS --data-binary @- '${url}' >"$0.$$"
{ IFS= read -rd '' code; IFS= read -rd '' out; err=$(cat; echo .); } <"$0.$$"
rm -f "$0.$$"
printf %s "$out"; printf %s "\${err%.}" >&2
exit "$code"
`;

/** Runs a program of Node. One that serves is left running as soon as it listens, as in a terminal of its own. */
const node = `#!/bin/bash
printed="$0.$$"
'${process.execPath}' "$@" <&0 >"$printed" 2>"$printed.err" &
until grep -qE '^(listening on|For the relay:)' "$printed"; do
  if ! kill -0 $! 2>/dev/null; then
    wait $! && code=0 || code=$?
    cat "$printed"; cat "$printed.err" >&2
    exit $code
  fi
  sleep 0.02
done
echo $! >>"\${0%/*}/serving"
cat "$printed"
`;

/** Fails on HTTP errors. */
const curl = `#!/bin/sh\nPATH=\${PATH#*:} exec curl --fail-with-body "$@"\n`;

/**
 * Does what rclone does with these arguments and no others, where the remote is a folder: the tests of scheduled backups run the
 * same with rclone itself where it is installed.
 */
const rclone = `#!/bin/bash
set -eu
at() { case $1 in offsite:*) echo "\${0%/*}/offsite/\${1#offsite:}";; *) echo "$1";; esac; }
from=$(at "$2") to=$(at "$3")
case "$1 \${*:4}" in
  "copy ") cp "$from" "$to" ;;
  "copy --include cleancast-*.backup --immutable --s3-no-check-bucket --retries 5")
    mkdir -p "$to"; cp -n "$from"/cleancast-*.backup "$to" ;;
  "check --include cleancast-"*.backup" --one-way --size-only")
    [ "$(stat -c %s "$from/$5")" = "$(stat -c %s "$to/$5")" ] ;;
  *) echo "unknown arguments: $*" >&2; exit 2 ;;
esac
`;

/** Runs the stand-ins on free ports. To install and to start Cleancast are questions to the test process. */
const npm = (url: string) => `#!/bin/bash
if [ "\${*:1:3}" = "run standins --" ]; then
  exec "\${0%/*}/node" '${join(root, scriptOf("standins")[1] ?? "")}' "\${@:4}" --port 0
fi
case "$1" in ci | start) ;; *) PATH=\${PATH#*:} exec npm "$@" ;; esac
${asks(url, "npm")}`;

/** Runs a command that reads standard input by itself; everything else is a question to the test process. */
const npx = (url: string) => `#!/bin/bash
case " $* " in *" - "*) exec '${process.execPath}' '${command}' "\${@:2}" ;; esac
${asks(url, "npx")}`;

/** Writes the programs to a folder; `npx`, `npm` and `cleancast` ask the server at `url`. */
export function writeShims(bin: string, url: string): void {
  const programs = {
    npx: npx(url),
    npm: npm(url),
    cleancast: asks(url, "npx", "cleancast"),
    curl,
    node,
    rclone,
  };
  for (const [name, script] of Object.entries(programs)) writeFileSync(join(bin, name), script, { mode: 0o755 });
}

/** Ends the programs that a page has left running. */
export function endServing(bin: string): void {
  let serving = "";
  try {
    serving = readFileSync(join(bin, "serving"), "utf8");
  } catch {
    return;
  }
  for (const pid of serving.trim().split("\n")) {
    try {
      process.kill(Number(pid), "SIGKILL");
    } catch {
      // It has ended by itself.
    }
  }
}

/** Returns the port on which the program listens that was started last. */
export function servingPort(printed: string): string | undefined {
  return /^listening on (?:port )?(\d+)$/m.exec(printed)?.[1];
}

type Packages = Record<string, Record<string, unknown>>;
const readJson = (path: string) => JSON.parse(readFileSync(join(root, path), "utf8"));

/**
 * Checks what `npm ci` would: that the lock file has the packages of package.json, and, because it ran before the tests, that
 * these are installed. Returns what is wrong.
 */
export function checkInstalled(): string {
  const wanted = readJson("package.json");
  const locked = readJson("package-lock.json").packages as Packages;
  for (const kind of ["dependencies", "devDependencies", "optionalDependencies"]) {
    if (!isDeepStrictEqual(wanted[kind] ?? {}, locked[""]?.[kind] ?? {}))
      return `package-lock.json has other ${kind} than package.json`;
    if (kind === "optionalDependencies") continue;
    for (const name of Object.keys(wanted[kind] ?? {})) {
      const path = `node_modules/${name}`;
      const { version } = readJson(`${path}/package.json`);
      if (version !== locked[path]?.version) return `${path} has version ${version}`;
    }
  }
  return "";
}

/** Returns the words of a script of package.json after its last `&&`: what runs when the build is up to date. */
export function scriptOf(name: string): string[] {
  const script: string = readJson("package.json").scripts[name] ?? "";
  return (
    script
      .split(" && ")
      .at(-1)
      ?.replace(/^exec /, "")
      .split(" ") ?? []
  );
}
