// Whatever an authentic sender writes, the relay answers 200, with bounded work, and lives on.

import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import * as fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { forEachConcurrently } from "../../src/kernel/concurrency.ts";
import { createSender, prepare } from "../../standins/senders/sender.ts";
import { sheetOf } from "../../standins/senders/sheets.ts";
import { newFacts, secretsOf, settingsOf, stories, type Story } from "../sources/stories.ts";
import { call, engines, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { anyText, property } from "./property.ts";

/** Requests of one run: 200 of every sender, and 10,000 in the long tests. */
const perRun = 50;
/** Of these, so many are under way at the same time. */
const atOnce = 10;
const runs = 4;
const maxBytes = 1024 * 1024;
/** The processor time for one run, which takes a tenth of a second usually. It passes only while the relay works. */
const maxRunSeconds = 10;
/**
 * The relay gives up waiting for its store after 4.5 seconds and asks for a repeat, which a machine that gives it no processor for so long
 * makes it do with any request. Clocks and timers are a tenth of a second apart at most.
 */
const storeMs = 4400;

/** Stands for a text that JSON.stringify does not write, such as 1e400. */
const raw = (text: string) => `\u0001${text}\u0002`;
const withRaw = (json: string) =>
  json.replaceAll(/"\\u0001((?:[^"\\]|\\.)*?)\\u0002"/g, (_, text: string) => JSON.parse(`"${text}"`) as string);

const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: anyText },
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 2, arbitrary: fc.double() },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      null,
      true,
      "",
      " ",
      "\0",
      "\ud800",
      "-0.00",
      "49,90",
      "1e5",
      "NaN",
      "EUR",
      "🙂@example.com",
      "a\0@example.com",
      `${"a".repeat(300)}@example.com`,
      "2026-13-45T99:99:99Z",
      "+275760-09-13T00:00:00.001Z",
      -1,
      0,
      9e15,
      253_402_300_800,
      [],
      {},
      [[]],
      { value: null },
      { __proto__: null, constructor: 1, toString: 1 },
      raw("1e400"),
      raw("-1e400"),
      raw("820982911946154508"),
      raw(`1${"0".repeat(400)}`),
      raw('{"__proto__":{"email":"ada@example.com"}}'),
      raw('{"a":1,"a":2}'),
    ),
  },
  { weight: 1, arbitrary: fc.nat(20_000).map((length) => "x".repeat(length)) },
  { weight: 1, arbitrary: fc.nat(20_000).map((length) => "a@".repeat(length)) },
  { weight: 1, arbitrary: fc.nat(12_000).map((depth) => raw("[".repeat(depth) + "]".repeat(depth))) },
  {
    weight: 1,
    arbitrary: fc.nat(3000).map((length) => Array.from({ length }, () => ({ id: 1, total: "-1.00", email: "a@b.co" }))),
  },
);

type Change = { at: number; how: "set" | "drop" | "add" | "wrap" | "copy" | "repeat"; value: unknown };
const change: fc.Arbitrary<Change> = fc.record({
  at: fc.nat(),
  how: fc.constantFrom("set", "set", "set", "drop", "add", "wrap", "copy", "repeat"),
  value: oddValue,
});

type Holder = Record<string, unknown>;
const isHolder = (value: unknown): value is Holder => typeof value === "object" && value !== null;

/** Every place in a body: the object or list, and the name in it. */
function placesIn(body: unknown): [Holder, string][] {
  const places: [Holder, string][] = [];
  const open = [body];
  while (open.length > 0 && places.length < 2000) {
    const one = open.pop();
    if (!isHolder(one)) continue;
    for (const name of Object.keys(one)) {
      places.push([one, name]);
      open.push(one[name]);
    }
  }
  return places;
}

/** Returns the body with the changes, each at one of its places. */
function changed(body: unknown, changes: readonly Change[]): unknown {
  const whole: Holder = { body: structuredClone(body) };
  for (const { at, how, value } of changes) {
    const places = placesIn(whole);
    const [holder, name] = places[at % places.length] ?? [whole, "body"];
    const other = places[(at * 7 + 1) % places.length];
    if (how === "set") holder[name] = structuredClone(value);
    else if (how === "drop") delete holder[name];
    else if (how === "add") holder[`more${at % 10}`] = structuredClone(value);
    else if (how === "wrap") holder[name] = [structuredClone(holder[name])];
    else if (how === "copy" && other) holder[name] = structuredClone(other[0][other[1]]);
    else if (how === "repeat") holder[name] = Array.from({ length: at % 300 }, () => structuredClone(holder[name]));
  }
  return whole["body"];
}

type Spoil = { how: "cut" | "flip" | "insert" | "double" | "mark"; at: number; bytes: Uint8Array };
const spoil: fc.Arbitrary<Spoil> = fc.record({
  how: fc.constantFrom("cut", "flip", "insert", "double", "mark"),
  at: fc.nat(),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 8 }),
});

/** Changes the bytes themselves: often no JSON, XML or form any more, and sometimes no UTF-8. */
function spoiled(body: Buffer, { how, at, bytes }: Spoil): Buffer {
  const place = body.length === 0 ? 0 : at % body.length;
  const [before, after] = [body.subarray(0, place), body.subarray(place)];
  if (how === "cut") return before;
  if (how === "flip") return Buffer.concat([before, bytes, after.subarray(bytes.length)]);
  if (how === "insert") return Buffer.concat([before, bytes, after]);
  if (how === "double") return Buffer.concat([body, body]);
  return Buffer.concat([Buffer.from("\uFEFF"), body]);
}

