// Runs the blocks of a page and of the pages that it leads to as a reader would type them: in one folder, with a real relay.

import { execFile } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { standins as standinList } from "../../../standins/index.ts";
import { startStandins, type Standins } from "../../../standins/shared/start.ts";
import { commandIn, type Printed } from "../commands.ts";
import { freshDatabase, freshFolder, migratedDatabase } from "../databases.ts";
import { startReceiver, type Receiver } from "../receiver.ts";
import { call, command, Installation, newInstallation, type Relay } from "../relay.ts";
import { newAuthority, type TestCertificate } from "../servers/certificates.ts";
import { startDns } from "../servers/dnsServer.ts";
import { startMailServer } from "../servers/mailServer.ts";
import { startTlsProxy, type TlsProxy } from "../servers/tlsProxy.ts";
import { exitCodeOf, placeOf, preparationOf, root, type Block } from "./documents.ts";
import { acceptInvitation, signIn } from "./people.ts";
import { fillIn, nextCursor, site, type Cleancast, type Reader } from "./placeholders.ts";
import { checkInstalled, endServing, scriptOf, servingPort, writeShims } from "./shims.ts";

/** `exported` are the variables that the page's shell has exported. */
type RunCommand = (args: string[], exported: Record<string, string>) => Promise<Printed>;

export type Guides = { open(blocks: readonly Block[]): Promise<Page>; close(): Promise<void> };
type Page = { run(block: Block): Promise<string>; close(): Promise<void> };

/** What the installations of all pages talk to: the platforms, the reader's own systems, a mail server, DNS. */
type World = {
  standins: Standins;
  receiver: Receiver;
  mailUrl: string;
  dns: Awaited<ReturnType<typeof startDns>>;
  certificate: TestCertificate;
  authorityFile: string;
  /** The port of the reader's own program that takes conversions, by the path of its page. */
  programs: Map<string, string>;
};

const relayHost = "cc.example.com";
/** Hosts that the reader's DNS leads to the relay. */
const ownHosts = ["www.example.com", "www.shop.example.com"];

export async function createGuides(): Promise<Guides> {
  const authority = newAuthority();
  const world: World = {
    standins: await startStandins(),
    receiver: await startReceiver(),
    mailUrl: (await startMailServer()).url,
    dns: await startDns({
      [relayHost]: { address: "127.0.0.1" },
      ...Object.fromEntries(ownHosts.map((host) => [host, { alias: relayHost }])),
    }),
    certificate: authority.issue([relayHost, ...ownHosts, "127.0.0.1"]),
    authorityFile: join(freshFolder(), "authority.pem"),
    programs: new Map(),
  };
  writeFileSync(world.authorityFile, authority.cert);
  // The reader's own systems take every request, and have a list of orders. A program of a page gets what is sent to its page.
  world.receiver.behave = ({ path, headers, text }, response) => {
    const port = world.programs.get(/^\/\d+/.exec(path)?.[0] ?? "");
    if (port !== undefined)
      void call(`http://127.0.0.1:${port}`, {
        path,
        headers: headers as Record<string, string>,
        body: text,
      }).then(
        ({ status, text: answered }) => response.writeHead(status).end(answered),
        () => response.writeHead(502).end(),
      );
    else if (path.endsWith(".csv"))
      response.writeHead(200, { "content-type": "text/csv" }).end("orderId,time,value\nFEED-1,2026-11-01,5\n");
    else response.writeHead(200, { "content-type": "application/json" }).end("{}");
  };
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
      world.dns.close();
      await world.standins.close();
    },
  };
}

const noPage: Printed = { out: "", err: "no such page", code: 1 };

/** Matches the names of the relay. */
const relayNames = /https:\/\/(?:shop|cc|relay)\.example\.com|http:\/\/(?:localhost|127\.0\.0\.1):8080/g;
/** Matches the names of the reader's own systems: endpoints, and the list of orders. */
const ownNames = /https:\/\/(?:hooks\.|orders\.)?example\.com/g;
/** Matches an empty database, and that of another installation, which was started once. */
const databaseNames = /postgres:\/\/cleancast:secret@(database|other)\.internal:5432\/\w+/g;
/** Where `npm run standins` starts that of Meta. */
const defaultOrigin = `http://127.0.0.1:${4700 + standinList.findIndex(({ id }) => id === "meta")}`;
const otherKey = "7b".repeat(32);

/** Settings that only some pages need, and that would change what others print. */
function settingsFor(text: string, { standins, dns, authorityFile }: World, proxy: TlsProxy | undefined): Record<string, string> {
  return {
    // A page that starts a stand-in leads its relay there.
    ...(!text.includes("export CLEANCAST_PLATFORM_ORIGINS") && {
      CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
    }),
    ...(proxy && {
      CLEANCAST_URL: `https://${relayHost}:${proxy.port}`,
      CLEANCAST_DNS: dns.address,
      NODE_EXTRA_CA_CERTS: authorityFile,
    }),
    ...(text.includes("webhook replay") && { CLEANCAST_PUSH_SECONDS: "1" }),
  };
}

