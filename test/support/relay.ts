// Starts real relays: each with its own process and store, over real HTTP. They end with the test file.

import { execFile, spawn, type ChildProcess, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request as httpRequest, type Agent, type IncomingHttpHeaders } from "node:http";
import { request as httpsRequest } from "node:https";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterFile, takeAll } from "./afterFile.ts";
import { commandIn } from "./commands.ts";
import { checkSentences } from "./sentences.ts";
import { freshDatabase, freshFolder, migratedDatabase } from "./databases.ts";

/** The file that `npx cleancast` runs. */
export const command = fileURLToPath(new URL("../../bin/cleancast.mjs", import.meta.url));
const execute = promisify(execFile);

export const engines = ["sqlite", "postgres"] as const;
export type Engine = (typeof engines)[number];

/**
 * For promises that a relay keeps with the same statements on either engine: src/store runs those on both, so end to end one
 * engine is enough. TEST_ENGINES=all runs them on PostgreSQL too, as the long tests do.
 */
export const endToEndEngines: readonly Engine[] = process.env["TEST_ENGINES"] === "all" ? engines : ["sqlite"];

/** A data folder and settings, which several relays and commands may share. */
export class Installation {
  readonly engine: Engine;
  readonly env: Record<string, string>;

  constructor(engine: Engine, env: Record<string, string>) {
    this.engine = engine;
    this.env = env;
  }

  /** Returns the same installation with other settings. */
  with(env: Record<string, string>): Installation {
    return new Installation(this.engine, { ...this.env, ...env });
  }

  start(env: Record<string, string> = {}, program = command, options: readonly string[] = [], folder?: string): Promise<Relay> {
    return startRelay({ ...this.env, ...env }, program, options, folder);
  }

  /** Runs `cleancast … --json` and returns the parsed output. All commands of a worker share a process: 10 ms instead of 400. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the shape differs with the command and is asserted by tests
  async run(...args: string[]): Promise<any> {
    const { out, err } = await commandIn({ args: ["--json", ...args], env: this.env });
    if (out === "") throw new Error(`cleancast ${args.join(" ")} failed: ${err}`);
    return JSON.parse(out);
  }

  /** Runs a command that must fail and returns its parsed error. */
  async fails(...args: string[]): Promise<CommandError> {
    const { out, err, code } = await commandIn({ args: ["--json", ...args], env: this.env });
    if (code === 0 || out !== "") throw new Error(`cleancast ${args.join(" ")} did not fail: ${out}`);
    return commandError(err);
  }

  /** Runs a command and returns its exit code. */
  async exitCode(...args: string[]): Promise<number> {
    return (await commandIn({ args: ["--json", ...args], env: this.env })).code;
  }

  /** Runs a command and returns the text that it prints for people. */
  async print(...args: string[]): Promise<string> {
    return (await commandIn({ args, env: this.env })).out;
  }

  /** As run(), in a process of its own. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  async spawn(...args: string[]): Promise<any> {
    const { stdout } = await execute(process.execPath, [command, "--json", ...args], { env: this.env });
    return JSON.parse(stdout);
  }

  /** As fails(), in a process of its own. */
  async spawnFails(...args: string[]): Promise<CommandError> {
    try {
      await execute(process.execPath, [command, "--json", ...args], { env: this.env });
    } catch (error) {
      return commandError((error as { stderr: string }).stderr);
    }
    throw new Error(`cleancast ${args.join(" ")} did not fail`);
  }

