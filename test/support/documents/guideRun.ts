// Runs the blocks of a page and of the pages that it leads to as a reader would type them: in one folder, with a real relay.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { standinConnections } from "../../../scripts/standinConnections.ts";
import { platforms } from "../../../src/platforms/index.ts";
import { startStandins, type Standins } from "../../../standins/shared/start.ts";
import { commandIn, type Printed } from "../commands.ts";
import { freshFolder } from "../databases.ts";
import { placeOf, root, type Block } from "./documents.ts";
import { call, newInstallation, type Installation, type Relay } from "../relay.ts";

// oxlint-disable-next-line typescript/no-explicit-any -- the shape differs with the command
type Cleancast = (...args: string[]) => Promise<any>;

/** `exported` are the variables that the page's shell has exported. */
type RunCommand = (args: string[], exported: Record<string, string>) => Promise<Printed>;

export type Guides = { open(blocks: readonly Block[]): Promise<Page>; close(): Promise<void> };
export type Page = { run(block: Block): Promise<string>; close(): Promise<void> };

export async function openGuides(): Promise<Guides> {
  const standins = await startStandins();
  const pages = new Map<string, RunCommand>();
  const server = createServer((request, answer) => {
    void buffer(request).then(async (sent) => {
      const [count = "", ...rest] = sent.toString().split("\0").slice(0, -1);
      const args = rest.splice(0, Number(count));
      const { out, err, code } = (await pages.get(request.url ?? "")?.(args, readExported(rest))) ?? noPage;
      answer.end(`${code}\0${out}\0${err}`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    open: (blocks) => openPage(blocks, server, pages, standins),
    close: async () => {
      server.close();
      await standins.close();
    },
  };
}

const noPage: Printed = { out: "", err: "no such page", code: 1 };

const site = "shop.example.com";
/** Matches the names of the relay. */
const relayNames = /https:\/\/(?:shop|cc|relay)\.example\.com|http:\/\/(?:localhost|127\.0\.0\.1):8080/g;

async function openPage(
  blocks: readonly Block[],
  server: Server,
  pages: Map<string, RunCommand>,
  { origins }: Standins,
): Promise<Page> {
  const home = await newInstallation("sqlite", { CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(origins) });
  const folder = freshFolder();
  const run: RunCommand = (args, exported) =>
    commandIn({
      args: args.slice(args[0] === "cleancast" ? 1 : 0),
      env: { ...exported, ...home.env },
      folder,
    });
  const cleancast: Cleancast = async (...args) => {
    const { out, err, code } = await run(["--json", ...args], {});
    if (code !== 0) throw new Error(`cleancast ${args.join(" ")}: ${err}`);
    return JSON.parse(out);
  };
  const text = blocks.map((block) => block.text).join("\n");
  if (!text.includes(`site add ${site}`)) {
    await cleancast("site", "add", site);
    await cleancast("connect", site, "sandbox");
  } else await cleancast("migrate");
  const siteId = async (): Promise<string | undefined> =>
    (await cleancast("site", "list")).sites.find((one: { hosts: unknown[] }) =>
      JSON.stringify(one.hosts).includes(site),
    )?.id;

  const relay = relayOf(home);
  const sendOne = async () => {
    const { key } = await cleancast("key", "add", site, "the one before");
    const sent = { email: "ada@example.com", event: "purchase", value: 49.9, orderId: "A-1000" };
    return (await relay.start()).post(key, sent);
  };
  const path = `/${pages.size}`;
  pages.set(path, async (args, exported) =>
    run(await fillIn(args, { cleancast, folder, sendOne }), exported),
  );
  const { port } = server.address() as AddressInfo;
  const bin = writeShims(`http://127.0.0.1:${port}${path}`);
  cpSync(join(root, "docs/examples"), folder, { recursive: true });
  const keys = new Map<string, Promise<string>>();
  let exported: Record<string, string> = {};
  const keyFor = async (mark: string) => {
    if (mark === "cc_…" && !(await siteId())) return (await relay.start()).key;
    const known = keys.get(mark) ?? makeKey(mark, cleancast, relay);
    keys.set(mark, known);
    return known;
  };

  return {
    async run(block) {
      if (block.mark === "sent") {
        const endpoint = `/__cc/inbound${/^\s*\{\s*"events"/.test(block.text) ? "/batch" : ""}`;
        const apiKey = await keyFor("cc_…");
        const { url } = await relay.start();
        const headers = { "X-CC-Api-Key": apiKey, "Content-Type": "application/json" };
        const answer = await call(url, { path: endpoint, headers, body: block.text });
        if (answer.status !== 200) throw new Error(`${placeOf(block)}: ${answer.status} ${answer.text}`);
        return answer.text;
      }
      let script = block.text;
      for (const mark of ["cc_test_…", "ccm_…", "cc_…"])
        if (script.includes(mark)) script = script.replaceAll(mark, await keyFor(mark));
      if (/\/SITE\b/.test(script)) script = script.replaceAll(/\/SITE\b/g, `/${await siteId()}`);
      const searched = `${bin}:${process.env.PATH ?? ""}`;
      const env: Record<string, string> = { ...exported, ...home.env, PATH: searched };
      if (script.search(relayNames) >= 0 || /CLEANCAST_INBOUND|curl/.test(script))
        script = script.replaceAll(relayNames, (await relay.start()).url);
      // A reader types all blocks into one shell, so the exported variables stay.
      const ran = await shell(`trap 'env -0 >${bin}/exported' EXIT\n${script}`, folder, env);
      exported = readExported(readFileSync(`${bin}/exported`, "utf8").split("\0").slice(0, -1));
      if (ran.code !== 0) throw new Error(`${placeOf(block)} failed (${ran.code}):\n${ran.out}${ran.err}`);
      return ran.out;
    },
    close: () => relay.stop(),
  };
}

function relayOf(home: Installation) {
  let started: Promise<Relay> | null = null;
  return {
    start: () => (started ??= home.start()),
    stop: async () => void (started && (await (await started).kill())),
  };
}

async function makeKey(
  mark: string,
  cleancast: Cleancast,
  relay: ReturnType<typeof relayOf>,
): Promise<string> {
  if (mark === "ccm_…") {
    await relay.start();
    return String((await cleancast("api-key", "add", "a reader", "--scope", "read,write,keys,people")).key);
  }
  const mode = mark === "cc_test_…" ? ["--test"] : [];
  const { key } = await cleancast("key", "add", site, "a reader", ...mode);
  return String(key);
}

/** Replaces SITE, ID, EVENT and `name=…` with values, as a reader would. */
async function fillIn(args: string[], { cleancast, folder, sendOne }: Reader): Promise<string[]> {
  const [, family = ""] = args;
  const filled: string[] = [];
  for (const [i, arg] of args.entries()) {
    const before = args[i - 1] ?? "";
    if (arg === "SITE") filled.push(site);
    else if (arg === "EVENT" || (arg === "ID" && family === "event")) {
      const newest = async () => (await cleancast("event", "list")).events[0]?.id as string | undefined;
      filled.push((await newest()) ?? (await sendOne().then(newest)) ?? "");
    } else if (arg === "ID") {
      const isConnection = before === "--connection" || ["disconnect", "backfill"].includes(family);
      filled.push(await newestId(isConnection ? "connection" : family, cleancast));
    } else if (before === "--user-agent" && arg.endsWith("…")) filled.push(userAgent);
    else if (family === "connect" && /^\w+=(?:…|@[\w.]+)$/.test(arg))
      filled.push(settingOf(args[3] ?? "", arg, folder));
    else if (family === "oauth" && /^client_\w+=/.test(arg)) filled.push(settingOf("", arg, folder));
    else filled.push(arg);
  }
  const open = filled.find((arg) => arg.includes("…"));
  if (open !== undefined) throw new Error(`the page has no value for "${open}"`);
  return filled;
}

type Reader = { cleancast: Cleancast; folder: string; sendOne: () => Promise<unknown> };

const userAgent =
  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";

async function newestId(family: string, cleancast: Cleancast): Promise<string> {
  type Listed = { id: string; createdAt?: number };
  const list = Object.values((await cleancast(family, "list")) as object).find(Array.isArray) as Listed[];
  const newest = list.toSorted((a, b) => (a.createdAt ?? 0) - (b.createdAt ?? 0)).at(-1);
  if (!newest) throw new Error(`there is no ${family} whose ID could be used`);
  return newest.id;
}

/** Returns a setting that the platform's stand-in accepts, else that of the platform's first example. */
function settingOf(platformId: string, arg: string, folder: string): string {
  const [name = "", placeholder = ""] = arg.split("=");
  const known = (standinConnections as Record<string, Readonly<Record<string, string>>>)[platformId];
  const example = platforms.find(({ id }) => id === platformId)?.examples[0]?.settings;
  const value = known?.[name] ?? example?.[name] ?? (platformId === "" ? "an-app-of-ours" : undefined);
  if (value === undefined) throw new Error(`no example of ${platformId} has a ${name}`);
  if (!placeholder.startsWith("@")) return `${name}=${value}`;
  writeFileSync(join(folder, placeholder.slice(1)), value);
  return arg;
}

/** The shell sets these itself. */
const ownVariables = new Set(["PATH", "PWD", "OLDPWD", "SHLVL", "_"]);

/** Reads `NAME=value` pairs. */
const readExported = (pairs: readonly string[]) =>
  Object.fromEntries(
    pairs
      .map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)] as const)
      .filter(([name]) => !ownVariables.has(name)),
  );

/** Writes an `npx` that runs `cleancast` in a shared process, a `curl` that fails on HTTP errors, and the project's `node`. */
function writeShims(url: string): string {
  const bin = join(freshFolder(), "bin");
  mkdirSync(bin);
  const npx = `#!/bin/bash
{ printf '%s\\0' "$#" "$@"; env -0; } | curl -sS --data-binary @- '${url}' >"$0.$$"
{ IFS= read -rd '' code; IFS= read -rd '' out; err=$(cat; echo .); } <"$0.$$"
rm -f "$0.$$"
printf %s "$out"; printf %s "\${err%.}" >&2
exit "$code"
`;
  const curl = `#!/bin/sh\nPATH=\${PATH#*:} exec curl --fail-with-body "$@"\n`;
  const node = `#!/bin/sh\nexec '${process.execPath}' "$@"\n`;
  for (const [name, script] of Object.entries({ npx, curl, node })) {
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
  return bin;
}

function shell(script: string, cwd: string, env: Record<string, string>): Promise<Printed> {
  return new Promise((resolve) => {
    execFile(
      "bash",
      ["--norc", "-euo", "pipefail", "-c", script],
      { cwd, env, timeout: 60_000 },
      (error, out, err) => resolve({ out, err, code: error ? Number(error.code ?? 1) || 1 : 0 }),
    );
  });
}
