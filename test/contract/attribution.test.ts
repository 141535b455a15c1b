// The attribute step: consent first, and then the identity record, decide which identifiers are sent with an event.

import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { accepted, freshEvent, summarize } from "./answers.ts";
import { dayMs as day } from "../../src/kernel/time.ts";

const daysAgo = (days: number) => new Date(Date.now() - days * day).toISOString();

// As in real addresses: case, length and every special character are part of the id.
const clickIds = {
  gclid: "Cj0KCQiA-EAIaIQobChMI_wcB.~%2B=",
  fbclid: "IwAR0aBcD_é-ß",
  ttclid: "E.C.P.Ct+8/==",
  msclkid: "0123456789abcdefABCDEF0123456789",
  ScCid: "5f1c9e1e-Aa",
};
const utm = {
  utm_source: "Newsletter ",
  utm_medium: "e-mail",
  utm_campaign: "Früh/ling & Co %20 ☕",
  utm_term: "schuhe+rot",
  utm_content: '"quoted"',
};
const pairs = Object.entries({ ...clickIds, ...utm }).map(([name, value]) => `${name}=${value}`);

const withheld = { emailSha256: null, phoneSha256: null, clickIds: {}, utm: {}, consent: "denied" };
const contact = (email: string) => ({ emailSha256: sha256Of(email), phoneSha256: sha256Of("+14255551234") });