async function openPage(blocks: readonly Block[], server: Server, pages: Map<string, RunCommand>, world: World): Promise<Page> {
  const { receiver, mailUrl } = world;
  const folder = freshFolder();
  const text = blocks.map((block) => block.text).join("\n");
  const bin = join(freshFolder(), "bin");
  mkdirSync(bin);
  let relayUrl = "";
  /** The key that the first start has printed. */
  let firstKey = "";
  // Hosts are verified through the reader's own proxy.
  const proxy = text.includes("host verify") ? await startTlsProxy(world.certificate, () => relayUrl) : undefined;
  const searched = `${bin}:${process.env.PATH ?? ""}`;
  const home = await newInstallation("sqlite", {
    CLEANCAST_DATA: join(folder, "data"),
    CLEANCAST_SMTP_URL: mailUrl,
    CLEANCAST_MAIL_FROM: "Cleancast <cleancast@example.com>",
    HOME: freshFolder(),
    PATH: searched,
    ...settingsFor(text, world, proxy),
  });
  let exported: Record<string, string> = {};
  const settings = (now = exported) => new Installation("sqlite", { ...now, ...home.env });
  const run: RunCommand = (args, now) =>
    commandIn({ args: args.slice(args[0] === "cleancast" ? 1 : 0), env: settings(now).env, folder });
  const cleancast: Cleancast = async (...args) => {
    const { out, err, code } = await run(["--json", ...args], exported);
    if (code !== 0) throw new Error(`cleancast ${args.join(" ")}: ${err}`);
    return JSON.parse(out);
  };
  if (!text.includes(`site add ${site}`)) {
    await cleancast("site", "add", site);
    await cleancast("connection", "add", site, "sandbox");
  } else await cleancast("migrate");
  const siteId = async (): Promise<string | undefined> =>
    (await cleancast("site", "list")).items.find((one: { hosts: unknown[] }) => JSON.stringify(one.hosts).includes(site))?.id;

  const relay = relayOf(async (now, options) => {
    const started = await settings(now ?? exported).start({}, command, options, folder);
    relayUrl = started.url;
    firstKey ||= started.key;
    return started;
  });
  const reader: Reader = { cleancast, folder, relay: relay.start };
  const path = `/${pages.size}`;
  /** Starts the relay as the page says, in place of the one that runs. */
  const serve = async (options: string[], now: Record<string, string>): Promise<Printed> => {
    const started = await relay.restart(now, options);
    const printed = { out: started.output(), err: "", code: 0 };
    if (!started.url.startsWith("https:")) return printed;
    // What follows on the page reaches the relay over plain HTTP again.
    const ca = readFileSync(world.authorityFile);
    const healthy = await call(started.url, { method: "GET", path: "/healthz", ca });
    await relay.stop();
    return { ...printed, code: healthy.status === 200 ? 0 : 1 };
  };
  const npm = async (args: string[], now: Record<string, string>): Promise<Printed> => {
    const wrong = args[0] === "ci" ? checkInstalled() : "";
    if (args[0] === "ci") return { out: "", err: wrong, code: wrong ? 1 : 0 };
    const [program, file, action, ...options] = scriptOf(args[0] ?? "");
    if (program === "node" && join(root, file ?? "") === command && action === "serve")
      return serve([...options, ...args.slice(1)], now);
    return { out: "", err: `npm ${args.join(" ")} is not known here`, code: 1 };
  };
  pages.set(path, async ([program, ...args], now) => {
    if (program === "npm") return npm(args, now);
    const filled = await fillIn(args, reader);
    if (filled[1] === "serve") return serve(filled.slice(2), now);
    if (filled[1] === "sign-in") return signIn({ args: filled.slice(1), env: settings(now).env, folder }, await relay.start());
    if (filled[1] === "host") await relay.start();
    const printed = await run(filled, now);
    if (args[1] === "member" && args[2] === "add") await acceptInvitation(printed.out, await relay.start());
    return printed;
  });
  const { port } = server.address() as AddressInfo;
  writeShims(bin, `http://127.0.0.1:${port}${path}`);
  cpSync(join(root, "docs/examples"), folder, { recursive: true });
  const keys = new Map<string, Promise<string>>();
  const databases = new Map<string, string>();
  /** The address of the stand-in that the page has started. */
  let standinOrigin = defaultOrigin;
  /** The secret that was shown last. */
  let secret = `whsec_${Buffer.alloc(32, "example").toString("base64")}`;
  /** The address of the source that was added last. */
  let sourceAddress = "";
  const keyFor = async (mark: string) => {
    if (mark === "cc_…" && !(await siteId())) return relay.start().then(() => firstKey);
    const known = keys.get(mark) ?? makeKey(mark, cleancast, relay.start);
    keys.set(mark, known);
    return known;
  };
  const databaseFor = async (name: string, kind = "") => {
    const known = databases.get(name);
    if (known !== undefined) return known;
    const url = await (kind === "other" ? migratedDatabase : freshDatabase)();
    databases.set(name, url);
    if (kind === "other") writeFileSync(join(folder, "other.key"), `${otherKey}\n`);
    return url;
  };
  /** Puts values in place of names and placeholders. */
  const prepared = async (block: Block): Promise<string> => {
    const preparation = preparationOf(block);
    let script = preparation ? `{ ${preparation}; } >&2\n${block.text}` : block.text;
    for (const mark of ["cc_test_…", "ccm_…", "cc_…"])
      if (script.includes(mark)) script = script.replaceAll(mark, await keyFor(mark));
    if (/\/SITE\b/.test(script)) script = script.replaceAll(/\/SITE\b/g, `/${await siteId()}`);
    if (script.includes("cursor=CURSOR"))
      script = script.replaceAll("CURSOR", await nextCursor(reader, await keyFor("ccm_…"), String(await siteId())));
    script = script
      .replaceAll(ownNames, `${receiver.url}${path}`)
      .replaceAll("whsec_…", secret)
      .replaceAll("/__cc/in/…", () => sourceAddress)
      .replaceAll(defaultOrigin, standinOrigin)
      .replaceAll(/(?<=^|\s)([A-Z_]+)=(?:rk_)?…(?=\s)/g, "$1=an-example")
      .replaceAll(/(?<=^|\s)PORT=\d+/g, "PORT=0")
      .replaceAll("/etc/letsencrypt/live/cc.example.com", folder)
      .replaceAll("/safe/place", `${folder}/safe`)
      .replaceAll(/cleancast-\d{8}T\d{6}Z\.backup/g, () => newestBackup(folder));
    for (const [name, kind] of script.matchAll(databaseNames))
      script = script.replaceAll(name, `'${await databaseFor(name, kind)}'`);
    if (script.search(relayNames) >= 0 || /CLEANCAST_INBOUND|curl/.test(script))
      script = script.replaceAll(relayNames, (await relay.start()).url);
    return script;
  };
  writeFileSync(join(folder, "fullchain.pem"), world.certificate.cert);
  writeFileSync(join(folder, "privkey.pem"), world.certificate.key);

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
      const script = await prepared(block);
      // A reader types all blocks into one shell, so the exported variables stay.
      const ran = await shell(`trap 'env -0 >${bin}/exported' EXIT\n${script}`, folder, settings().env);
      exported = readExported(readFileSync(`${bin}/exported`, "utf8").split("\0").slice(0, -1));
      if (ran.code !== exitCodeOf(block)) throw new Error(`${placeOf(block)} failed (${ran.code}):\n${ran.out}${ran.err}`);
      secret = /whsec_[\w+/]+=*/.exec(ran.out)?.[0] ?? secret;
      sourceAddress = /\/__cc\/in\/\w+/.exec(ran.out)?.[0] ?? sourceAddress;
      standinOrigin = /^meta +(http\S+)$/m.exec(ran.out)?.[1] ?? standinOrigin;
      const listening = servingPort(ran.out);
      if (listening !== undefined) world.programs.set(path, listening);
      return ran.out;
    },
    async close() {
      endServing(bin);
      proxy?.close();
      await relay.stop();
    },
  };
}