  /** Starts a command in a process of its own, which ends with the test file at the latest. */
  launch(...args: string[]): Launched {
    const child = spawn(process.execPath, [command, ...args], { env: this.env });
    running.add(child);
    const printed = { out: "", err: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => (printed.out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (printed.err += text));
    return { child, printed, ended: once(child, "close").then(() => child.exitCode) };
  }

  /** Adds a site with a key and, where given, settings such as `dedup_order=30d`. */
  async addSite(host: string, ...settings: string[]): Promise<TestSite> {
    const site = await this.run("site", "add", host);
    const { key } = await this.run("key", "add", host, "test sender");
    if (settings.length) await this.run("site", "set", host, ...settings);
    return { id: site.id, host, key };
  }
}

type Launched = {
  child: ChildProcessWithoutNullStreams;
  printed: { out: string; err: string };
  /** Resolves with the exit code; null after a signal. */
  ended: Promise<number | null>;
};
type CommandError = { error: string; field?: string; code: string };

function commandError(text: string): CommandError {
  const { message, ...rest } = JSON.parse(text).error;
  return { error: message, ...rest };
}

export type TestSite = { id: string; host: string; key: string };

export function newInstallation(engine: Engine, env: Record<string, string> = {}): Promise<Installation> {
  return installationOn(migratedDatabase, engine, env);
}

/** Creates an installation whose PostgreSQL has no tables yet, for a first start and other tests that create them. */
export function emptyInstallation(engine: Engine, env: Record<string, string> = {}): Promise<Installation> {
  return installationOn(freshDatabase, engine, env);
}

/** A starved machine makes a test slow, not red: unless a test is about them, the relay's limits are far away. */
const patientTimes = {
  CLEANCAST_ANSWER_SECONDS: "40",
  CLEANCAST_ATTEMPT_SECONDS: "30",
  CLEANCAST_LEASE_SECONDS: "90",
};

async function installationOn(
  makeDatabase: () => Promise<string>,
  engine: Engine,
  env: Record<string, string>,
): Promise<Installation> {
  const own: Record<string, string> = {
    PATH: process.env.PATH ?? "",
    CLEANCAST_DATA: freshFolder(),
    HOST: "127.0.0.1",
    PORT: "0",
    CLEANCAST_ALLOW_PRIVATE: "127.0.0.0/8,::1,localhost",
    // Background work looks for something to do ten times as often as it does otherwise, so that tests wait less for it.
    CLEANCAST_TICK_MS: "100",
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? "",
    ...(Object.keys(patientTimes).some((name) => name in env) ? {} : patientTimes),
    ...env,
  };
  if (engine === "postgres") {
    own.DATABASE_URL = await makeDatabase();
    own.CLEANCAST_ENCRYPTION_KEY = "5a".repeat(32);
  }
  return new Installation(engine, own);
}

export type Relay = {
  url: string;
  /** Posts one event with a key. */
  post(key: string, event: unknown, headers?: Record<string, string>): Promise<Answer>;
  /** The key that the first start printed; empty on later starts. */
  key: string;
  process: ChildProcess;
  /** Returns everything that was printed so far, logs included. */
  output(): string;
  /** Sends SIGKILL, and resolves when the process has ended. */
  kill(): Promise<void>;
  /** Sends SIGTERM, and resolves with the exit code. */
  stop(): Promise<number | null>;
};

/** Returns the resident memory of a relay in megabytes. */
export function residentMb({ process: { pid } }: Relay): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024;
}

const running = new Set<ChildProcess>();

afterFile(async () => {
  for (const child of takeAll(running)) await end(child, "SIGKILL");
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

/** `program` may be the build of another version; it runs in the folder of the tests unless another is given. */
async function startRelay(
  env: Record<string, string>,
  program: string,
  options: readonly string[],
  folder?: string,
): Promise<Relay> {
  const child = spawn(process.execPath, [program, "serve", ...options], { env, cwd: folder });
  running.add(child);
  let output = "";
  const ready = new Promise<void>((resolve, reject) => {
    child.on("close", () => reject(new Error(`the relay ended:\n${output}`)));
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        // The relay prints everything in one piece when it listens.
        if (/is running on https?:/.test(output)) resolve();
      });
    }
  });
  await ready;
  const url = (/is running on (https?:\S+)/.exec(output)?.[1] ?? "").replace("localhost", "127.0.0.1");
  return {
    url,
    post: (key, event, headers) => post(url, key, event, headers),
    key: /X-CC-Api-Key: (\w+)/.exec(output)?.[1] ?? "",
    process: child,
    output: () => output,
    kill: async () => void (await end(child, "SIGKILL")),
    stop: () => end(child, "SIGTERM"),
  };
}

export type Answer = { status: number; headers: IncomingHttpHeaders; text: string };

/** Sends one HTTP request byte for byte as given: no client adds or changes headers. */
export function call(
  url: string,
  options: {
    method?: string;
    path?: string;
    headers?: Record<string, string>;
    body?: string | Buffer;
    /** The certificate to trust, for an https address. */
    ca?: Buffer;
    /** A new connection is made unless given. */
    agent?: Agent | false;
  } = {},
): Promise<Answer> {
  const answered = new Promise<Answer>((resolve, reject) => {
    const { method = "POST", path = "/__cc/inbound", headers = {}, body, ca, agent = false } = options;
    const send = url.startsWith("https:") ? httpsRequest : httpRequest;
    const outgoing = send(new URL(path, url), { method, headers, agent, ca }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => {
        const text = Buffer.concat(parts).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
      });
      response.on("error", reject);
    });
    outgoing.on("error", reject);
    outgoing.end(body);
  });
  return answered.then((answer) => {
    // Compressed bytes may look like anything.
    if (!answer.headers["content-encoding"]) checkSentences(answer.text);
    return answer;
  });
}

/** Posts one event with a key. */
export function post(
  url: string,
  key: string,
  event: unknown,
  headers: Record<string, string> = {},
  agent: Agent | false = false,
): Promise<Answer> {
  return call(url, {
    agent,
    headers: { "X-CC-Api-Key": key, "Content-Type": "application/json", ...headers },
    body: typeof event === "string" ? event : JSON.stringify(event),
  });
}

/**
 * Polls until `check` returns true; fails with `what` after `seconds`. The pauses grow, because a check often runs a command,
 * and frequent checks would slow down the relay that they wait for.
 */
export async function eventually(what: string, check: () => boolean | Promise<boolean>, seconds = 240): Promise<void> {
  const began = performance.now();
  while (!(await check())) {
    const passedMs = performance.now() - began;
    if (passedMs > seconds * 1000) throw new Error(`not within ${seconds} s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, Math.min(Math.max(25, passedMs / 5), 250)));
  }
}
