import { describe, expect, test } from "vitest";
import type { Conversion } from "../kernel/event.ts";
import { exampleSettings } from "../platforms/examples.ts";
import { platformOf } from "../platforms/index.ts";
import { fullSample } from "../platforms/shared/sample.ts";
import { callPlatform } from "./platformCall.ts";

const now = fullSample().time + 60_000;

/** Makes a call whose answer is given, and returns what is kept of it. */
async function exchangeWith(id: string, answer: { status: number; body: string }, conversions: Conversion[] = [fullSample()]) {
  const platform = platformOf(id) ?? expect.unreachable(id);
  const settings = exampleSettings(id);
  const response = { headers: {}, ...answer };
  const sender = {
    send: () => Promise.resolve({ ok: true as const, response }),
    close: () => Promise.resolve(),
  };
  return callPlatform(sender, { platform, settings }, conversions, now);
}

describe("what the log keeps of an answer", () => {
  const others = fullSample({ platformEventId: "second", browserIds: { __obref: "ob-of-another-person" } });
  const hash = fullSample().person?.emailSha256 ?? "";
  const quoted = `bad event: ${hash}, gAAAAABo-Example_Click, 203.0.113.9, ob-of-another-person, trace 4711`;

  test("an error that quotes hashes, ids and addresses of the batch is kept without them", async () => {
    const body = JSON.stringify({ error: { message: quoted } });
    const made = await exchangeWith("openai_ads", { status: 400, body }, [fullSample(), others]);
    expect(made.log.response).toBe('{"error":{"message":"bad event: …, …, …, …, trace 4711"}}');
    expect(made.readings[0]).toEqual({
      kind: "rejected",
      error: "HTTP 400: bad event: …, …, …, …, trace 4711",
    });
  });

  test("an id at the end of the logged part is not kept in part", async () => {
    const body = `${"x".repeat(2000)} ${hash}`;
    const { log } = await exchangeWith("openai_ads", { status: 400, body });
    expect(log.response).toBe(`${"x".repeat(2000)} …`);
  });
});

test("a value rule changes the request, and not the conversion", async () => {
  const platform = platformOf("meta") ?? expect.unreachable("meta");
  const settings = { ...exampleSettings("meta"), "value.*": "20%" };
  const bodies: string[] = [];
  const sender = {
    send(request: { body: string }) {
      bodies.push(request.body);
      return Promise.resolve({ ok: true as const, response: { status: 200, headers: {}, body: '{"events_received":2}' } });
    },
    close: () => Promise.resolve(),
  };
  const batch = [fullSample(), fullSample({ platformEventId: "second", value: 10 })];
  const { requestOf } = await callPlatform(sender, { platform, settings }, batch, now);
  const { data } = JSON.parse(bodies[0] ?? "") as { data: { custom_data: { value: number } }[] };
  expect(data.map((one) => one.custom_data.value)).toEqual([9.98, 2]);
  expect(requestOf(batch[0] ?? fullSample())).toContain('"value":9.98');
  expect(batch.map(({ value }) => value)).toEqual([49.9, 10]);
});

describe("what the log keeps of a request", () => {
  test("the query of a GET is kept, because it is all that the request says", async () => {
    const conversion = fullSample();
    const { requestOf } = await exchangeWith("outbrain", { status: 204, body: "" }, [conversion]);
    expect(requestOf(conversion)).toBe(
      "GET https://tr.outbrain.com/unifiedPixel?ob_click_id=v1-ExampleOutbrainClick&name=purchase&orderId=A-1001&orderValue=49.90&currency=EUR\n\n",
    );
  });

  test("the query of a POST is not kept", async () => {
    const conversion = fullSample();
    const { requestOf } = await exchangeWith("openai_ads", { status: 200, body: "" }, [conversion]);
    expect(requestOf(conversion)).toMatch(/^POST https:\/\/bzr\.openai\.com\/v1\/events\?…\n\n\{/);
  });
});
