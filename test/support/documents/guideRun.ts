// Runs the blocks of a page and of the pages that it leads to as a reader would type them: in one folder, with a real relay.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmodSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { startStandins, type Standins } from "../../../standins/shared/start.ts";
import { ask, password } from "../apiClient.ts";
import { commandIn, type Printed } from "../commands.ts";
import { freshDatabase, freshFolder } from "../databases.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { call, newInstallation, type Installation, type Relay } from "../relay.ts";
import { startMailServer } from "../servers/mailServer.ts";
import { placeOf, preparationOf, root, type Block } from "./documents.ts";
import { fillIn, site, type Cleancast } from "./placeholders.ts";

/** `exported` are the variables that the page's shell has exported. */
type RunCommand = (args: string[], exported: Record<string, string>) => Promise<Printed>;

export type Guides = { open(blocks: readonly Block[]): Promise<Page>; close(): Promise<void> };
export type Page = { run(block: Block): Promise<string>; close(): Promise<void> };

/** What the installations of all pages talk to: the platforms, the reader's own systems, a mail server. */
type World = { standins: Standins; receiver: Receiver; mailUrl: string };

export async function openGuides(): Promise<Guides> {
  const world: World = {
    standins: await startStandins(),
    receiver: await startReceiver(),
    mailUrl: (await startMailServer()).url,
  };
  // The reader's own systems take every request, and have a list of orders.
  world.receiver.behave = ({ path }, response) =>
    path.endsWith(".csv")
      ? response
          .writeHead(200, { "content-type": "text/csv" })
          .end("orderId,time,value\nFEED-1,2026-11-01,5\n")
      : response.writeHead(200, { "content-type": "application/json" }).end("{}");
  const pages = new Map<string, RunCommand>();
  const server = createServer((request, answer) => {
    void buffer(request).then(async (sent) => {
      const [count = "", ...rest] = sent.toString().split("\0").slice(0, -1);
      const args = rest.splice(0, Number(count));
      const page = pages.get(request.url ?? "");
      const printed = page?.(args, readExported(rest)).catch((error) => ({ ...noPage, err: String(error) }));
      const { out, err, code } = (await printed) ?? noPage;
      answer.end(`${code}\0${out}\0${err}`);
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    open: (blocks) => openPage(blocks, server, pages, world),
    close: async () => {
      server.close();
      await world.standins.close();
    },
  };
}

const noPage: Printed = { out: "", err: "no such page", code: 1 };

/** Matches the names of the relay. */
const relayNames = /https:\/\/(?:shop|cc|relay)\.example\.com|http:\/\/(?:localhost|127\.0\.0\.1):8080/g;
/** Matches the names of the reader's own systems: endpoints, and the list of orders. */
const ownNames = /https:\/\/(?:hooks\.|orders\.)?example\.com/g;
const databaseNames = /postgres:\/\/cleancast:secret@database\.internal:5432\/\w+/g;

async function openPage(
  blocks: readonly Block[],
  server: Server,
  pages: Map<string, RunCommand>,
  { standins, receiver, mailUrl }: World,
): Promise<Page> {
  const folder = freshFolder();
  const home = await newInstallation("sqlite", {
    CLEANCAST_DATA: join(folder, "data"),
    CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
    CLEANCAST_SMTP_URL: mailUrl,
    CLEANCAST_MAIL_FROM: "Cleancast <cleancast@example.com>",
    HOME: freshFolder(),
  });
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
  const path = `/${pages.size}`;
  pages.set(path, async (args, exported) => {
    const printed = await run(await fillIn(args, { cleancast, folder, relay: relay.start }), exported);
    if (args[1] === "member" && args[2] === "add") await acceptInvitation(printed.out, await relay.start());
    return printed;
  });
  const { port } = server.address() as AddressInfo;
  const bin = writeShims(`http://127.0.0.1:${port}${path}`);
  cpSync(join(root, "docs/examples"), folder, { recursive: true });
  const keys = new Map<string, Promise<string>>();
  const databases = new Map<string, string>();
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
      const preparation = preparationOf(block);
      let script = preparation ? `{ ${preparation}; } >&2\n${block.text}` : block.text;
      for (const mark of ["cc_test_…", "ccm_…", "cc_…"])
        if (script.includes(mark)) script = script.replaceAll(mark, await keyFor(mark));
      if (/\/SITE\b/.test(script)) script = script.replaceAll(/\/SITE\b/g, `/${await siteId()}`);
      script = script.replaceAll(ownNames, receiver.url);
      for (const [name] of script.matchAll(databaseNames)) {
        const url = databases.get(name) ?? (await freshDatabase());
        databases.set(name, url);
        script = script.replaceAll(name, `'${url}'`);
      }
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

/** Does what an invited person does with the link of the invitation. */
async function acceptInvitation(printed: string, relay: Relay): Promise<void> {
  const token = /#(\w+)$/m.exec(printed)?.[1];
  if (!token) return;
  const { status, answer } = await ask(
    relay,
    "POST /invitations/accept",
    { token, name: "Ada", password },
    {},
  );
  if (status !== 200) throw new Error(`the invitation was refused: ${status} ${answer.text}`);
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
