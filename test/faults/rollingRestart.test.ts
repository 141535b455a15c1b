// Two relays on one PostgreSQL behind a proxy, set up as in docs/how-to/run-on-several-machines.md, are restarted one after the
// other under load: every request gets 200, and every event is stored and arrives once.

import { readFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { freshFolder } from "../support/databases.ts";
import { freePort } from "../support/servers/freePort.ts";
import {
  configureCaddy,
  configureNginx,
  findProgram,
  startProxy,
  withCaddyOptions,
  type Proxy,
} from "../support/servers/programs.ts";
import { startReceiver } from "../support/receiver.ts";
import { call, eventually, newInstallation, type Answer, type Relay } from "../support/relay.ts";
import { deliveryStates, setUpSite, rows } from "../support/installation.ts";

const file = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const senders = 5;
const pauseMs = 60;

type Site = { port: number; nodes: readonly [string, string]; folder: string };
type Setup = {
  /** CLEANCAST_DRAIN_SECONDS; shorter than in the guide, as is the proxy's own interval. */
  drainSeconds: string;
  configure: (program: string, site: Site) => Proxy;
  /** The time that the proxy takes to use a restarted node again. */
  backAfterMs: number;
};

const setups: Record<string, Setup> = {
  caddy: {
    drainSeconds: "0.8",
    backAfterMs: 500,
    configure(program, { port, nodes, folder }) {
      const config = readFileSync(file("ops/compose/Caddyfile"), "utf8")
        .replace("health_interval 1s", "health_interval 150ms")
        .replace("{$CLEANCAST_NAMES} {", "{$CLEANCAST_NAMES} {\n\ttls internal")
        .replace("https:// {", `https://:${port} {`);
      const { env, ...rest } = configureCaddy(program, folder, withCaddyOptions(config));
      const own = { CLEANCAST_NAMES: `https://shop.example.com:${port}`, CLEANCAST_NODES: nodes.join(" ") };
      return { ...rest, env: { ...env, ...own } };
    },
  },
  nginx: {
    drainSeconds: "0",
    backAfterMs: 0,
    configure(program, { port, nodes, folder }) {
      const config = readFileSync(file("docs/examples/nginx-nodes.conf"), "utf8")
        .replace("listen 443 ssl", `listen 127.0.0.1:${port} ssl`)
        .replace("10.0.0.11:8080", nodes[0])
        .replace("10.0.0.12:8080", nodes[1])
        .replace(/ssl_certificate +\S+;/, `ssl_certificate ${file("test/fixtures/tls-cert.pem")};`)
        .replace(/ssl_certificate_key +\S+;/, `ssl_certificate_key ${file("test/fixtures/tls-key.pem")};`);
      return configureNginx(program, folder, config);
    },
  },
};

function postThrough(
  agent: Agent,
  port: number,
  key: string,
  event: unknown,
  host = "shop.example.com",
): Promise<Pick<Answer, "status" | "text">> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        host: "127.0.0.1",
        port,
        servername: "shop.example.com",
        rejectUnauthorized: false,
        agent,
        method: "POST",
        path: "/__cc/inbound",
        headers: { Host: host, "X-CC-Api-Key": key, "Content-Type": "application/json" },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (part: string) => (text += part));
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
        response.on("error", reject);
      },
    );
    asked.on("error", reject).end(JSON.stringify(event));
  });
}

const isReady = (relay: Relay) =>
  call(relay.url, { method: "GET", path: "/readyz" }).then(
    ({ status }) => status === 200,
    () => false,
  );

describe.concurrent.each(Object.entries(setups))("a rolling restart behind %s", (name, setup) => {
  const program = findProgram(name);

  test.skipIf(!program)(
    "two nodes are restarted twice under load: no request fails, no event is lost, none is sent twice",
    async () => {
      const home = await newInstallation("postgres", {
        CLEANCAST_DRAIN_SECONDS: setup.drainSeconds,
        LOG_LEVEL: "error",
      });
      const receiver = await startReceiver();
      const { key } = await setUpSite(home, [["webhook", { url: receiver.url }]]);
      const ports = [await freePort(), await freePort()] as const;
      const start = (port: number) => home.start({ PORT: String(port) });
      const nodes = await Promise.all(ports.map(start));
      const site: Site = {
        port: await freePort(),
        nodes: [`127.0.0.1:${ports[0]}`, `127.0.0.1:${ports[1]}`],
        folder: freshFolder(),
      };
      startProxy(setup.configure(program as string, site));
      const agent = new Agent({ keepAlive: true, maxSockets: senders });
      const send = (event: unknown) => postThrough(agent, site.port, key, event);
      await eventually("the proxy answers", () =>
        send({ email: "first@example.com", event: "lead" }).then(
          ({ status }) => status === 200,
          () => false,
        ),
      );

      // For a host that the proxy does not know, the relay answers instead of the proxy.
      const elsewhere = await postThrough(agent, site.port, "cc_wrong", {}, "pages.example.org");
      expect(elsewhere).toEqual({ status: 401, text: '{"ok":false,"error":"Invalid API key"}' });

      let sent = 1;
      let restarting = true;
      const failed: string[] = [];
      const load = Array.from({ length: senders }, async () => {
        while (restarting) {
          const n = sent++;
          // Half of the events have an order id; the others are deduplicated by their fields.
          const event = {
            email: `p${n}@example.com`,
            event: "purchase",
            ...(n % 2 && { orderId: `order-${n}` }),
          };
          const answer = await send(event).catch((error: Error) => ({ status: 0, text: error.message }));
          if (answer.status !== 200 || !answer.text.startsWith('{"ok":true,')) failed.push(JSON.stringify(answer));
          await sleep(pauseMs);
        }
      });

      for (const at of [0, 1, 0, 1]) {
        const before = sent;
        await sleep(200);
        const node = nodes[at] as Relay;
        const stopped = node.stop();
        // A second SIGTERM does not make the stop less graceful.
        setTimeout(() => node.process.kill("SIGTERM"), 50);
        expect(await stopped).toBe(0);
        nodes[at] = await start(ports[at] as number);
        await eventually("the node is ready", () => isReady(nodes[at] as Relay));
        await sleep(setup.backAfterMs);
        expect(sent).toBeGreaterThan(before + senders);
      }
      restarting = false;
      await Promise.all(load);
      agent.destroy();
      expect(failed).toEqual([]);

      await eventually("everything is delivered", async () => {
        const states = await deliveryStates(home);
        return Object.keys(states).join() === "sent";
      });
      const events = await rows(home, `SELECT id FROM events`);
      expect(events).toHaveLength(sent);
      expect(await deliveryStates(home)).toEqual({ sent });
      const arrived = receiver.bodies().map((body) => String(body.platformEventId));
      expect(new Set(arrived).size).toBe(sent);
      expect(arrived).toHaveLength(sent);
      for (const node of nodes) expect(await node.stop()).toBe(0);
      for (const node of nodes) expect(node.output()).not.toContain('"level":50');
    },
  );
});
