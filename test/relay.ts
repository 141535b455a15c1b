// A real relay for tests: its own process, its own store, real HTTP. Ends with the test file.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { request as httpRequest, type IncomingHttpHeaders } from "node:http";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll } from "vitest";
import { freshDatabase, freshFolder } from "./databases.ts";

const command = fileURLToPath(new URL("../bin/cleancast.mjs", import.meta.url));
const run = promisify(execFile);

export const engines = ["sqlite", "postgres"] as const;
export type Engine = (typeof engines)[number];

/** Where an installation lives; several relays and commands may share it. */
export type Home = { env: Record<string, string>; engine: Engine };

export async function newHome(engine: Engine, env: Record<string, string> = {}): Promise<Home> {
  const home: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    CLEANCAST_DATA: freshFolder(),
    HOST: "127.0.0.1",
    PORT: "0",
    CLEANCAST_ALLOW_PRIVATE: "127.0.0.0/8,::1,localhost",
    ...env,
  };
  if (engine === "postgres") {
    home.DATABASE_URL = await freshDatabase();
    home.CLEANCAST_ENCRYPTION_KEY = "5a".repeat(32);
  }
  return { env: home, engine };
}

export type Relay = {
  url: string;
  /** The key that the first start printed; empty on later starts. */
  key: string;
  process: ChildProcess;
  /** Everything that was printed so far, logs included. */
  output(): string;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
};

const running = new Set<ChildProcess>();

afterAll(async () => {
  for (const child of running) await end(child, "SIGKILL");
});

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
  running.delete(child);
  return child.exitCode;
}

export async function startRelay(home: Home, env: Record<string, string> = {}): Promise<Relay> {
  const child = spawn(process.execPath, [command, "serve"], { env: { ...home.env, ...env } });
  running.add(child);
  let output = "";
  const ready = new Promise<void>((resolve, reject) => {
    child.on("exit", () => reject(new Error(`the relay ended:\n${output}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        // The relay says all it has to say in one piece, when it listens.
        if (output.includes("is running on ")) resolve();
      });
    }
  });
  await ready;
  return {
    url: (/is running on (\S+)/.exec(output)?.[1] ?? "").replace("localhost", "127.0.0.1"),
    key: /X-CC-Api-Key: (\w+)/.exec(output)?.[1] ?? "",
    process: child,
    output: () => output,
    kill: async () => void (await end(child, "SIGKILL")),
    stop: () => end(child, "SIGTERM"),
  };
}

/** Runs `cleancast … --json` beside the server and returns what it printed. */
// oxlint-disable-next-line typescript/no-explicit-any -- the shape differs with the command and is asserted by tests
export async function cleancast(home: Home, ...args: string[]): Promise<any> {
  const { stdout } = await run(process.execPath, [command, "--json", ...args], { env: home.env });
  return JSON.parse(stdout);
}

/** Runs a command that is expected to fail and returns its parsed error. */
export async function refused(home: Home, ...args: string[]): Promise<{ error: string; field?: string }> {
  try {
    await run(process.execPath, [command, "--json", ...args], { env: home.env });
  } catch (error) {
    return JSON.parse((error as { stderr: string }).stderr);
  }
  throw new Error(`cleancast ${args.join(" ")} was expected to fail`);
}

export type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

/** One HTTP request, byte for byte as given: no client adds or changes headers. */
export function call(
  url: string,
  options: { method?: string; path?: string; headers?: Record<string, string>; body?: string | Buffer } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = "POST", path = "/__cc/inbound", headers = {}, body } = options;
    const outgoing = httpRequest(new URL(path, url), { method, headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text: Buffer.concat(parts).toString(),
        }),
      );
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
}

/** Posts one event with a key. */
export function post(
  relay: Pick<Relay, "url">,
  key: string,
  event: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return call(relay.url, {
    headers: { "X-CC-Api-Key": key, "Content-Type": "application/json", ...headers },
    body: typeof event === "string" ? event : JSON.stringify(event),
  });
}

/** Polls until `check` holds; fails with `what` after `seconds`. */
export async function eventually(
  what: string,
  check: () => boolean | Promise<boolean>,
  seconds = 20,
): Promise<void> {
  const latest = Date.now() + seconds * 1000;
  while (!(await check())) {
    if (Date.now() > latest) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