describe.each(endToEndEngines)("attribution on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let optOut: TestSite;
  let optIn: TestSite;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, { CLEANCAST_RETRY_SECONDS: "0.2" });
    optOut = await home.addSite("opt-out.example");
    optIn = await home.addSite("opt-in.example", "consent_mode=opt-in");
    const identity = (site: TestSite, ...args: string[]) => home.run("identity", "put", site.host, ...args);
    const consent = (site: TestSite, email: string, decision: string) =>
      home.run("consent", "set", site.host, "--email", email, decision);
    for (const site of [optOut, optIn]) {
      await home.run("connection", "add", site.host, "webhook", `url=${receiver.url}/${site.host}`);
      for (const email of ["undecided", "agreed", "refused", "changed", "withdrawn"]) {
        await identity(site, "--email", `${email}@example.com`, ...pairs);
      }
      await consent(site, "agreed@example.com", "granted");
      await consent(site, "refused@example.com", "denied");
    }
    await identity(optOut, "--hashed-email", sha256Of("by-hash@example.com").toUpperCase(), "gclid=stored-by-hash");
    await identity(optOut, "--email", "old@example.com", "li_fat_id=too-old", "--seen-at", daysAgo(31));
    await identity(optOut, "--email", "old@example.com", "ttclid=too-old", "fbclid=young", "--seen-at", daysAgo(29));
    await identity(optOut, "--email", "two@example.com", "gclid=newest", "utm_source=second");
    await identity(optOut, "--email", "two@example.com", "gclid=older", "utm_source=first", "--seen-at", daysAgo(5));
    await identity(optOut, "--email", "two@example.com", "msclkid=only-then", "--seen-at", daysAgo(9));
    await consent(optOut, "nobody@example.com", "denied");
    relay = await home.start();
  });

  /** Sends an event and returns the conversion that the receiver got. */
  async function received(event: Record<string, unknown>, { key } = optOut): Promise<Record<string, unknown>> {
    const whole = freshEvent({ phone: "+1 425 555 1234", firstName: "Ada", lastName: "Byron", ...event });
    expect(summarize(await relay.post(key, whole))).toEqual(accepted("purchase", { webhook: { ok: true } }));
    const [body, ...more] = receiver.bodies().filter(({ orderId }) => orderId === whole.orderId);
    expect(more).toEqual([]);
    return body ?? {};
  }

  const traceOf = async (email: string, site: TestSite) => {
    const { platformEventId } = await received({ email }, site);
    return (await home.run("event", "show", String(platformEventId))).attribution;
  };

  const decide = (email: string, decision: string) => home.run("consent", "set", optOut.host, "--email", email, decision);

  test("the click ids and campaign of a visit are sent byte for byte", async () => {
    const body = await received({ email: "Undecided@example.com" });
    expect(body).toMatchObject({ ...contact("undecided@example.com"), consent: "unknown" });
    expect([body.clickIds, body.utm]).toEqual([clickIds, utm]);
  });

  test("a hashed email finds the record that was stored by email", async () => {
    const body = await received({ email: undefined, hashed_email: sha256Of("undecided@example.com") });
    expect([body.clickIds, body.utm]).toEqual([clickIds, utm]);
  });

  test("an email finds the record that was stored by its hash", async () => {
    expect((await received({ email: "by-hash@example.com" })).clickIds).toEqual({ gclid: "stored-by-hash" });
  });

  test("an event of a person without an identity record is sent without click ids", async () => {
    const body = await received({ email: "stranger@example.com" });
    expect(body).toMatchObject({ ...contact("stranger@example.com"), consent: "unknown" });
    expect([body.clickIds, body.utm]).toEqual([{}, {}]);
  });

  test("the identity record of one site is not used for another", async () => {
    await home.run("consent", "set", optIn.host, "--email", "two@example.com", "granted");
    const body = await received({ email: "two@example.com" }, optIn);
    expect([body.clickIds, body.utm, body.consent]).toEqual([{}, {}, "granted"]);
  });

  test("the event of a person who agreed is sent with all identifiers", async () => {
    for (const site of [optOut, optIn]) {
      const body = await received({ email: "agreed@example.com" }, site);
      expect(body).toMatchObject({ ...contact("agreed@example.com"), consent: "granted" });
      expect([body.clickIds, body.utm]).toEqual([clickIds, utm]);
    }
  });

  test("the event of a person who refused is sent without identifiers, and the conversion still counts", async () => {
    for (const site of [optOut, optIn]) {
      const body = await received({ email: "refused@example.com", value: 5, currency: "EUR" }, site);
      expect(body).toEqual({
        platformEventId: expect.any(String),
        event: "purchase",
        eventTime: expect.any(String),
        value: 5,
        currency: "EUR",
        orderId: expect.any(String),
        ...withheld,
      });
    }
  });

  test("a refusal applies to the email's hash and to persons without an identity record", async () => {
    const hashed = { email: null, hashed_email: sha256Of("refused@example.com").toUpperCase() };
    expect(await received(hashed)).toMatchObject(withheld);
    expect(await received({ email: "nobody@example.com" })).toMatchObject(withheld);
  });

  test("in opt-in mode a person who was never asked is not identified", async () => {
    for (const email of ["undecided@example.com", "stranger@example.com"]) {
      expect(await received({ email }, optIn)).toMatchObject(withheld);
    }
  });

  test("the trace of an event shows the consent and what was withheld", async () => {
    const nothing = { clickIds: {}, browserIds: {}, utm: {}, page: null, referrer: null, path: [] };
    expect(await traceOf("refused@example.com", optOut)).toEqual({
      consent: "denied",
      withheld: "opted out",
      identity: "found",
      ...nothing,
    });
    expect(await traceOf("stranger@example.com", optIn)).toEqual({
      consent: "unknown",
      withheld: "no consent",
      identity: "none",
      ...nothing,
    });
    expect(await traceOf("agreed@example.com", optOut)).toMatchObject({
      consent: "granted",
      withheld: null,
      identity: "found",
      clickIds: { gclid: { value: clickIds.gclid, seenAt: expect.any(Number) } },
      utm,
    });
  });

  test("a changed consent applies from the next event on", async () => {
    await decide("changed@example.com", "denied");
    expect(await received({ email: "changed@example.com" })).toMatchObject(withheld);
    await decide("changed@example.com", "granted");
    expect(await received({ email: "changed@example.com" })).toMatchObject({ clickIds, consent: "granted" });
  });

  test("a refusal given while an event waits for its retry applies to that retry", async () => {
    const email = "withdrawn@example.com";
    const event = freshEvent({ email, phone: "+14255551234" });
    const attempts = () => receiver.bodies().filter(({ orderId }) => orderId === event.orderId);
    const { behave } = receiver;
    onTestFinished(() => void (receiver.behave = behave));
    receiver.behave = (_request, response) => response.writeHead(503).end();
    await relay.post(optOut.key, event);
    await decide(email, "denied");
    expect(attempts()[0]).toMatchObject({ ...contact(email), clickIds, utm, consent: "unknown" });
    await eventually("a later attempt carries the refusal", () => attempts().at(-1)?.consent === "denied");
    expect(attempts().at(-1)).toEqual({ ...attempts()[0], ...withheld });
  });

  test("a click id too old for its platform is not sent", async () => {
    expect((await received({ email: "old@example.com" })).clickIds).toEqual({ fbclid: "young" });
  });

  test("the newest click id of each kind and the newest campaign of several visits are used", async () => {
    const body = await received({ email: "two@example.com" });
    expect(body.clickIds).toEqual({ gclid: "newest", msclkid: "only-then" });
    expect(body.utm).toEqual({ utm_source: "second" });
  });

  test("identity get shows the stored record under the hash alone", async () => {
    const shown = await home.run("identity", "get", optOut.host, "--email", "agreed@example.com");
    expect(shown.emailSha256).toBe(sha256Of("agreed@example.com"));
    expect(shown.consent).toBe("granted");
    expect(shown.visits).toEqual([
      { seenAt: expect.any(Number), page: null, clickIds, browserIds: {}, utm, isBot: false, reason: null },
    ]);
    expect(JSON.stringify(shown)).not.toContain("agreed@example.com");
  });
});
