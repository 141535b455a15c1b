// Requests whose signature is wrong in some way are refused, for every scheme, and nothing of them is stored.

import { generateKeyPairSync } from "node:crypto";
import { connect } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { post, prepare, type Prepared } from "../../standins/senders/sender.ts";
import type { Sheet } from "../../standins/senders/sheet.ts";
import { sheetOf } from "../../standins/senders/sheets.ts";
import { ed25519 } from "../../standins/senders/signatures.ts";
import { endToEndEngines, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { newFacts, secretsOf, settingsOf, stories, type Story } from "./stories.ts";

const signed = stories.filter(({ sender }) => sheetOf(sender).sign);
const patient = { timeout: { totalMs: 120_000 } };

/** The headers that carry the signature: those that another secret or time changes. */
function signatureHeaders(sheet: Sheet, sent: Prepared): string[] {
  const other = prepare(sheet, sent.body, { url: sent.url, secrets: ["another"], signedAt: 1 }).headers;
  return Object.keys(sent.headers).filter((name) => name in other && other[name] !== sent.headers[name]);
}

const flippedBit = (bytes: Buffer, bit: number) => {
  const changed = Buffer.from(bytes);
  changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return changed;
};

/** Another character of the same alphabet. */
const otherSign = (sign: string) => (/[0-9a-f]/.test(sign) ? (sign === "0" ? "1" : "0") : sign === "A" ? "B" : "A");

/** Writes the head byte for byte, which no client of Node does for repeated or folded headers. */
function rawPost(at: string, { url, body }: Prepared, lines: readonly string[]): Promise<number> {
  const { hostname, port } = new URL(at);
  const head = [
    `POST ${new URL(url).pathname} HTTP/1.1`,
    ...lines,
    `Content-Length: ${body.length}`,
    "Connection: close",
    "",
    "",
  ];
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.concat([Buffer.from(head.join("\r\n")), body])));
    let text = "";
    socket.on("data", (part: Buffer) => (text += part.toString()));
    socket.on("error", reject);
    socket.on("close", () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)));
  });
}

