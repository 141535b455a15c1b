// The proxy examples of docs/examples and the rules that the dashboard shows, as they stand, in front of a real relay: only
// names, ports and paths are replaced.
// They run where the proxies are installed.

import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request, type RequestOptions } from "node:https";
import { join } from "node:path";
import { connect } from "node:tls";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { caddyRule, nginxRule } from "../dashboard/scenes/configuration/domains/proxyRules.ts";
import { freshFolder } from "./support/databases.ts";
import {
  caddyOptions,
  configureCaddy,
  configureNginx,
  findProgram,
  startProxy,
  withCaddyOptions,
  type Proxy,
} from "./support/servers/programs.ts";
import { freePort } from "./support/servers/freePort.ts";
import { eventually, newInstallation } from "./support/relay.ts";
import { personsBrowser, personsHeaders } from "./support/visits.ts";

const example = (name: string) => readFileSync(new URL(`../docs/examples/${name}`, import.meta.url), "utf8");
const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));

function nginx(program: string, port: number, relayPort: number, folder: string): Proxy {
  const server = example("nginx.conf")
    .replaceAll("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
    .replaceAll(/ssl_certificate +\S+;/g, `ssl_certificate ${fixture("tls-cert.pem")};`)
    .replaceAll(/ssl_certificate_key +\S+;/g, `ssl_certificate_key ${fixture("tls-key.pem")};`)
    .replaceAll("http://127.0.0.1:8080", `http://127.0.0.1:${relayPort}`)
    .replace("/var/www/shop", folder);
  return configureNginx(program, folder, server);
}

function caddy(program: string, port: number, relayPort: number, folder: string): Proxy {
  const site = example("Caddyfile")
    .replace(
      "shop.example.com, www.example.com {",
      `https://shop.example.com:${port}, https://www.example.com:${port} {\n\ttls internal`,
    )
    .replace("cc.example.com {", `https://cc.example.com:${port} {\n\ttls internal`)
    .replace("https:// {", `https://:${port} {`)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${relayPort}`)
    .replace("/var/www/shop", folder);
  return configureCaddy(program, folder, withCaddyOptions(site));
}

/** Certificates come from Caddy's own authority; everything else is as in the example. */
function caddyOnDemand(program: string, port: number, relayPort: number, folder: string): Proxy {
  const text = example("Caddyfile.on-demand")
    .replace("{\n\ton_demand_tls", `{\n${caddyOptions}\ton_demand_tls`)
    .replace("cc.example.com {", `https://cc.example.com:${port} {\n\ttls internal`)
    .replace("https:// {", `https://:${port} {`)
    .replace("\ttls {\n", "\ttls internal {\n")
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${relayPort}`);
  return configureCaddy(program, folder, text);
}

/** The proxy of the compose files. */
function caddyOfCompose(program: string, port: number, relayPort: number, folder: string): Proxy {
  const file = readFileSync(new URL("../ops/compose/Caddyfile", import.meta.url), "utf8");
  const text = file.replace("https:// {", `https://:${port} {`);
  const { env, ...rest } = configureCaddy(program, folder, withCaddyOptions(text));
  const own = { CLEANCAST_NAMES: `https://localhost:${port}`, CLEANCAST_NODES: `127.0.0.1:${relayPort}` };
  return { ...rest, env: { ...env, ...own } };
}

function ask(port: number, options: RequestOptions, body = ""): Promise<{ status: number; text: string; cookie: string }> {
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
] as const)("the example configuration for %s", (name, configure) => {
  const program = findProgram(name);

  test.skipIf(!program)("the example configuration of a proxy passes conversions, the tag and its reports", async () => {
    const home = await newInstallation("sqlite");
    const site = await home.run("site", "add", "shop.example.com");
    const { key } = await home.run("key", "add", site.id, "crm");
    await home.run("host", "add", site.id, "www.example.com");
    await home.run("connection", "add", site.id, "sandbox");
    const relay = await home.start();
    const port = await freePort();
    const folder = freshFolder();
    const proxy = configure(program as string, port, Number(new URL(relay.url).port), folder);
    startProxy(proxy);

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

    // nginx refuses bodies of more than 1 MiB by default.
    const one = { email: "ada@example.com", event: "purchase", note: "x".repeat(50_000) };
    const events = Array.from({ length: 40 }, (_, i) => ({ ...one, orderId: `P-${i}` }));
    const batch = await ask(
      port,
      {
        method: "POST",
        path: "/__cc/inbound/batch",
        headers: { ...host, "X-CC-Api-Key": key, "Content-Type": "application/json" },
      },
      JSON.stringify({ events }),
    );
    expect([batch.status, JSON.parse(batch.text).results?.length]).toEqual([200, 40]);

    const dashboard = await ask(port, {
      path: "/dashboard/",
      headers: { Host: "cc.example.com" },
      servername: "cc.example.com",
    });
    expect([dashboard.status, dashboard.text]).toEqual([200, expect.stringContaining("<title>Cleancast")]);

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

    const second = await ask(port, {
      path: "/__cc/tag.js",
      headers: { Host: "www.example.com" },
      servername: "www.example.com",
    });
    expect(second.text).toContain(site.id);
    // By default Caddy answers an unknown host with an empty 200.
    const strange = { path: "/", headers: { Host: "pages.example.org" } };
    if (name === "caddy") expect((await ask(port, strange)).status).toBe(421);
    // The certificate check of the proxy is not available through the proxy.
    const asked = await ask(port, { path: "/__cc/tls-check?domain=shop.example.com", headers: host });
    expect(asked.status).toBe(404);
    // The proxy forwards what a host check needs: the host, and that the request used HTTPS.
    const probed = await ask(port, { path: `/__cc/probe?challenge=${"0".repeat(32)}`, headers: host });
    expect(JSON.parse(probed.text)).toMatchObject({ host: "shop.example.com", https: true });
  });
});

describe("the Caddy example with on-demand certificates", () => {
  const program = findProgram("caddy");

  test.skipIf(!program)("Caddy gets a certificate on demand for a served host, and for no other name", async () => {
    const home = await newInstallation("sqlite", { CLEANCAST_URL: "https://cc.example.com" });
    const site = await home.run("site", "add", "shop.example.com");
    const { key } = await home.run("key", "add", site.id, "crm");
    await home.run("host", "add", site.id, "paused.example.com");
    await home.run("host", "pause", "paused.example.com");
    const relay = await home.start();
    const port = await freePort();
    const folder = freshFolder();
    startProxy(caddyOnDemand(program as string, port, Number(new URL(relay.url).port), folder));

    /** Returns the names in the certificate that a client receives; null where the proxy has none. */
    const certificateOf = async (servername: string): Promise<string | null> => {
      const socket = connect({ host: "127.0.0.1", port, servername, rejectUnauthorized: false });
      try {
        await once(socket, "secureConnect");
        return socket.getPeerCertificate().subjectaltname ?? "";
      } catch {
        return null;
      } finally {
        socket.destroy();
      }
    };
    await eventually(
      "the proxy has a certificate for the dashboard's name",
      async () => (await certificateOf("cc.example.com")) === "DNS:cc.example.com",
    );
    expect(await certificateOf("shop.example.com")).toBe("DNS:shop.example.com");
    for (const name of ["unknown.example.com", "x.shop.example.com", "paused.example.com"])
      expect([name, await certificateOf(name)]).toEqual([name, null]);

    const sent = await ask(
      port,
      {
        method: "POST",
        path: "/__cc/inbound",
        headers: { Host: "shop.example.com", "X-CC-Api-Key": key, "Content-Type": "application/json" },
      },
      '{"email":"ada@example.com","event":"purchase"}',
    );
    expect([sent.status, JSON.parse(sent.text)]).toEqual([200, { ok: true, event: "purchase", results: {} }]);

    // A host that is added while the proxy runs gets a certificate.
    await home.run("host", "resume", "paused.example.com");
    await eventually(
      "the resumed host has a certificate",
      async () => (await certificateOf("paused.example.com")) === "DNS:paused.example.com",
    );
    const dashboard = await ask(port, {
      path: "/dashboard/",
      headers: { Host: "cc.example.com" },
      servername: "cc.example.com",
    });
    expect(dashboard.status).toBe(200);
  });
});

test("the guide has the same proxy rule as the dashboard", () => {
  const guide = readFileSync(new URL("../docs/how-to/domains.md", import.meta.url), "utf8");
  expect(guide).toContain(`\`\`\`nginx by test/proxies.test.ts\n${nginxRule("https://cc.example.com")}\n\`\`\`\n`);
  expect(nginxRule("http://10.0.0.5:8080")).not.toContain("ssl");
});

describe("the dashboard's proxy rules behind the Caddy of compose", () => {
  const programs = { nginx: findProgram("nginx") ?? "", caddy: findProgram("caddy") ?? "" };

  test.skipIf(!programs.nginx || !programs.caddy)(
    "the dashboard's proxy rules pass conversions through both proxies",
    async () => {
      const home = await newInstallation("sqlite");
      const site = await home.run("site", "add", "shop.example.com");
      const { key } = await home.run("key", "add", site.id, "crm");
      const relay = await home.start();
      const front = freshFolder();
      const frontPort = await freePort();
      const relayPort = Number(new URL(relay.url).port);
      startProxy(caddyOfCompose(programs.caddy, frontPort, relayPort, front));
      const authority = join(front, "caddy/pki/authorities/local/root.crt");
      const isAnswering = () =>
        ask(frontPort, { path: "/healthz", headers: { Host: "localhost" }, servername: "localhost" }).then(
          ({ status }) => status === 200,
          () => false,
        );
      await eventually("the Caddy before the relay answers", isAnswering);

      const url = `https://localhost:${frontPort}`;
      const nginxPort = await freePort();
      const rule = nginxRule(url).replace("/etc/ssl/certs/ca-certificates.crt", authority);
      const server = `server { listen 127.0.0.1:${nginxPort} ssl; ${rule}
      ssl_certificate ${fixture("tls-cert.pem")}; ssl_certificate_key ${fixture("tls-key.pem")}; }`;
      startProxy(configureNginx(programs.nginx, freshFolder(), server));
      const caddyPort = await freePort();
      const shop = caddyRule("shop.example.com", url).replace(
        "shop.example.com {",
        `https://shop.example.com:${caddyPort} {\n\ttls internal`,
      );
      const second = configureCaddy(programs.caddy, freshFolder(), withCaddyOptions(shop));
      startProxy({ ...second, env: { ...second.env, SSL_CERT_FILE: authority } });

      const host = { Host: "shop.example.com" };
      for (const port of [nginxPort, caddyPort]) {
        const path = `/__cc/probe?challenge=${"0".repeat(32)}`;
        let probed = "";
        await eventually(`${port} answers`, async () => {
          probed = await ask(port, { path, headers: host }).then(
            ({ text }) => text,
            () => "",
          );
          return probed.startsWith("{");
        });
        expect(JSON.parse(probed)).toMatchObject({ host: "shop.example.com", https: true });
        const sent = await ask(
          port,
          {
            method: "POST",
            path: "/__cc/inbound",
            headers: { ...host, "X-CC-Api-Key": key, "Content-Type": "application/json" },
          },
          JSON.stringify({ email: "ada@example.com", event: "purchase", orderId: String(port) }),
        );
        expect(JSON.parse(sent.text)).toEqual({ ok: true, event: "purchase", results: {} });
      }
    },
  );
});
