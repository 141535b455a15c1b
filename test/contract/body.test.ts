// Step 7: the body. What is malformed is answered in plain text.

import { createConnection } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { call, engines, newInstallation, type Relay, type TestSite } from "../support/relay.ts";
import { accepted, freshEvent, jsonError, plainText, said } from "./answers.ts";

const wrongType = plainText(415, "Content-Type must be application/json.");
const tooLarge = plainText(413, "The body is larger than 64 KiB.");
const limit = 64 * 1024;

/** An event of exactly this many bytes. */
function eventOf(bytes: number): string {
  const text = JSON.stringify(freshEvent({ note: "" }));
  return text.replace('"note":""', `"note":"${"x".repeat(bytes - text.length)}"`);
}

describe.each(engines)("the body on %s", (engine) => {
  let relay: Relay;
  let site: TestSite;

  beforeAll(async () => {
    const home = await newInstallation(engine);
    site = await home.addSite("shop.example");
    relay = await home.start();
  });

  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    call(relay.url, {
      headers: { "X-CC-Api-Key": site.key, "Content-Type": "application/json", ...headers },
      body,
    });

  /** The same, in chunks and without a length. */
  const sendChunked = (body: string) => send(body, { "Transfer-Encoding": "chunked" });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "Application/JSON",
    "application/json ; profile=crm",
    "application/json;",
  ])("the content type %s is fine", async (type) => {
    const answer = await send(JSON.stringify(freshEvent()), { "Content-Type": type });
    expect(said(answer)).toEqual(accepted("purchase"));
  });

  test.each([
    "text/plain",
    "text/json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/jsonp",
    "application/ld+json",
    "application/json, application/json",
    "text/plain; application/json",
    "json",
    "/",
    ";",
  ])("the content type %s is answered 415", async (type) => {
    const answer = await send(JSON.stringify(freshEvent()), { "Content-Type": type });
    expect(said(answer)).toEqual(wrongType);
  });

  test("a request without a content type is answered 415, with a body or without", async () => {
    const headers = { "X-CC-Api-Key": site.key };
    expect(said(await call(relay.url, { headers, body: JSON.stringify(freshEvent()) }))).toEqual(wrongType);
    expect(said(await call(relay.url, { headers: { ...headers, "Content-Length": "0" } }))).toEqual(
      wrongType,
    );
  });

  test("the content type is looked at before the size", async () => {
    expect(said(await send("x".repeat(limit + 1), { "Content-Type": "text/plain" }))).toEqual(wrongType);
  });

  test("a compressed body is answered 415", async () => {
    const answer = await send(JSON.stringify(freshEvent()), { "Content-Encoding": "gzip" });
    expect(said(answer)).toEqual(plainText(415, "Send the body without Content-Encoding."));
  });

  test("64 KiB are taken, with a length and without", async () => {
    expect(said(await send(eventOf(limit)))).toEqual(accepted("purchase"));
    expect(said(await sendChunked(eventOf(limit)))).toEqual(accepted("purchase"));
  });

  test.each([limit + 1, 2 * 1024 * 1024])(
    "%d bytes are answered 413, with a length and without",
    async (size) => {
      // Several times: an answer that is only sometimes read before the connection ends is no answer.
      for (let i = 0; i < 10; i += 1) {
        expect(said(await send("x".repeat(size)))).toEqual(tooLarge);
        expect(said(await sendChunked("x".repeat(size)))).toEqual(tooLarge);
      }
    },
  );

  const head = (length: number) =>
    `POST /__cc/inbound HTTP/1.1\r\nHost: shop.example\r\nX-CC-Api-Key: ${site.key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

  test("a length over 64 KiB is answered 413 before the body is sent", async () => {
    const socket = createConnection(Number(new URL(relay.url).port), "127.0.0.1");
    socket.setEncoding("utf8").write(head(limit + 1));
    let text = "";
    for await (const part of socket) text += part;
    expect(text).toMatch(/^HTTP\/1\.1 413 /);
  });

  test.each<[string, string | Buffer]>([
    ["no bytes", ""],
    ["nothing but space", " \r\n\t "],
    ["nothing but a byte order mark", "\uFEFF"],
  ])("a body of %s is empty", async (_what, body) => {
    expect(said(await send(body))).toEqual(plainText(400, "The body is empty; send a JSON object."));
  });

  test("an empty body without a length is empty too", async () => {
    expect(said(await sendChunked(""))).toEqual(plainText(400, "The body is empty; send a JSON object."));
  });

  test.each([
    "no JSON",
    "{",
    '{"email":"ada@example.com","event":"purchase",}',
    "{'email':'ada@example.com'}",
    "email=ada@example.com&event=purchase",
    '{"email":"ada@example.com","event":"purchase"} {}',
    '{"email":"ada@example.com","event":"pur\nchase"}',
    "undefined",
    "NaN",
  ])("%j is not valid JSON", async (body) => {
    expect(said(await send(body))).toEqual(plainText(400, "The body is not valid JSON."));
  });

  test.each(["[]", '[{"email":"ada@example.com","event":"purchase"}]', '"text"', "12", "null", "true"])(
    "%s is not an object",
    async (body) => {
      expect(said(await send(body))).toEqual(plainText(400, "The body must be a JSON object."));
    },
  );

  test("bytes that are not UTF-8 are answered 400", async () => {
    const latin1 = Buffer.from('{"email":"ada@example.com","event":"café"}', "latin1");
    const cut = Buffer.from('{"email":"ada@example.com","event":"☕"}').subarray(0, -4);
    for (const body of [latin1, cut]) {
      expect(said(await send(body))).toEqual(plainText(400, "The body is not valid UTF-8."));
    }
  });

  test("a byte order mark before the object does no harm", async () => {
    expect(said(await send(`\uFEFF${JSON.stringify(freshEvent())}`))).toEqual(accepted("purchase"));
  });

  test("space around the object does no harm", async () => {
    expect(said(await send(`\r\n ${JSON.stringify(freshEvent())} \n`))).toEqual(accepted("purchase"));
  });

  test("of two fields with one name the last counts", async () => {
    const answer = await send('{"event":"lead","email":"ada@example.com","event":"signup"}');
    expect(said(answer)).toEqual(accepted("signup"));
  });

  test("a field that is named like a part of JavaScript is a field like any other", async () => {
    const body = '{"__proto__":{"email":"ada@example.com","event":"purchase"},"constructor":1}';
    expect(said(await send(body))).toEqual(jsonError(400, "email or hashed_email required"));
    const beside = JSON.stringify(freshEvent()).replace("{", '{"__proto__":{"value":-1},"toString":1,');
    expect(said(await send(beside))).toEqual(accepted("purchase"));
  });

  test("fields that nobody knows are taken, however deep they are", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    for (const orderId of ['"deep"', "12"]) {
      const body = `{"email":"ada@example.com","event":"purchase","orderId":${orderId},"more":${deep}}`;
      expect(said(await send(body))).toEqual(accepted("purchase"));
    }
  });

  test("after a refusal the same connection takes the next request, whether or not the body was read", async () => {
    const socket = createConnection(Number(new URL(relay.url).port), "127.0.0.1");
    const bodies = ["unread", "no JSON", "{}"];
    const [first, ...rest] = bodies.map((body) => head(body.length) + body);
    socket.setEncoding("utf8").write(first?.replace("application/json", "text/plain") + rest.join(""));
    let text = "";
    for await (const part of socket) {
      text += part;
      if (text.includes("email or hashed_email required")) break;
    }
    expect(text.match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 415", "HTTP/1.1 400", "HTTP/1.1 400"]);
  });

  test("an event that was refused for its body can be sent again", async () => {
    const event = freshEvent();
    expect((await relay.post(site.key, `${JSON.stringify(event)},`)).status).toBe(400);
    expect(said(await relay.post(site.key, event))).toEqual(accepted("purchase"));
  });
});
