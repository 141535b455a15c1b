// The outbound webhook reaches the public internet over HTTPS and nothing else: no private address that was typed, that a name
// server returned, or that was allowed when it was entered. Nothing is sent to a refused address.

import { createServer, type Server } from "node:net";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { createResolve, readAllowList, type AllowList, type Resolve } from "../../src/delivery/addresses.ts";
import { download } from "../../src/delivery/download.ts";
import { createSender } from "../../src/delivery/send.ts";
import { createUploader } from "../../src/export/upload.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { newSigningSecret } from "../../src/kernel/ids.ts";
import { english, inEnglish } from "../../src/kernel/messages/message.ts";
import { sendMessage } from "../../src/outbound/push.ts";
import { hostileAddresses, hostileUrls, privateFault } from "../support/hostileAddresses.ts";
import { startDns, type Records } from "../support/servers/dnsServer.ts";
import { startReceiver } from "../support/receiver.ts";
import { eventually, newInstallation, type Installation } from "../support/relay.ts";

/** Listens on every address of this machine and counts connections. */
let server: Server;
let port: number;
let connections = 0;

beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, "::", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const literal = hostileAddresses.filter(([, address]) => address !== "" && address !== "localhost");

/** Pushes totals of a period. */
async function pushTo(url: string, resolve: Resolve, opened = "") {
  const allow = readAllowList(opened) as AllowList;
  const sender = createSender({ connectMs: 60_000, attemptMs: 60_000, allow, origins: {}, resolve });
  try {
    const address = { url, secrets: { current: newSigningSecret(), previous: null } };
    const message = { id: "push_1", startsAt: 0, endsAt: 1, conversions: 1, removed: 1, isTest: false };
    const { reading } = await sendMessage(address, message, {
      sender,
      now: Date.now,
      elapsed: () => performance.now(),
      newId: ulid,
      mayCallAgain: async () => true,
    });
    return inEnglish(reading);
  } finally {
    await sender.close();
  }
}

describe("hostile DNS answers", () => {
  test.each(literal)("%s: a name that resolves to %s is not called", async (_what, address) => {
    const asked: string[] = [];
    const answer = await pushTo(`https://rebind.example:${port}/`, async (host) => {
      asked.push(host);
      return [address];
    });
    expect(asked).toEqual(["rebind.example"]);
    expect(answer).toMatchObject({ ok: false, httpStatus: null, error: `the address ${privateFault}` });
    expect(connections).toBe(0);
  });

  test("a name that resolves to several private addresses is not called", async () => {
    const answers = literal.map(([, address]) => address);
    const answer = await pushTo(`https://rebind.example:${port}/`, async () => answers);
    expect(answer.error).toBe(`the address ${privateFault}`);
    expect(connections).toBe(0);
  });

  test("a name that resolves differently the second time is judged by the address that is connected to", async () => {
    // One loopback address is allowed, in place of a public one: the first push goes there, and the second resolves to another.
    const answers = ["127.0.0.2", "127.0.0.1", "::1"];
    const resolve = async () => answers.splice(0, 1);
    const errors: (string | null)[] = [];
    for (let i = 0; i < 3; i++) errors.push((await pushTo(`https://rebind.example:${port}/`, resolve, "127.0.0.2")).error);
    expect(errors[0]).not.toContain("private address");
    expect(errors.slice(1)).toEqual([`the address ${privateFault}`, `the address ${privateFault}`]);
    expect(connections).toBe(1);
    connections = 0;
  });

  test("plain http is refused before the name is resolved", async () => {
    const answer = await pushTo(`http://public.example:${port}/`, async () => ["1.1.1.1"]);
    expect(answer.error).toContain("must use https");
  });
});

/** What the relay calls at addresses that a customer or an operator names. Each returns its error. */
const callers: Record<string, (url: string, allow: AllowList, resolve: Resolve) => Promise<string | null>> = {
  "order feeds": async (url, allow, resolve) => {
    const options = { connectMs: 60_000, maxMs: 60_000, maxBytes: 1000, allow, resolve };
    return await download(url, {}, options, async () => null).catch((error: unknown) => english((error as Error).message));
  },
  "files for a bucket": async (url, allow, resolve) => {
    const uploader = createUploader({ connectMs: 60_000, maxMs: 60_000, allow, resolve });
    const request = { method: "PUT", url: new URL(url), headers: {}, body: Buffer.from("a file") } as const;
    const answer = await uploader.send(request);
    await uploader.close();
    return answer.ok ? null : english(answer.error);
  },
  "platforms and webhooks": async (url, allow, resolve) => {
    const sender = createSender({ connectMs: 60_000, attemptMs: 60_000, allow, origins: {}, resolve });
    const request = { method: "POST", url, headers: {}, body: "{}" } as const;
    const to = { platform: "webhook", customerAddress: true };
    const answer = await sender.send(request, to);
    await sender.close();
    return answer.ok ? null : english(answer.error);
  },
};

