// The proxy examples of docs/examples, as they stand, in front of a real relay: only names, ports and paths are replaced.
// They run where the proxies are installed.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { accessSync, constants, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { request, type RequestOptions } from "node:https";
import { createServer, type AddressInfo } from "node:net";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { freshFolder } from "./databases.ts";
import { cleancast, eventually, newHome, startRelay } from "./relay.ts";
import { personsBrowser, personsHeaders } from "./visits.ts";

const example = (name: string) => readFileSync(new URL(`../docs/examples/${name}`, import.meta.url), "utf8");
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

const running: ChildProcess[] = [];
afterAll(async () => {
  for (const child of running) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit");
    child.kill("SIGTERM");
    await ended;
  }
});

function findProgram(name: string): string | undefined {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/bin"];
  return folders
    .map((folder) => join(folder, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

type Proxy = { program: string; args: string[]; env: Record<string, string> };

function nginx(program: string, port: number, relayPort: number, folder: string): Proxy {
  const server = example("nginx.conf")
    .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    .replace(/ssl_certificate +\S+;/, `ssl_certificate ${fixture("tls-cert.pem")};`)
    .replace(/ssl_certificate_key +\S+;/, `ssl_certificate_key ${fixture("tls-key.pem")};`)
    .replace("http://127.0.0.1:8080", `http://127.0.0.1:${relayPort}`)
    .replace("/var/www/shop", folder);
  const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  writeFileSync(
    join(folder, "nginx.conf"),
    `daemon off; master_process off; pid ${folder}/nginx.pid; error_log stderr;
     events {} http { access_log off; ${temporary.join(" ")} ${server} }`,
  );
  return { program, args: ["-e", "stderr", "-p", folder, "-c", join(folder, "nginx.conf")], env: {} };
}

function caddy(program: string, port: number, relayPort: number, folder: string): Proxy {
  const site = example("Caddyfile")
    .replace("shop.example.com {", `https://shop.example.com:${port} {\n\ttls internal`)
    .replace("127.0.0.1:8080", `127.0.0.1:${relayPort}`)
    .replace("/var/www/shop", folder);
  const options = `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tdefault_bind 127.0.0.1\n}\n`;
  writeFileSync(join(folder, "Caddyfile"), options + site);
  const args = ["run", "--adapter", "caddyfile", "--config", join(folder, "Caddyfile")];
  return { program, args, env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder } };
}

function ask(
  port: number,
  options: RequestOptions,
  body = "",
): Promise<{ status: number; text: string; cookie: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: "127.0.0.1",
        port,
        servername: "shop.example.com",
        rejectUnauthorized: false,
        agent: false,
        ...options,
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () =>
          resolve({
            status: response.statusCode ?? 0,
            text,
            cookie: String(response.headers["set-cookie"] ?? ""),
          }),
        );
      },
    );
    asked.on("error", reject).end(body);
  });
}

describe.each([
  ["nginx", nginx],
  ["caddy", caddy],
] as const)("the example for %s", (name, configure) => {
  const program = findProgram(name);

  test.skipIf(!program)("passes conversions, the tag and its reports", async () => {
    const home = await newHome("sqlite");
    const { site } = await cleancast(home, "site", "add", "shop.example.com");
    const { key } = await cleancast(home, "key", "add", site.id, "crm");
    await cleancast(home, "connect", site.id, "sandbox");
    const relay = await startRelay(home);
    const port = await freePort();
    const folder = freshFolder();
    mkdirSync(folder, { recursive: true });
    const proxy = configure(program as string, port, Number(new URL(relay.url).port), folder);
    const child = spawn(proxy.program, proxy.args, {
      env: { PATH: process.env.PATH ?? "", ...proxy.env },
      stdio: "ignore",
    });
    running.push(child);

    const host = { Host: "shop.example.com" };
    await eventually("the proxy answers", () =>
      ask(port, { path: "/__cc/tag.js", headers: host }).then(
        (answer) => answer.status === 200 && answer.text.includes(site.id),
        () => false,
      ),
    );
    const sent = await ask(
      port,
      {
        method: "POST",
        path: "/__cc/inbound",
        headers: { ...host, "X-CC-Api-Key": key, "Content-Type": "application/json" },
      },
      '{"email":"ada@example.com","event":"purchase"}',
    );
    expect(sent.text).toBe('{"ok":true,"event":"purchase","results":{"sandbox":{"ok":true}}}');

    const report = (origin: string) =>
      ask(
        port,
        { method: "POST", path: "/__cc/visit", headers: { ...host, ...personsHeaders, Origin: origin } },
        JSON.stringify({
          params: { gclid: "Abc" },
          page: "https://shop.example.com/",
          browser: personsBrowser,
        }),
      );
    const own = await report("https://shop.example.com");
    expect(own.status).toBe(204);
    expect(own.cookie).toMatch(/^__cc_v=\w{22};/);
    expect((await report("https://evil.example")).status).toBe(403);
  });
});
