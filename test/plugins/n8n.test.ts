// Runs the n8n node with a double of n8n's functions and real HTTP, against a real relay and a misbehaving peer.

import { createRequire } from "node:module";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { startPeer } from "../clients/misbehavingPeer.ts";
import { root } from "../support/documents/documents.ts";
import { call, newInstallation, type Relay } from "../support/relay.ts";

type Json = Record<string, unknown>;
type Request = { url: string; body: unknown; method: string };
type Node = { execute(this: unknown): Promise<{ json: Json; pairedItem: { item: number } }[][]> };

const load = createRequire(import.meta.url);
const folder = join(root, "plugins/n8n");
const manifest = load(join(folder, "package.json")) as {
  n8n: { nodes: string[]; credentials: string[] };
  [name: string]: unknown;
};
const { Cleancast } = load(join(folder, manifest.n8n.nodes[0] ?? "")) as { Cleancast: new () => Node };

let relay: Relay;
let key: string;

beforeAll(async () => {
  const home = await newInstallation("sqlite");
  ({ key } = await home.addSite("shop.example.com"));
  await home.run("connection", "add", "shop.example.com", "sandbox");
  relay = await home.start();
});

/** Runs the node with the parameters of each item, as n8n resolves them. */
async function run(url: string, items: Json[], continues = false): Promise<Json[]> {
  const context = {
    getInputData: () => items.map((json) => ({ json })),
    getNodeParameter: (name: string, i: number, fallback: unknown) => items[i]?.[name] ?? fallback,
    getCredentials: async () => ({ url, key }),
    continueOnFail: () => continues,
    helpers: {
      httpRequestWithAuthentication: async (_credentials: string, request: Request) => {
        const { status, headers, text } = await call(request.url, {
          path: new URL(request.url).pathname,
          method: request.method,
          headers: { "X-CC-Api-Key": key, "Content-Type": "application/json" },
          body: JSON.stringify(request.body),
        });
        const isJson = /^[[{]/.test(text);
        return { statusCode: status, headers, body: isJson ? (JSON.parse(text) as unknown) : text };
      },
    },
  };
  const [out = []] = await new Cleancast().execute.call(context);
  expect(out.map(({ pairedItem }) => pairedItem.item)).toEqual(items.map((_, i) => i));
  return out.map(({ json }) => json);
}

const item = (orderId: string) => ({ event: "purchase", email: "ada@example.com", orderId, value: "49.90" });
const accepted = { ok: true, event: "purchase", results: { sandbox: { ok: true } } };

describe("the n8n node", () => {
  test("the files that the package names exist, and it has no dependencies", () => {
    for (const path of [...manifest.n8n.nodes, ...manifest.n8n.credentials])
      expect(load(join(folder, path))).toBeTypeOf("object");
    // Types for development are the only ones.
    expect(Object.keys(manifest).filter((name) => /dependencies/i.test(name))).toEqual(["devDependencies"]);
  });

  test("items are sent in one batch, with the value as a number, and the relay's answers come out in order", async () => {
    expect(await run(relay.url, [item("n8n-1"), item("n8n-2"), item("n8n-1")])).toEqual([
      accepted,
      accepted,
      { ok: true, deduped: true },
    ]);
  });

  test("items of an order, a hashed email and the id of a refund are sent", async () => {
    const peer = await startPeer([{ accept: true }]);
    const items = [{ id: "SKU-1", price: 9.95, quantity: 2 }];
    const hashed = { hashed_email: "a".repeat(64) };
    const more = { ...hashed, refundId: "R-1", items: JSON.stringify(items) };
    expect(await run(peer.url, [{ ...item("n8n-9"), email: "", more }])).toEqual([accepted]);
    const [body] = peer.bodies() as [{ events: Json[] }];
    expect(body.events).toEqual([{ event: "purchase", orderId: "n8n-9", value: 49.9, ...hashed, refundId: "R-1", items }]);
    const given = { ...item("n8n-10"), more: { items } };
    expect(await run(relay.url, [given])).toEqual([accepted]);
    await expect(run(relay.url, [{ ...given, more: { items: "SKU-1" } }])).rejects.toThrow("Items must be a list such as");
  });

  test("a relay that cannot be reached is named with the cause", async () => {
    // Retry-After of nothing is a second, and the node gives up after five attempts.
    const why = run("http://127.0.0.1:1", [item("n8n-11")]);
    await expect(why).rejects.toThrow("no answer: connection refused");
  });

  test("a refused item fails the node with its number, or comes out if the node continues", async () => {
    const items = [item("n8n-3"), { ...item("n8n-4"), email: "" }];
    await expect(run(relay.url, items)).rejects.toThrow("Cleancast, item 1: 400 email or hashed_email required");
    expect(await run(relay.url, items, true)).toEqual([
      { ok: true, deduped: true },
      { ok: false, status: 400, error: "email or hashed_email required" },
    ]);
  });

  test("a value that is no number is refused before anything is sent", async () => {
    const peer = await startPeer([{ accept: true }]);
    await expect(run(peer.url, [{ ...item("n8n-5"), value: "49,90 €" }])).rejects.toThrow(
      "Cleancast, item 0: Value must be a number such as 49.90",
    );
    expect(peer.got).toEqual([]);
  });

  test("a temporary failure is repeated, and a wait that is too long ends the attempts", async () => {
    const peer = await startPeer([{ status: 503, body: "down" }, { accept: true }]);
    expect(await run(peer.url, [item("n8n-6")])).toEqual([accepted]);
    const limited = await startPeer([
      { status: 429, headers: { "Retry-After": "3600" }, body: { ok: false, error: "Rate limit exceeded" } },
    ]);
    await expect(run(limited.url, [item("n8n-7")])).rejects.toThrow("429 Rate limit exceeded");
    expect(limited.got).toHaveLength(1);
  });
});