describe.each(endToEndEngines)("signatures on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let site: TestSite;

  beforeAll(async () => {
    home = await newInstallation(engine);
    site = await home.addSite("shop.example", "conversions_without_email=on");
    relay = await home.start();
  });

  const add = async (story: Story, settings = settingsOf(story)): Promise<string> =>
    (await home.run("source", "add", site.host, sheetOf(story.sender).kind, ...settings)).address;
  const statusOf = async (sent: Prepared) => (await post(patient, sent, { at: relay.url }))?.status;
  /** Many within a minute are answered with 429. */
  const expectRefused = (status: number | undefined, what: string) => expect([401, 429], what).toContain(status);

  test.each(signed.map((story) => [story.sender, story] as const))("%s", async (_, story) => {
    const sheet = sheetOf(story.sender);
    const url = await add(story);
    const secrets = secretsOf(story);
    const facts = newFacts();
    const messages = story.sale(facts);
    const last = messages.at(
      story.sender === "calendly" || story.sender === "calcom" || story.sender === "lemonsqueezy" ? 0 : -1,
    );
    const right = (changes: { secrets?: string[]; signedAt?: number; body?: unknown } = {}) => {
      const { body = last?.body(1), ...rest } = changes;
      return prepare(sheet, body, { url, secrets, headers: last?.headers, ...rest });
    };
    const sent = right();
    const marks = signatureHeaders(sheet, sent);
    expect(marks).not.toEqual([]);

    const wrong = new Map<string, Prepared>();
    if (!story.secret?.signsWith)
      for (const share of [0, 0.1, 0.5, 0.9, 0.999])
        wrong.set(`a bit of the body at ${share}`, {
          ...sent,
          body: flippedBit(sent.body, Math.floor(sent.body.length * 8 * share)),
        });
    for (const name of marks) {
      const value = sent.headers[name] ?? "";
      for (const at of [value.length >> 1, value.length - 5]) {
        const changed = value.slice(0, at) + otherSign(value[at] ?? "") + value.slice(at + 1);
        wrong.set(`character ${at} of ${name}`, { ...sent, headers: { ...sent.headers, [name]: changed } });
      }
      const { [name]: _left, ...without } = sent.headers;
      // HubSpot signs in two ways at once, of which one is enough.
      if (marks.length < 3) wrong.set(`no ${name}`, { ...sent, headers: without });
      if (marks.length < 3) wrong.set(`an empty ${name}`, { ...sent, headers: { ...sent.headers, [name]: "" } });
      wrong.set(`${name} cut`, { ...sent, headers: { ...sent.headers, [name]: value.slice(0, -4) } });
      wrong.set(`${name} with 8 kB more`, { ...sent, headers: { ...sent.headers, [name]: value + "a".repeat(8000) } });
    }
    if (marks.length > 2) wrong.forEach((_one, what) => /character|cut|8 kB/.test(what) && wrong.delete(what));
    wrong.set("another secret", right({ secrets: ["whsec_YW5vdGhlcg=="] }));
    wrong.set("no secret at all", right({ secrets: [""] }));
    wrong.set("the address as the secret", right({ secrets: [url] }));
    if (sheet.signsTime && story.sender !== "hubspot") {
      wrong.set("a signature that is too old", right({ signedAt: Date.now() - 400_000 }));
      wrong.set("a signature from the future", right({ signedAt: Date.now() + 400_000 }));
      wrong.set("a time of the year 1970", right({ signedAt: 1 }));
    }
    if (sheet.rotates) wrong.set("two wrong signatures", right({ secrets: ["whsec_b25l", "whsec_dHdv"] }));
    for (const [what, one] of wrong) expectRefused(await statusOf(one), what);

    // The same header twice, and one that is folded within its signature.
    const [mark = ""] = marks.toReversed();
    const value = sent.headers[mark] ?? "";
    const others = Object.entries(sent.headers).filter(([name]) => name !== mark);
    const lines = others.map(([name, text]) => `${name}: ${text}`);
    const half = value.slice(0, value.length - 5);
    if (marks.length < 3) {
      // In this scheme a header may have several signatures, of which one is enough.
      if (sheet.kind !== "standard_webhooks")
        expectRefused(
          await rawPost(relay.url, sent, [...lines, `${mark}: ${half}xxxxx`, `${mark}: ${value}`]),
          "wrong and right",
        );
      const folded = await rawPost(relay.url, sent, [...lines, `${mark}: ${half}\r\n ${value.slice(-5)}`]);
      expect([400, 401, 429], "folded").toContain(folded);
    }
    const { orderId } = story.expected(facts);
    expect((await home.run("event", "list", site.host, "--order", orderId)).items).toEqual([]);

    // The right one passes, also after all of those, and counts once however often it is replayed.
    for (const message of messages.slice(0, messages.indexOf(last as never)))
      expect(await statusOf(prepare(sheet, message.body(1), { url, secrets, headers: message.headers }))).toBe(200);
    const kept = right();
    for (let i = 0; i < 3; i++) expect(await statusOf(kept)).toBe(200);
    if (sheet.rotates) expect(await statusOf(right({ secrets: ["whsec_b25l", ...secrets] }))).toBe(200);
    expect((await home.run("event", "list", site.host, "--order", orderId)).items).toHaveLength(1);

    // At a source with another secret the same request is worth nothing.
    const { setting = "", value: own = "" } = story.secret ?? {};
    const another = await add(story, [...story.settings, `${setting}=${own.slice(0, -4)}YWJj`]);
    expectRefused(await statusOf({ ...kept, url: another }), "replayed at another source");
  });

  test("the old signatures of HubSpot are no way around the time in the new one", async () => {
    const story = stories.find(({ sender }) => sender === "hubspot") as Story;
    const url = await add(story);
    const sent = prepare(sheetOf("hubspot"), story.sale(newFacts())[0]?.body(1), {
      url,
      secrets: secretsOf(story),
      signedAt: Date.now() - 400_000,
    });
    expect(await statusOf(sent)).toBe(401);
  });

  test("a proxy may change the host of a long request, although HubSpot signs the address", async () => {
    const story = stories.find(({ sender }) => sender === "hubspot") as Story;
    const url = await add(story);
    const events = story.sale(newFacts())[0]?.body(1);
    const body = `${JSON.stringify(events)}${" ".repeat(900_000)}`;
    await home.run("host", "add", site.host, "www.shop.example");
    for (const host of [site.host, "www.shop.example"]) {
      const named = `https://${host}${new URL(url).pathname}`;
      const { headers, ...sent } = prepare(sheetOf("hubspot"), body, { url: named, secrets: secretsOf(story) });
      const behind = { ...sent, headers: { ...headers, host: "10.0.0.7:8080" } };
      expect(await statusOf(behind), host).toBe(200);
      expect(await statusOf({ ...behind, url: `${named}?another` }), host).toBe(401);
    }
  });

  test("only GoHighLevel's own key signs for its apps", async () => {
    const url = (await home.run("source", "add", site.host, "gohighlevel", "sender=app")).address;
    const { privateKey } = generateKeyPairSync("ed25519");
    const sheet: Sheet = { ...sheetOf("gohighlevel"), sign: ed25519("x-ghl-signature", privateKey) };
    const sent = prepare(sheet, { type: "OpportunityStatusUpdate", status: "won", id: "1" }, { url, secrets: [] });
    expect(await statusOf(sent)).toBe(401);
    const unsigned = prepare(sheetOf("gohighlevel"), { contact_id: "1" }, { url, secrets: [] });
    expect(await statusOf(unsigned)).toBe(401);
  });
});
