// The filter step: events that the site's rules filter are stored with their reasons and not sent.

import { beforeAll, describe, expect, test } from "vitest";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { report } from "../support/visits.ts";
import { accepted, deduped, filtered, freshEvent, summarize } from "./answers.ts";

const processed = accepted("purchase", { webhook: { ok: true } });

describe.each(endToEndEngines)("filters on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  let open: TestSite;
  let strict: TestSite;

  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine);
    open = await home.addSite("open.example");
    strict = await home.addSite(
      "strict.example",
      "block_domains=Competitor.example, spam.test,yopmail.com",
      "block_disposable=on",
      `block_persons=${sha256Of("mallory@example.com").toUpperCase()}`,
    );
    for (const { host } of [open, strict]) {
      await home.run("connection", "add", host, "webhook", `url=${receiver.url}/${host}`);
    }
    relay = await home.start();
    for (const email of ["bot@example.com", "both@example.com"]) {
      const fields = { emails: [sha256Of(email)], params: { gclid: "from-a-bot" } };
      await report(relay, open.host, "identify", fields, { "User-Agent": "AhrefsBot/7.0" });
    }
    await home.run("identity", "put", open.host, "--email", "both@example.com", "gclid=from-a-human");
  });

  const send = async (event: unknown, { key } = strict) => summarize(await relay.post(key, event));

  const list = async (...options: string[]) => {
    const { items: events } = await home.run("event", "list", strict.host, "--limit", "200", ...options);
    return events as { orderId: string; status: string }[];
  };

  const blocked = (detail: string) => ({ code: "blocked domain", detail });
  const disposable = (detail: string) => ({ code: "disposable domain", detail });
  const blockedPerson = { code: "blocked person", detail: null };
  const rules: [string, string, object[]][] = [
    ["a blocked domain", "eve@competitor.example", [blocked("competitor.example")]],
    ["a blocked domain in another case", "Eve@COMPETITOR.example", [blocked("competitor.example")]],
    ["the second blocked domain", "eve@spam.test", [blocked("spam.test")]],
    ["a domain below a blocked one", "eve@mail.eu.spam.test", [blocked("spam.test")]],
    ["a disposable domain", "eve@mailinator.com", [disposable("mailinator.com")]],
    ["a blocked and disposable domain", "eve@yopmail.com", [blocked("yopmail.com"), disposable("yopmail.com")]],
    ["a blocked person", "mallory@example.com", [blockedPerson]],
    ["a blocked person in another case", " Mallory@Example.com", [blockedPerson]],
  ];

  test.each(rules)("an email of %s is filtered, and the trace says why", async (_what, email, reasons) => {
    const event = freshEvent({ email });
    const before = receiver.got.length;
    expect(await send(event)).toEqual(filtered);
    expect(receiver.got.length).toBe(before);

    const order = ["--order", String(event.orderId)];
    const { items: events } = await home.run("event", "list", strict.host, "--filtered", ...order);
    expect(events).toEqual([
      {
        id: expect.any(String),
        platformEventId: expect.any(String),
        mode: "live",
        status: "filtered",
        event: "purchase",
        value: null,
        currency: "USD",
        orderId: event.orderId,
        receivedAt: expect.any(Number),
        releasedAt: null,
        filterReasons: reasons,
        identity: expect.any(String),
        withheld: null,
        clickIds: expect.any(Array),
        deliveries: [],
      },
    ]);
    const trace = await home.run("event", "show", events[0].id);
    expect(trace).toMatchObject({ status: "filtered", filterReasons: reasons, deliveries: [] });
  });

  test("filtered emails pass on a site without filter rules", async () => {
    for (const [, email] of rules) expect(await send(freshEvent({ email }), open)).toEqual(processed);
  });

  test.each(["eve@notspam.test", "eve@spam.test.example", "spam.test@example.com", "ada@example.com"])(
    "the email %s is not matched by the rule of a blocked domain",
    async (email) => {
      expect(await send(freshEvent({ email }))).toEqual(processed);
    },
  );

  test("a blocked person is filtered by the hash alone, in any case", async () => {
    for (const hash of [sha256Of("mallory@example.com"), sha256Of("mallory@example.com").toUpperCase()]) {
      expect(await send(freshEvent({ email: null, hashed_email: hash }))).toEqual(filtered);
    }
  });

  test("a hashed email passes rules about domains", async () => {
    const event = freshEvent({ email: null, hashed_email: sha256Of("eve@spam.test") });
    expect(await send(event)).toEqual(processed);
  });

  test("event list --filtered lists only filtered events, and without the option all events", async () => {
    const good = freshEvent();
    const bad = freshEvent({ email: "eve@spam.test" });
    await send(good);
    await send(bad);
    const onlyFiltered = await list("--filtered");
    expect(new Set(onlyFiltered.map(({ status }) => status))).toEqual(new Set(["filtered"]));
    expect(onlyFiltered.map(({ orderId }) => orderId)).toContain(bad.orderId);
    expect((await list()).slice(0, 2).map(({ orderId }) => orderId)).toEqual([bad.orderId, good.orderId]);
  });

  test("a filtered event received again is a duplicate", async () => {
    const event = freshEvent({ email: "eve@spam.test" });
    expect(await send(event)).toEqual(filtered);
    expect(await send(event)).toEqual(deduped);
  });

  test("the user agent of the sender is never checked for bots", async () => {
    for (const agent of ["Googlebot/2.1", "python-requests/2.32", "HeadlessChrome", ""]) {
      const answer = await relay.post(strict.key, freshEvent(), { "User-Agent": agent });
      expect(summarize(answer)).toEqual(processed);
    }
  });

  test("an event of a person whose visits were all made by bots is filtered", async () => {
    const event = freshEvent({ email: "bot@example.com" });
    expect(await send(event, open)).toEqual(filtered);
    const { items: events } = await home.run("event", "list", open.host, "--filtered");
    const trace = await home.run("event", "show", events[0].id);
    expect(trace).toMatchObject({
      orderId: event.orderId,
      filterReasons: [{ code: "only bot visits", detail: expect.stringMatching(/^user agent:.*Ahrefs/) }],
    });
  });

  test("one human visit among bot visits lets an event pass, and only the ids of human visits are used", async () => {
    expect(await send(freshEvent({ email: "both@example.com" }), open)).toEqual(processed);
    expect(receiver.bodies().at(-1)?.clickIds).toEqual({ gclid: "from-a-human" });
  });
});
