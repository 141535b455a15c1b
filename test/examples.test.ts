// Runs the senders of the guides as their platforms would, against a real relay.

import { execFile, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { beforeAll, describe, expect, test } from "vitest";
import { freshFolder } from "./support/databases.ts";
import { newInstallation, type Installation, type Relay } from "./support/relay.ts";
import { acceptedOnce, busy, elsewhere, empty200, examples, hangUp, startFakeRelay } from "./support/servers/exampleSenders.ts";

const run = promisify(execFile);
const read = (name: string) => readFileSync(join(examples, name), "utf8");

let home: Installation;
let relay: Relay;
let key: string;
let inbound: string;

beforeAll(async () => {
  home = await newInstallation("sqlite");
  ({ key } = await home.addSite("shop.example.com"));
  await home.run("connection", "add", "shop.example.com", "sandbox");
  relay = await home.start();
  inbound = `${relay.url}/__cc/inbound`;
});

const accepted = (event: string) => ({ ok: true, event, results: { sandbox: { ok: true } } });

/** Lists the relay's events of an order: event, value and currency, newest first. */
async function known(orderId: string): Promise<[string, number, string][]> {
  const { items: events } = await home.run("event", "list", "--order", orderId);
  return events.map((one: { event: string; value: number; currency: string }) => [one.event, one.value, one.currency]);
}

/** Runs the code of a service in its own process. */
async function inNode(name: string, code: string): Promise<string> {
  const file = join(freshFolder(), name);
  writeFileSync(file, code);
  const { stdout } = await run(process.execPath, [file], { env: { ...process.env, CLEANCAST_KEY: key } });
  return stdout;
}

const withAddress = (url: string, code: string) => code.replaceAll("https://shop.example.com/__cc/inbound", url);

describe("Zapier's steps", () => {
  const input = () => ({ key, email: "ada@example.com", value: "49.90", currency: "EUR", order: "Z-1" });
  const step = (inputData: Record<string, string>, url = inbound) =>
    inNode(
      "step.mjs",
      `let output; const inputData = ${JSON.stringify(inputData)};\n${withAddress(url, read("zapier.js"))}\nconsole.log(JSON.stringify(output));`,
    );

  test("the Zapier code step sends an event and shows the results", async () => {
    expect(JSON.parse(await step(input()))).toEqual(accepted("purchase"));
    expect(await known("Z-1")).toEqual([["purchase", 49.9, "EUR"]]);
  });

  test("the Zapier code step fails when the relay refuses", async () => {
    await expect(step({ ...input(), key: "cc_wrong" })).rejects.toThrow(/Cleancast: 401/);
  });

  test("the Zapier code step fails when another server answers", async () => {
    const { url, asked } = await startFakeRelay(empty200, elsewhere);
    await expect(step(input(), url)).rejects.toThrow(/Cleancast: 302/);
    expect(asked.map(({ path }) => path)).toEqual(["/__cc/inbound", "/__cc/inbound"]);
  });

  test.concurrent.each([
    ["value", "1.234,50"],
    ["value", "49.90 €"],
    ["value", ""],
    ["order", ""],
    ["email", ""],
    ["currency", ""],
    ["key", ""],
  ])("the Zapier code step fails when %s is %j", async (name, value) => {
    const { url, asked } = await startFakeRelay(empty200);
    await expect(step({ ...input(), [name]: value }, url)).rejects.toThrow(new RegExp(`Cleancast: ${name} `));
    expect(asked).toEqual([]);
  });

  test("the Zapier code step outlives a restart of the relay", async () => {
    const { url, asked } = await startFakeRelay(hangUp, busy, acceptedOnce);
    expect(JSON.parse(await step(input(), url))).toEqual({ ok: true, event: "purchase", results: {} });
    expect(asked).toHaveLength(3);
  });

  test("the endpoint refuses Zapier's custom request without an amount", async () => {
    const body = read("zapier-body.txt").replaceAll(/{{(\w+)}}/g, (_, name: string) => (name === "total" ? "" : "x"));
    expect((await relay.post(key, body)).status).toBe(400);
  });

  test("the endpoint accepts the body of Zapier's custom request", async () => {
    const values: Record<string, string> = {
      email: "ada@example.com",
      total: "49.90",
      currency: "EUR",
      order: "Z-2",
    };
    const body = read("zapier-body.txt").replaceAll(/{{(\w+)}}/g, (_, name: string) => values[name] ?? "");
    expect(JSON.parse((await relay.post(key, body)).text)).toEqual(accepted("purchase"));
  });
});

test("the endpoint accepts the body of the Make scenario", async () => {
  const bundle: Record<string, string> = {
    email: "ada@example.com",
    total: "49.90",
    currency: "EUR",
    order: "M-1",
  };
  const body = read("make-body.txt")
    .replaceAll(/{{parseNumber\(1\.(\w+); "\."\)}}/g, (_, name: string) => String(Number(bundle[name])))
    .replaceAll(/{{1\.(\w+)}}/g, (_, name: string) => bundle[name] ?? "");
  expect(JSON.parse((await relay.post(key, body)).text)).toEqual(accepted("purchase"));
  expect(await known("M-1")).toEqual([["purchase", 49.9, "EUR"]]);
});

describe("the n8n workflow", () => {
  type Node = { name: string; type: string; parameters: Record<string, unknown> };
  const workflow = JSON.parse(read("n8n.json")) as {
    nodes: Node[];
    connections: Record<string, { main: { node: string }[][] }>;
  };
  const trigger = workflow.nodes.find(({ type }) => type === "n8n-nodes-base.webhook");
  const after = (node: Node | undefined) => {
    const name = workflow.connections[node?.name ?? ""]?.main[0]?.[0]?.node;
    return workflow.nodes.find((one) => one.name === name);
  };
  const [check, request] = [after(trigger), after(after(trigger))];
  const answer = after(request);

  /** Runs a Code node for one item, as n8n does. */
  const runCode = (node: Node | undefined, $json: unknown) =>
    runInNewContext(`(() => {${String(node?.parameters.jsCode)}})()`, { $json }) as { json: unknown };
  const order = { email: "ada@example.com", total: "49.90", currency: "EUR", order: 4711 };

  test("the n8n workflow sends what its nodes produce", async () => {
    // Knowing the address of the webhook must not be enough to report orders.
    expect(trigger?.parameters.authentication).toBe("headerAuth");
    const { method, url, jsonBody, genericAuthType } = request?.parameters ?? {};
    expect([method, url, genericAuthType]).toEqual(["POST", "https://shop.example.com/__cc/inbound", "httpHeaderAuth"]);
    const expression = /^={{(.*)}}$/s.exec(String(jsonBody))?.[1] ?? "";
    const { json } = runCode(check, { body: order });
    const sent = runInNewContext(expression, { $json: json }) as string;
    const replied: unknown = JSON.parse((await relay.post(key, sent)).text);
    expect(runCode(answer, replied)).toEqual({ json: accepted("purchase") });
    expect(await known("4711")).toEqual([["purchase", 49.9, "EUR"]]);
  });

  test.each([
    ["total", "1.234,50"],
    ["total", ""],
    ["total", undefined],
    ["total", null],
    ["order", undefined],
    ["email", ""],
    ["currency", ""],
  ])("the n8n workflow stops when %s is %j", (name, value) => {
    expect(() => runCode(check, { body: { ...order, [name]: value } })).toThrow(name);
  });

  test("the n8n workflow fails when another server answers", () => {
    expect(() => runCode(answer, { message: "hello" })).toThrow("Cleancast:");
  });
});

describe("the programs of the guide to sending from code", () => {
  type Output = { stdout: string; stderr: string };
  const programs = { "send.mjs": process.execPath, "send.py": "python3", "send.php": "php" };
  const senders = Object.entries(programs).filter(([, program]) => spawnSync("which", [program]).status === 0);
  const send = (name: string, program: string, url: string) =>
    run(program, [join(examples, name)], {
      env: { ...process.env, CLEANCAST_INBOUND: url, CLEANCAST_KEY: key },
    });

  test.concurrent.each(senders)("%s waits for Retry-After, and trusts only the relay's answers", async (...sender) => {
    const inASecond = () => new Date((Math.floor(Date.now() / 1000) + 1) * 1000).toUTCString();
    const { url, asked } = await startFakeRelay(
      (_, response) => void response.writeHead(200, { "Retry-After": inASecond() }).end(),
      (_, response) => void response.writeHead(503, { "Retry-After": "1" }).end("busy"),
      (_, response) => void response.writeHead(200).end('{"ok":true,"deduped":true}'),
    );
    const { stdout } = await send(...sender, url);
    expect(JSON.parse(stdout)).toEqual({ ok: true, deduped: true });
    const [, second, third] = asked.map((one) => one.at);
    // Without Retry-After the sender would wait four seconds.
    expect(Number(third) - Number(second)).toBeLessThan(4000);
  });

  test.concurrent.each([
    ["send.mjs", process.execPath, ["--input-type=module", "-e"], "await import(process.env.FILE)"],
    ["send.py", "python3", ["-c"], "import os, runpy; runpy.run_path(os.environ['FILE'])"],
    ["send.php", "php", ["-r"], "require getenv('FILE');"],
  ] as const)("importing %s sends nothing", async (name, program, flags, code) => {
    if (!senders.some(([one]) => one === name)) return;
    const { url, asked } = await startFakeRelay(acceptedOnce);
    const FILE = join(examples, name);
    await run(program, [...flags, code], {
      env: { ...process.env, CLEANCAST_INBOUND: url, CLEANCAST_KEY: key, FILE },
    });
    expect(asked).toEqual([]);
  });

  test.concurrent.each(senders)("%s refuses an amount that is no number, and an empty order id", async (...sender) => {
    const [name, program] = sender;
    const { url, asked } = await startFakeRelay(acceptedOnce);
    const nan = { "send.mjs": "NaN", "send.py": 'float("nan")', "send.php": "NAN" }[name] ?? "";
    for (const [from, to, error] of [
      ["49.9", nan, "value is not a number"],
      ["49.9", '"49,90"', "value is not a number"],
      [/(?:NODE|PYTHON|PHP)-1/, "", "orderId is empty"],
    ] as const) {
      const file = join(freshFolder(), name);
      writeFileSync(file, read(name).replace(from, to));
      const env = { ...process.env, CLEANCAST_INBOUND: url, CLEANCAST_KEY: key };
      const { stdout, stderr } = await run(program, [file], { env }).catch((failed: Output) => failed);
      expect(stdout + stderr).toContain(error);
    }
    expect(asked).toEqual([]);
  });

  test.concurrent.each(senders)("%s sends the key to no other address", async (...sender) => {
    const { url, asked } = await startFakeRelay(elsewhere);
    const { stdout, stderr } = await send(...sender, url).catch((failed: Output) => failed);
    expect(stdout + stderr).toContain("302");
    expect(asked).toHaveLength(1);
  });
});
