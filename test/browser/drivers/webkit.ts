// WebKit for tests: Debian's WebKitWebDriver with its MiniBrowser, on a virtual display. The few commands that the stories
// need are sent over the W3C WebDriver protocol directly: the clients for it bring programs that download browsers.

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { globSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import type { Readable } from "node:stream";
import { afterFile, takeAll } from "../../support/afterFile.ts";
import { eventually } from "../../support/relay.ts";
import { findOnPath, type Machine } from "../launch.ts";
import type { Tab } from "./tab.ts";

type Programs = { driver: string; display: string; browser: string };

/** Debian's packages install the browser outside the PATH. */
const browserPattern = "/usr/lib/*/webkit2gtk-4.*/MiniBrowser";

export function findWebKit(env: Machine["env"], pattern = browserPattern): Programs | { missing: string } {
  const driver = findOnPath(["WebKitWebDriver"], env);
  const display = findOnPath(["Xvfb"], env);
  const browser = globSync(pattern).toSorted().at(-1);
  if (driver && display && browser) return { driver, display, browser };
  const lacking = [!driver && "WebKitWebDriver", !display && "Xvfb", !browser && "MiniBrowser"].filter(Boolean);
  const remedy = "install Debian's webkit2gtk-driver and xvfb (apt-get install webkit2gtk-driver xvfb)";
  return { missing: `${lacking.join(", ")} not found: ${remedy}` };
}

const found = findWebKit(process.env);
export const whyNoWebKit = "missing" in found ? found.missing : null;

const sessions = new Set<() => Promise<unknown>>();
const processes = new Set<ChildProcess>();
const proxies = new Set<Server>();

afterFile(async () => {
  for (const endSession of takeAll(sessions)) await endSession();
  for (const child of takeAll(processes).toReversed()) {
    const ended = once(child, "exit");
    if (child.exitCode === null && child.kill()) await ended;
  }
  for (const proxy of takeAll(proxies)) {
    proxy.closeAllConnections();
    proxy.close();
  }
});

function start(program: string, args: string[], env: Record<string, string> = {}): ChildProcess {
  const stdio = ["ignore", "ignore", "ignore", "pipe"] as const;
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: [...stdio] });
  processes.add(child);
  return child;
}

/** Starts a display with a free number, which the program chooses and writes to its fourth stream. */
async function startDisplay(program: string): Promise<string> {
  const child = start(program, ["-displayfd", "3", "-screen", "0", "1280x900x24", "-nolisten", "tcp"]);
  const [number] = await once(child.stdio[3] as Readable, "data");
  return `:${String(number).trim()}`;
}

/** Starts a proxy that takes every name for this machine: the browser has no resolver rules of its own. */
async function startProxy(): Promise<number> {
  const proxy = createServer((_request, response) => response.writeHead(502).end());
  proxy.on("connect", (request, socket) => {
    const upstream = connect(Number(request.url?.split(":")[1]), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on("error", () => socket.destroy());
    socket.on("error", () => upstream.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  proxies.add(proxy);
  return (proxy.address() as AddressInfo).port;
}

async function findFreePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

type Command = (method: "GET" | "POST" | "DELETE", path: string, body?: object) => Promise<unknown>;

/** Starts the driver and a session, and returns a function that sends commands to the session. */
async function startSession(programs: Programs): Promise<Command> {
  const [display, proxyPort, port] = await Promise.all([startDisplay(programs.display), startProxy(), findFreePort()]);
  start(programs.driver, [`--port=${port}`, "--host=127.0.0.1"], { DISPLAY: display, GDK_BACKEND: "x11" });
  const command: Command = async (method, path, body) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: unknown };
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  };
  await eventually("the driver listens", () =>
    command("GET", "/status").then(
      () => true,
      () => false,
    ),
  );
  const { sessionId } = (await command("POST", "/session", {
    capabilities: {
      alwaysMatch: {
        // The certificate of the test sites is self-signed.
        acceptInsecureCerts: true,
        "webkitgtk:browserOptions": {
          binary: programs.browser,
          args: ["--automation", `--proxy=http://127.0.0.1:${proxyPort}`],
        },
      },
    },
  })) as { sessionId: string };
  const session = `/session/${sessionId}`;
  sessions.add(() => command("DELETE", session));
  return (method, path, body) => command(method, session + path, body);
}

/** Each tab has its own browser, because a driver has one session. */
export async function openWebKitTab(): Promise<Tab> {
  if ("missing" in found) throw new Error(found.missing);
  const send = await startSession(found);
  const onElement = async (selector: string, action: string, body: object) => {
    const element = await send("POST", "/element", { using: "css selector", value: selector });
    await send("POST", `/element/${Object.values(element as object)[0]}/${action}`, body);
  };
  return {
    open: async (url) => void (await send("POST", "/url", { url })),
    async fill(selector, text) {
      await onElement(selector, "clear", {});
      await onElement(selector, "value", { text });
    },
    click: (selector) => onElement(selector, "click", {}),
    async run(expression) {
      const script = `const done = arguments[0];
        Promise.resolve().then(() => (${expression})).then((value) => done({ value }), (error) => done({ error: String(error) }))`;
      const { value, error } = (await send("POST", "/execute/async", { script, args: [] })) as {
        value?: unknown;
        error?: string;
      };
      if (error) throw new Error(error);
      return value;
    },
  };
}