type StartRelay = (exported: Record<string, string> | null, options: readonly string[]) => Promise<Relay>;

function relayOf(startRelay: StartRelay) {
  let started: Promise<Relay> | null = null;
  const stop = async () => {
    const running = started;
    started = null;
    if (running) await (await running).kill();
  };
  return {
    start: () => (started ??= startRelay(null, [])),
    async restart(exported: Record<string, string>, options: readonly string[]) {
      await stop();
      return (started = startRelay(exported, options));
    },
    stop,
  };
}

/** Returns the name of the newest backup that the page has made. */
function newestBackup(folder: string): string {
  const names = readdirSync(join(folder, "backups")).filter((name) => name.endsWith(".backup"));
  return names.toSorted().at(-1) ?? "";
}

async function makeKey(mark: string, cleancast: Cleancast, relay: () => Promise<Relay>): Promise<string> {
  if (mark === "ccm_…") {
    await relay();
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

function shell(script: string, cwd: string, env: Record<string, string>): Promise<Printed> {
  return new Promise((resolve) => {
    execFile("bash", ["--norc", "-euo", "pipefail", "-c", script], { cwd, env }, (error, out, err) =>
      resolve({ out, err, code: error ? Number(error.code ?? 1) || 1 : 0 }),
    );
  });
}
