// The body step: malformed bodies are answered in plain text.

import { createConnection } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { call, newInstallation, type Relay, type TestSite } from "../support/relay.ts";
import { accepted, freshEvent, jsonError, plainText, summarize } from "./answers.ts";

const wrongType = plainText(415, "Content-Type must be application/json.");
const tooLarge = plainText(413, "The body is larger than 64 KiB.");
const limit = 64 * 1024;

/** Builds an event of exactly this many bytes. */
function eventOf(bytes: number): string {
  const text = JSON.stringify(freshEvent({ note: "" }));
  return text.replace('"note":""', `"note":"${"x".repeat(bytes - text.length)}"`);
}

describe("the request body", () => {
  let relay: Relay;
  let site: TestSite;

  beforeAll(async () => {
    const home = await newInstallation("sqlite");
    site = await home.addSite("shop.example");
    relay = await home.start();
  });

  const send = (body: string | Buffer, headers: Record<string, string> = {}) =>
    call(relay.url, {
      headers: { "X-CC-Api-Key": site.key, "Content-Type": "application/json", ...headers },
      body,
    });

  /** Sends the body in chunks, without a Content-Length. */
  const sendChunked = (body: string) => send(body, { "Transfer-Encoding": "chunked" });

  test.each([
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=UTF-8",
    "Application/JSON",
    "application/json ; profile=crm",
    "application/json;",
  ])("the content type %s is accepted", async (type) => {
    const answer = await send(JSON.stringify(freshEvent()), { "Content-Type": type });
    expect(summarize(answer)).toEqual(accepted("purchase"));
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
    expect(summarize(answer)).toEqual(wrongType);
  });

  test("a request without a content type is answered 415, with a body or without", async () => {
    const headers = { "X-CC-Api-Key": site.key };
    expect(summarize(await call(relay.url, { headers, body: JSON.stringify(freshEvent()) }))).toEqual(wrongType);
    expect(summarize(await call(relay.url, { headers: { ...headers, "Content-Length": "0" } }))).toEqual(wrongType);
  });

  test("the content type is checked before the size", async () => {
    expect(summarize(await send("x".repeat(limit + 1), { "Content-Type": "text/plain" }))).toEqual(wrongType);
  });

  test("a compressed body is answered 415", async () => {
    const answer = await send(JSON.stringify(freshEvent()), { "Content-Encoding": "gzip" });
    expect(summarize(answer)).toEqual(plainText(415, "Send the body without Content-Encoding."));
  });

  test("a body of 64 KiB is accepted, with a Content-Length and without", async () => {
    expect(summarize(await send(eventOf(limit)))).toEqual(accepted("purchase"));
    expect(summarize(await sendChunked(eventOf(limit)))).toEqual(accepted("purchase"));
  });

  test.each([limit + 1, 2 * 1024 * 1024])(
    "a body of %d bytes is answered 413, with a Content-Length and without",
    async (size) => {
      // Repeated, because a race could close the connection before the client reads the answer.
      for (let i = 0; i < 10; i += 1) {
        expect(summarize(await send("x".repeat(size)))).toEqual(tooLarge);
        expect(summarize(await sendChunked("x".repeat(size)))).toEqual(tooLarge);
      }
    },
  );

  const head = (length: number) =>
    `POST /__cc/inbound HTTP/1.1\r\nHost: shop.example\r\nX-CC-Api-Key: ${site.key}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;

  test("a Content-Length over 64 KiB is answered 413 before the body is sent", async () => {
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
  ])("a body of %s is answered as empty", async (_what, body) => {
    expect(summarize(await send(body))).toEqual(plainText(400, "The body is empty; send a JSON object."));
  });

  test("an empty body without a Content-Length is answered as empty", async () => {
    expect(summarize(await sendChunked(""))).toEqual(plainText(400, "The body is empty; send a JSON object."));
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
  ])("the body %j is answered as invalid JSON", async (body) => {
    expect(summarize(await send(body))).toEqual(plainText(400, "The body is not valid JSON."));
  });

  test.each(["[]", '[{"email":"ada@example.com","event":"purchase"}]', '"text"', "12", "null", "true"])(
    "the body %s is answered as not an object",
    async (body) => {
      expect(summarize(await send(body))).toEqual(plainText(400, "The body must be a JSON object."));
    },
  );

  test("a body that is not UTF-8 is answered 400", async () => {
    const latin1 = Buffer.from('{"email":"ada@example.com","event":"café"}', "latin1");
    const cut = Buffer.from('{"email":"ada@example.com","event":"☕"}').subarray(0, -4);
    for (const body of [latin1, cut]) {
      expect(summarize(await send(body))).toEqual(plainText(400, "The body is not valid UTF-8."));
    }
  });

  test("a byte order mark before the object is ignored", async () => {
    expect(summarize(await send(`\uFEFF${JSON.stringify(freshEvent())}`))).toEqual(accepted("purchase"));
  });

  test("white space around the object is ignored", async () => {
    expect(summarize(await send(`\r\n ${JSON.stringify(freshEvent())} \n`))).toEqual(accepted("purchase"));
  });

  test("the last of two fields with one name is used", async () => {
    const answer = await send('{"event":"lead","email":"ada@example.com","event":"signup"}');
    expect(summarize(answer)).toEqual(accepted("signup"));
  });

  test("a field named like a JavaScript built-in is an ordinary field", async () => {
    const body = '{"__proto__":{"email":"ada@example.com","event":"purchase"},"constructor":1}';
    expect(summarize(await send(body))).toEqual(jsonError(400, "email or hashed_email required"));
    const extended = JSON.stringify(freshEvent()).replace("{", '{"__proto__":{"value":-1},"toString":1,');
    expect(summarize(await send(extended))).toEqual(accepted("purchase"));
  });

  test("unknown fields are accepted, however deeply nested", async () => {
    const deep = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
    for (const orderId of ['"deep"', "12"]) {
      const body = `{"email":"ada@example.com","event":"purchase","orderId":${orderId},"more":${deep}}`;
      expect(summarize(await send(body))).toEqual(accepted("purchase"));
    }
  });

  test("a connection accepts the next request after a rejected one, whether or not the body was read", async () => {
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

  test("an event rejected for its body can be sent again", async () => {
    const event = freshEvent();
    expect((await relay.post(site.key, `${JSON.stringify(event)},`)).status).toBe(400);
    expect(summarize(await relay.post(site.key, event))).toEqual(accepted("purchase"));
  });
});
