// The senders keep the rules of their sheets, at a server that answers as the test decides.

import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dayMs, hourMs, minuteMs, secondMs, type Sheet } from "./sheet.ts";
import { sheetOf, sheets, type SenderId } from "./sheets.ts";
import { createSender, prepare, type Message } from "./sender.ts";

const message: Message = { body: (attempt) => ({ attempt }) };
let url = "";
let requests: { version: string; body: string }[] = [];
let answer: (response: ServerResponse) => void;
const status = (code: number, text = "") => (answer = (response) => void response.writeHead(code).end(text));

const server = createServer((request, response) => {
  let body = "";
  request.on("data", (part: Buffer) => (body += part.toString()));
  request.on("end", () => {
    requests.push({ version: request.httpVersion, body });
    answer(response);
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  requests = [];
  status(200);
});

const sender = (id: SenderId, patience = 20) =>
  createSender(sheetOf(id), { url: `${url}/in`, at: url, secrets: ["c2VjcmV0"], patience });

describe("retries", () => {
  test.each<[SenderId, number, number]>([
    ["shopify", 503, 8],
    ["woocommerce", 503, 1],
    ["hubspot", 503, 17],
    ["hubspot", 404, 1],
    ["pipedrive", 503, 4],
    ["salesforce", 503, 18],
    ["gohighlevel", 503, 1],
    ["gohighlevel", 429, 7],
    ["calcom", 503, 1],
    ["typeform", 500, 6],
    ["typeform", 503, 241],
    ["tally", 503, 6],
    ["webflow", 503, 3],
    ["paddle", 503, 61],
    ["paddle", 202, 61],
    ["lemonsqueezy", 204, 4],
    ["chargebee", 202, 8],
  ])("%s sends a request that gets %i %i times in all", async (id, code, attempts) => {
    status(code);
    const own = sender(id);
    const delivery = await own.send(message);
    await own.advance(10 * dayMs);
    expect(delivery).toMatchObject({ state: "lost" });
    expect(delivery.attempts).toHaveLength(attempts);
    expect(requests).toHaveLength(attempts);
  });

  test("a repeat comes no sooner than its delay, and says which attempt it is", async () => {
    status(503);
    const own = sender("pipedrive");
    const delivery = await own.send(message);
    await own.advance(2.9 * secondMs);
    expect(requests).toHaveLength(1);
    await own.advance(0.1 * secondMs);
    expect(requests.at(-1)?.body).toBe('{"attempt":2}');
    status(200);
    await own.advance(30 * secondMs);
    expect(delivery).toMatchObject({ state: "delivered", attempts: [503, 503, 200] });
    await own.advance(dayMs);
    expect(requests).toHaveLength(3);
  });

  test("HubSpot waits as long as Retry-After says, in milliseconds", async () => {
    answer = (response) => void response.writeHead(429, { "retry-after": String(5 * minuteMs) }).end();
    const own = sender("hubspot");
    await own.send(message);
    await own.advance(4 * minuteMs);
    expect(requests).toHaveLength(1);
    await own.advance(minuteMs);
    expect(requests).toHaveLength(2);
  });

  test("only Salesforce's acknowledgement is a success", async () => {
    const own = sender("salesforce");
    expect(await own.send(message)).toMatchObject({ state: "waiting" });
    const ack = (is: boolean) =>
      `<notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>${is}</Ack></notificationsResponse>`;
    status(200, ack(false));
    expect(await own.send(message)).toMatchObject({ state: "waiting" });
    status(200, ack(true));
    expect(await own.send(message)).toMatchObject({ state: "delivered" });
  });

  test.each(sheets.map(({ id }) => id))("a broken connection and a redirect are failures for %s", async (id) => {
    const own = sender(id);
    answer = (response) => response.destroy();
    expect((await own.send(message)).attempts).toEqual([null]);
    answer = (response) => void response.writeHead(302, { location: "/elsewhere" }).end();
    expect((await own.send(message)).attempts).toEqual([302]);
  });

  test("every sender gives up an answer that takes too long", async () => {
    answer = () => {};
    const waits = sheets.map(async ({ id, timeout }) => {
      const began = performance.now();
      // Without its limit for the connection, which a slow machine would not keep at this scale.
      const sheet = { ...sheetOf(id), timeout: { totalMs: timeout.totalMs } };
      const own = createSender(sheet, { url: `${url}/in`, at: url, secrets: [], patience: 200 / timeout.totalMs });
      const { attempts } = await own.send(message);
      return { id, attempts, isInTime: performance.now() - began > 190 };
    });
    expect(await Promise.all(waits)).toEqual(sheets.map(({ id }) => ({ id, attempts: [null], isInTime: true })));
  });
});

describe("penalties", () => {
  const fail = async (own: ReturnType<typeof sender>, count: number) => {
    for (let i = 0; i < count; i++) await own.send(message);
  };

  test("Pipedrive bans after ten first tries that failed: what happens within 30 minutes is lost", async () => {
    status(503);
    const own = sender("pipedrive");
    await fail(own, 9);
    expect(own.state()).toBe("active");
    await fail(own, 1);
    expect(own.state()).toBe("banned");
    status(200);
    expect(await own.send(message)).toMatchObject({ state: "lost", attempts: [] });
    await own.advance(30 * minuteMs);
    expect(await own.send(message)).toMatchObject({ state: "delivered" });
  });

  test.each<[SenderId, number]>([
    ["woocommerce", 6],
    ["shopify", 8],
  ])("%s ends the subscription after %i failures in a row", async (id, count) => {
    const own = sender(id);
    status(503);
    await fail(own, count - 1);
    status(200);
    await own.send(message);
    status(503);
    await fail(own, count - 1);
    expect(own.state()).toBe("active");
    await fail(own, 1);
    expect(own.state()).toBe("off");
    status(200);
    expect(await own.send(message)).toMatchObject({ state: "lost", attempts: [] });
  });

  test.each<[SenderId, number]>([
    ["calendly", dayMs],
    ["pipedrive", 3 * dayMs],
  ])("%s ends the subscription after %i ms without success", async (id, ms) => {
    status(503);
    const own = sender(id);
    await own.send(message);
    await own.advance(ms - hourMs);
    expect(own.state()).toBe("active");
    await own.advance(hourMs);
    expect(own.state()).toBe("off");
  });

  test.each([404, 410])("Typeform switches off at %i", async (code) => {
    const own = sender("typeform");
    status(code);
    await own.send(message);
    expect(own.state()).toBe("off");
  });
});

test("WooCommerce speaks HTTP/1.0, the others 1.1", async () => {
  for (const { id } of sheets) await sender(id).send(message);
  const versions = sheets.map((sheet: Sheet) => sheet.http ?? "1.1");
  expect(requests.map(({ version }) => version)).toEqual(versions);
});

test("the signature that HubSpot's documents print comes out", () => {
  const signed = (id: SenderId, body: string, secret: string) =>
    prepare(sheetOf(id), body, { url: "https://shop.example/", secrets: [secret] }).headers;
  const change =
    '[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123,"changeSource":"CRM","changeFlag":"NEW","appId":54321}]';
  expect(signed("hubspot v1", change, "yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy")["x-hubspot-signature"]).toBe(
    "232db2615f3d666fe21a8ec971ac7b5402d33b9a925784df3ca654d05f4817de",
  );
});
