import { setTimeout as sleep } from "node:timers/promises";
import Fastify from "fastify";
import { expect, test } from "vitest";
import { operator, type Actor } from "../access/actor.ts";
import type { RouteName } from "../contract/contract.ts";
import type { Directory } from "../sites/directory.ts";
import { PostgresError } from "../store/engine/postgres/errors.ts";
import type { Handlers } from "./call.ts";
import { createRouter } from "./router.ts";

function serve(handlers: Partial<Record<RouteName, () => Promise<unknown>>>, actor: Actor | null) {
  const defects: unknown[] = [];
  const router = createRouter({
    handlers: handlers as Handlers<RouteName>,
    directory: { site: (id: string) => ({ id }) } as unknown as Directory,
    transport: { trusted: () => true, requireTls: false },
    actorOf: async () => actor,
    now: Date.now,
    onDefect: (error) => defects.push(error),
  });
  const app = Fastify();
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
