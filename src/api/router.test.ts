import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import Fastify from "fastify";
import { expect, test } from "vitest";
import { operator, type Actor } from "../access/actor.ts";
import type { RouteName } from "../contract/contract.ts";
import type { Directory } from "../sites/directory.ts";
import { PostgresError } from "../store/engine/postgres/errors.ts";
import { createLoad } from "../inbound/load.ts";
import { createAdmission } from "./admission.ts";
import type { Handlers } from "./call.ts";
import { createRouter } from "./router.ts";

function serve(handlers: Partial<Record<RouteName, () => Promise<unknown>>>, actor: Actor | null, units = 64) {
  const defects: unknown[] = [];
  const router = createRouter({
    handlers: handlers as Handlers<RouteName>,
    directory: { site: (id: string) => ({ id }) } as unknown as Directory,
    transport: { trusted: () => true, requireTls: false },
    admission: createAdmission({ members: createLoad(units), strangers: createLoad(units) }),
    actorOf: async () => actor,
    now: Date.now,
    onDefect: (error) => defects.push(error),
  });
  const app = Fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _payload, done) => done(null));
  app.all("/api/v1/*", (request, reply) => router.answer(request, reply));
  return { app, defects };
}

async function ask(
  path: string,
  handle: () => Promise<unknown>,
  asked: { method?: "GET" | "DELETE"; headers?: Record<string, string> } = {},
) {
  const { app, defects } = serve({ "GET /session": handle, "DELETE /session": handle }, null);
  const response = await app.inject({ url: path, ...asked });
  return { response, code: response.json<{ error: { code: string } }>().error.code, defects };
}

test("a store that is away for a moment is answered with 503 and Retry-After, so that callers ask again", async () => {
  const { response, code, defects } = await ask("/api/v1/session", () =>
    Promise.reject(new PostgresError("57P01", "terminating connection")),
  );
  expect([response.statusCode, response.headers["retry-after"], code]).toEqual([503, "1", "unavailable"]);
  expect(defects).toHaveLength(1);
});

test("a defect is answered with 500, because asking again would not help", async () => {
  const { response, code } = await ask("/api/v1/session", () => Promise.reject(new Error("a defect")));
  expect([response.statusCode, response.headers["retry-after"], code]).toEqual([500, undefined, "internal"]);
});

test("a file whose rows cannot all be read ends with a broken connection, and the cause is reported", async () => {
  async function* lines() {
    yield "first line\n";
    await sleep(50);
    throw new Error("the database is away");
  }
  const { app, defects } = serve({ "GET /sites/:site/events.csv": async () => lines() }, operator);
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  try {
    const answer = await fetch(`${address}/api/v1/sites/s1/events.csv`);
    expect(answer.status).toBe(200);
    await expect(answer.text()).rejects.toThrow("terminated");
    expect(defects.map(String)).toEqual(["Error: the database is away"]);
  } finally {
    await app.close();
  }
});

test.each(["%00", "%01", "%02"])("the control character %s in an address is refused", async (character) => {
  const { response } = await ask(`/api/v1/session?a=${character}`, async () => ({}));
  expect(response.statusCode).toBe(400);
});

test.each([
  [{ origin: "https://relay.example", "x-forwarded-proto": "https" }, "signed_out"],
  [{ origin: "http://relay.example", "x-forwarded-proto": "https" }, "forbidden"],
  [{ origin: "https://other.example", "x-forwarded-proto": "https" }, "forbidden"],
  [{ origin: "null", "x-forwarded-proto": "https" }, "forbidden"],
  // A proxy on the same machine that forwards no scheme.
  [{ origin: "https://relay.example" }, "signed_out"],
  [{ origin: "http://relay.example" }, "signed_out"],
])("a change with the headers %j is answered %s", async (headers, expected) => {
  const request = { method: "DELETE", headers: { host: "relay.example", ...headers } } as const;
  expect((await ask("/api/v1/session", async () => ({}), request)).code).toBe(expected);
});

const sitePath = (site: string) => `/api/v1/sites/${site}/contents`;

test("of a site so many calls are answered at a time, and the others wait, with no regard to those of other sites", async () => {
  const begun: (() => void)[] = [];
  const handle = () => new Promise<object>((resolve) => begun.push(() => resolve({})));
  const { app } = serve({ "GET /sites/:site/contents": handle, "DELETE /sites/:site": handle }, operator);
  const read = (site: string) => app.inject(sitePath(site));
  const reads = Array.from({ length: 10 }, () => read("s1"));
  await expect.poll(() => begun.length).toBe(6);
  const changes = Array.from({ length: 10 }, () => app.inject({ method: "DELETE", url: "/api/v1/sites/s1?confirm=host" }));
  await expect.poll(() => begun.length).toBe(10);
  const other = read("s2");
  await expect.poll(() => begun.length).toBe(11);
  for (let answered = 0; answered < 21; answered += 1) {
    await expect.poll(() => begun.length).toBeGreaterThan(0);
    begun.shift()?.();
  }
  const answers = await Promise.all([...reads, ...changes, other]);
  expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(21).fill(200));
});