/** Texts in XML and forms, which no change of an object reaches. */
function textChanged(body: string, changes: readonly Change[]): string {
  let text = body;
  for (const { at, value } of changes) {
    const places = [...text.matchAll(/>([^<>]*)<|\r\n\r\n([^\r]*)\r\n/g)];
    const place = places[at % Math.max(places.length, 1)];
    if (!place) return text;
    const odd = typeof value === "string" ? value : JSON.stringify(value);
    const inner = place[1] ?? place[2] ?? "";
    const start = place.index + place[0].indexOf(inner, 1);
    text = text.slice(0, start) + odd + text.slice(start + inner.length);
  }
  return text;
}

/** Most requests keep their form, so that the changes in them are looked at. */
const seldom = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value | null> =>
  fc.oneof({ weight: 7, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });

type Mutation = { which: number; changes: readonly Change[]; spoil: Spoil | null; type: string | null; dropHeaders: boolean };
const mutation: fc.Arbitrary<Mutation> = fc.record({
  which: fc.nat(),
  changes: fc.array(change, { minLength: 0, maxLength: 5 }),
  spoil: seldom(spoil),
  type: seldom(
    fc.constantFrom(
      "",
      "text/plain",
      "application/json",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      'multipart/form-data; boundary="',
      "text/xml",
      "image/png",
      "application/json; charset=utf-16",
    ),
  ),
  dropHeaders: fc.nat(9).map((n) => n === 0),
});

function bodyOf(story: Story, { which, changes, spoil: spoiling }: Mutation): { body: Buffer; headers: Record<string, string> } {
  const facts = newFacts();
  const messages = [...story.sale(facts), ...(story.refunds?.(facts) ?? [])];
  const message = messages[which % messages.length];
  const own = message?.body(1);
  const parsed: unknown = typeof own === "string" && own.startsWith("{") ? JSON.parse(own) : own;
  const text =
    typeof parsed === "string" ? textChanged(parsed, changes) : withRaw(JSON.stringify(changed(parsed, changes)) ?? "");
  const body = Buffer.from(text);
  return { body: spoiling ? spoiled(body, spoiling) : body, headers: message?.headers ?? {} };
}

/** The processor time that the relay has used so far. */
function cpuSecondsOf({ process: { pid } }: Relay): number {
  const [, fields = ""] = /\) (.*)/.exec(readFileSync(`/proc/${pid}/stat`, "utf8")) ?? [];
  const [user = 0, system = 0] = fields.split(" ").slice(11, 13).map(Number);
  return (user + system) / 100;
}

describe.each(engines)("mutated requests on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let site: TestSite;
  const addresses = new Map<string, string>();
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
  let longest = 0;
  let lateAnswers = 0;

  beforeAll(async () => {
    home = await newInstallation(engine);
    site = await home.addSite("shop.example", "conversions_without_email=on");
    for (const story of stories) {
      const { address } = await home.run("source", "add", site.host, sheetOf(story.sender).kind, ...settingsOf(story));
      addresses.set(story.sender, address);
    }
    relay = await home.start();
  });
  afterAll(() => agent.destroy());

  async function send(story: Story, input: Mutation): Promise<void> {
    const { body, headers } = bodyOf(story, input);
    const sent = prepare(sheetOf(story.sender), body, {
      url: addresses.get(story.sender) ?? "",
      secrets: secretsOf(story),
      headers: { ...(input.dropHeaders ? {} : headers), ...(input.type !== null && { "content-type": input.type }) },
    });
    const expected = sent.body.length > maxBytes ? 413 : 200;
    for (;;) {
      const began = performance.now();
      const { status, headers: answer } = await call(relay.url, {
        path: new URL(sent.url).pathname,
        headers: sent.headers,
        body: sent.body,
        agent,
      });
      if (status === expected) return;
      // A sender repeats it then, and so does this one until it is taken. An answer of this kind that comes sooner is a defect.
      const isLate = answer["x-cc-error"] === "unavailable" && performance.now() - began >= storeMs;
      if (!isLate) throw new Error(`${status} ${String(answer["x-cc-error"])} for ${body.subarray(0, 2000).toString()}`);
      lateAnswers += 1;
    }
  }

  for (const story of stories)
    property(
      `an authentic request of ${story.sender} is answered with 200, whatever it carries`,
      [fc.array(mutation, { minLength: perRun, maxLength: perRun })],
      async (inputs) => {
        const before = cpuSecondsOf(relay);
        // None waits for a connection: its time is the relay's alone.
        await forEachConcurrently(inputs, atOnce, (input) => send(story, input));
        longest = Math.max(longest, cpuSecondsOf(relay) - before);
      },
      { runs },
    );

  test("none was much work, and the relay still counts", async () => {
    expect(longest).toBeLessThan(maxRunSeconds);
    for (const story of stories) {
      const facts = newFacts();
      const url = addresses.get(story.sender) ?? "";
      const sender = createSender(sheetOf(story.sender), { url, at: relay.url, secrets: secretsOf(story), patience: 20 });
      for (const message of story.sale(facts)) await sender.send(message);
      const { items } = await home.run("event", "list", site.host, "--order", story.expected(facts).orderId);
      expect(items, story.sender).toHaveLength(1);
    }
    expect(relay.process.exitCode).toBe(null);
    const defects = relay
      .output()
      .split("\n")
      .filter((line) => line.includes('"level":50'));
    // A late answer is reported, too.
    const isLate = (line: string) => lateAnswers > 0 && (line.includes("in time") || line.includes("too late"));
    expect(defects.filter((line) => !isLate(line))).toEqual([]);
    expect(await relay.stop()).toBe(0);
  });
});