describe.each(Object.entries(callers))("%s behind a name server that changes its answers", (_what, request) => {
  const host = "files.rebind.example";
  const records: Records = {};

  /** Resolves by a real name server, for each connection anew. */
  async function send(): Promise<string | null> {
    const dns = await startDns(records);
    const resolve = createResolve({ servers: [dns.address], tryMs: 60_000 });
    try {
      // One loopback address is allowed, in place of a public one.
      return await request(`https://${host}:${port}/orders.csv`, readAllowList("127.0.0.2") as AllowList, resolve);
    } finally {
      dns.close();
    }
  }

  test("each call is judged by the address that it connects to, and none reaches this machine", async () => {
    records[host] = { address: "127.0.0.2" };
    const first = await send();
    expect([first, first?.includes(privateFault)]).toEqual([expect.any(String), false]);
    expect(connections).toBe(1);
    connections = 0;
    for (const address of ["127.0.0.1", "169.254.169.254", "10.0.0.1", "0.0.0.0"]) {
      records[host] = { address };
      expect([address, await send()]).toEqual([address, expect.stringContaining(privateFault)]);
    }
    records[host] = { alias: "inner.rebind.example" };
    records["inner.rebind.example"] = { address: "127.0.0.1" };
    expect(await send()).toContain(privateFault);
    expect(connections).toBe(0);
  });
});

describe.each(Object.entries(callers))("%s at names that no server answers for", (_what, request) => {
  test("other names are looked up and called while these look-ups are open", async () => {
    const records: Records = { "shop.example": { address: "127.0.0.1" } };
    for (let i = 0; i < 20; i++) records[`silent-${i}.example`] = "silent";
    const dns = await startDns(records);
    onTestFinished(dns.close);
    const resolve = createResolve({ servers: [dns.address], tryMs: 60_000 });
    const allow = readAllowList("127.0.0.0/8") as AllowList;
    const silent = Object.keys(records).slice(1);
    let open = silent.length;
    const ended = silent.map((host) => request(`https://${host}:${port}/`, allow, resolve).finally(() => (open -= 1)));
    await eventually("each name was asked for", () => silent.every((host) => dns.asked.includes(host)));
    expect(await request(`https://shop.example:${port}/`, allow, resolve)).toMatch(/^connection /);
    expect(open).toBe(silent.length);
    expect(connections).toBe(1);
    connections = 0;
    for (const host of silent) delete records[host];
    dns.answerHeld();
    await Promise.all(ended);
  });
});

describe("hostile webhook addresses", () => {
  let home: Installation;
  const closed = { CLEANCAST_ALLOW_PRIVATE: "", CLEANCAST_PUSH_SECONDS: "1" };

  beforeAll(async () => {
    home = await newInstallation("sqlite", closed);
    await home.addSite("shop.example");
  });

  test.each(hostileUrls)("%s: %s is refused", async (_what, url) => {
    expect(await home.fails("webhook", "add", "shop.example", url)).toMatchObject({ field: "url" });
    expect((await home.run("webhook", "list")).items).toEqual([]);
  });
});

describe("webhooks with private addresses", () => {
  test("pushes and tests to names that resolve to this machine are refused with the reason", async () => {
    const home = await newInstallation("sqlite", {
      CLEANCAST_ALLOW_PRIVATE: "",
      CLEANCAST_PUSH_SECONDS: "1",
    });
    const { host } = await home.addSite("shop.example");
    const {
      webhook: { id },
    } = await home.run("webhook", "add", host, `https://localhost:${port}/`);
    expect(await home.print("webhook", "test", id)).toBe(`Test failed: the address ${privateFault}\n`);
    await home.start();
    await eventually("a push was tried", async () => (await home.run("webhook", "show", id)).pushes.items.length > 1);
    const { pushes } = await home.run("webhook", "show", id);
    for (const line of pushes.items)
      expect(line).toMatchObject({ ok: false, httpStatus: null, error: `the address ${privateFault}` });
    expect(connections).toBe(0);
  });

  test("a webhook whose private address is no longer allowed is refused", async () => {
    const home = await newInstallation("sqlite", { CLEANCAST_PUSH_SECONDS: "1" });
    const { host } = await home.addSite("shop.example");
    const receiver = await startReceiver();
    const {
      webhook: { id },
    } = await home.run("webhook", "add", host, receiver.url);
    const relay = await home.start({ CLEANCAST_ALLOW_PRIVATE: "" });
    const log = async () => (await home.run("webhook", "show", id)).pushes.items;
    await eventually("a push was tried", async () => (await log()).length > 0);
    expect((await log())[0]).toMatchObject({ ok: false, error: expect.stringContaining("must use https") });
    expect(receiver.got).toEqual([]);
    await relay.stop();
    // Nothing is lost: when the operator allows the address again, the period is pushed.
    await home.run("webhook", "disable", id);
    await home.run("webhook", "enable", id);
    await home.start();
    await eventually("the period is pushed", () => receiver.got.length > 0);
  });
});