test("beyond two hundred calls of a site that wait, more are refused with Retry-After", async () => {
  const end = Promise.withResolvers<object>();
  const { app } = serve({ "GET /sites/:site/contents": () => end.promise }, operator);
  const refused: unknown[] = [];
  const calls = Array.from({ length: 210 }, async () => {
    const { statusCode, headers, body } = await app.inject(sitePath("s1"));
    if (statusCode !== 200) refused.push([statusCode, headers["retry-after"], JSON.parse(body).error.code]);
  });
  await expect.poll(() => refused).toEqual(Array.from({ length: 4 }, () => [429, "1", "too_many"]));
  end.resolve({});
  await Promise.all(calls);
  expect(refused).toHaveLength(4);
});

test("of several calls that come at once, each begins in a turn of the event loop of its own", async () => {
  let turn = 0;
  let isOver = false;
  const countTurns = () => {
    turn += 1;
    if (!isOver) setImmediate(countTurns);
  };
  countTurns();
  const turns: number[] = [];
  const handle = async () => {
    turns.push(turn);
    for (const until = performance.now() + 3; performance.now() < until;);
    return {};
  };
  const { app } = serve({ "GET /sites/:site/contents": handle }, operator);
  await Promise.all(Array.from({ length: 6 }, () => app.inject(sitePath("s1"))));
  isOver = true;
  expect(new Set(turns).size).toBe(6);
});

/** Sends all of a body but its last byte. */
async function sendHalf(
  address: string,
  path: string,
  bytes: number,
  type: string,
): Promise<{ socket: Socket; answer: Promise<string> }> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname).on("error", () => {});
  const answer = Promise.race([once(socket, "data").then(([data]) => String(data)), once(socket, "close").then(() => "")]);
  const head = `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n`;
  await new Promise((resolve) => socket.write(head + "x".repeat(bytes - 1), resolve));
  return { socket, answer };
}

test.each([
  ["without sign-in", null, "/api/v1/session", 16 * 1024 - 1, "application/json", { "POST /session": async () => ({}) }],
  [
    "of a site",
    operator,
    "/api/v1/sites/s1/orders/upload",
    256 * 1024,
    "text/csv",
    { "POST /sites/:site/orders/upload": async () => ({}) },
  ],
] as const)(
  "half-sent bodies %s take a bounded memory, and the next ones are refused",
  async (_whose, actor, path, bytes, type, handlers) => {
    const { app } = serve(handlers, actor, 4);
    const address = await app.listen({ host: "127.0.0.1", port: 0 });
    const sent = await Promise.all(Array.from({ length: 40 }, () => sendHalf(address, path, bytes, type)));
    const refused = await Promise.race(sent.map(({ answer }) => answer));
    expect(refused).toMatch(/^HTTP\/1.1 429 .*retry-after: 1\r\n/s);
    // What they held is given back.
    for (const { socket } of sent) socket.destroy();
    const whole = () =>
      fetch(`${address}${path}`, { method: "POST", headers: { "content-type": type }, body: type === "text/csv" ? "a" : "{}" });
    await expect.poll(async () => (await whole()).status).not.toBe(429);
    await app.close();
  },
);

test("a body without sign-in has at most 16 KiB", async () => {
  const { app } = serve({ "POST /session": async () => ({}) }, null);
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  const signIn = async (password: string) => {
    const body = JSON.stringify({ email: "a@example.com", password });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${address}/api/v1/session`, { method: "POST", headers, body });
    return [answer.status, await answer.json()];
  };
  expect(await signIn("short")).toEqual([200, {}]);
  expect(await signIn("x".repeat(17_000))).toMatchObject([400, { error: { message: "The body is larger than 16 KiB." } }]);
  await app.close();
});

test("answers that nobody takes count as held, and the next ones are refused until their connections end", async () => {
  const large = { text: "x".repeat(20_000_000) };
  const { app } = serve({ "GET /sites/:site/contents": async () => large }, operator, 2);
  const address = await app.listen({ host: "127.0.0.1", port: 0 });
  const { hostname, port } = new URL(address);
  const idle = Array.from({ length: 2 }, () =>
    connect(Number(port), hostname)
      .on("error", () => {})
      .pause(),
  );
  for (const socket of idle) socket.write(`GET ${sitePath("s1")} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  const statusOf = async () => {
    const answer = await fetch(address + sitePath("s1"));
    await answer.bytes();
    return answer.status;
  };
  await expect.poll(statusOf).toBe(429);
  for (const socket of idle) socket.destroy();
  await expect.poll(statusOf).toBe(200);
  await app.close();
});
