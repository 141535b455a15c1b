// The outbound webhook over HTTP: a real relay pushes to a real receiver.

import type { ServerResponse } from "node:http";
import { Webhook } from "standardwebhooks";
import { beforeAll, describe, expect, test } from "vitest";
import { change } from "../support/installation.ts";
import { areInOrder, readPush, sumOf } from "../support/pushes.ts";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { botHeaders, report } from "../support/visits.ts";
import { accepted, filtered, freshEvent, summarize } from "../contract/answers.ts";

let hosts = 0;

const shortTimes = { CLEANCAST_PUSH_SECONDS: "1", CLEANCAST_PUSH_RETRY_SECONDS: "0.1" };

type Line = {
  ok: boolean;
  httpStatus: number | null;
  error: string | null;
  response: string | null;
  period: { startsAt: number } | null;
};
type Hooked = { site: TestSite; receiver: Receiver; id: string; secret: string };

describe.concurrent.each(endToEndEngines)("the outbound webhook on %s", (engine) => {
  let home: Installation;
  let relay: Relay;

  beforeAll(async () => {
    home = await newInstallation(engine, shortTimes);
    relay = await home.start();
  });

  async function newSite(): Promise<TestSite> {
    hosts += 1;
    const site = await home.addSite(`totals-${hosts}.example`);
    // The relay knows the key within a second, and then rejects the empty event with 400.
    await eventually("the key is known", async () => (await relay.post(site.key, {})).status === 400);
    return site;
  }

  async function hooked(...options: string[]): Promise<Hooked> {
    const site = await newSite();
    const receiver = await startReceiver();
    const {
      webhook: { id },
      secret,
    } = await home.run("webhook", "add", site.host, `${receiver.url}/hook?k=s3cret`, ...options);
    return { site, receiver, id, secret };
  }

  const send = async (site: TestSite, event = freshEvent(), key = site.key) => summarize(await relay.post(key, event));
  const pushes = ({ receiver, secret }: Hooked) => receiver.got.map((got) => readPush(got, secret));
  const show = (id: string) => home.run("webhook", "show", id, "--limit", "200");
  const answering =
    (status: number, body = "", headers: Record<string, string> = {}) =>
    (_got: ReceivedRequest, response: ServerResponse) =>
      void response.writeHead(status, headers).end(body);

  test("pushes carry exactly what happened since the last push, signed, period after period", async () => {
    const hook = await hooked();
    const { site } = hook;
    for (let i = 0; i < 3; i++) expect(await send(site)).toEqual(accepted("purchase"));
    const again = freshEvent();
    await send(site, again);
    await send(site, again);
    const { key: testKey } = await home.run("key", "add", site.host, "try", "--test");
    await eventually("the test key is known", async () => (await send(site, freshEvent(), testKey)).status === 200);
    await report(relay, site.host, "identify", { emails: [sha256Of("bo@example.com")] }, botHeaders);
    expect(await send(site, freshEvent({ email: "bo@example.com" }))).toEqual(filtered);
    for (let i = 0; i < 5; i++) await report(relay, site.host, "visit", {}, botHeaders);
    for (let i = 0; i < 5; i++) await report(relay, site.host, "visit");

    await eventually("everything was reported", () => {
      const { conversions, removed } = sumOf(pushes(hook));
      return conversions === 4 && removed === 6;
    });
    // Empty periods are pushed too, nothing is pushed twice, and the periods have no gaps.
    const before = pushes(hook).length;
    await eventually("two more periods are pushed", () => pushes(hook).length >= before + 2);
    const all = pushes(hook);
    expect(sumOf(all)).toEqual({ conversions: 4, removed: 6 });
    expect(new Set(all.map((one) => one.id)).size).toBe(all.length);
    expect(areInOrder(all)).toBe(true);
    expect(all.slice(1).every((one) => one.from % 1000 === 0 && one.to % 1000 === 0)).toBe(true);
    const [got] = hook.receiver.got;
    expect([got?.path, got?.headers["x-cc-test"]]).toEqual(["/hook?k=s3cret", undefined]);
  });

  test("a released event is a conversion of the period in which it was released", async () => {
    const hook = await hooked();
    const { site } = hook;
    await report(relay, site.host, "identify", { emails: [sha256Of("mo@example.com")] }, botHeaders);
    expect(await send(site, freshEvent({ email: "mo@example.com" }))).toEqual(filtered);
    await eventually("the event was pushed as removed", () => sumOf(pushes(hook)).removed === 1);
    const { items: events } = await home.run("event", "list", site.host, "--filtered");
    await home.run("event", "release", events[0].id);
    await eventually("the conversion was pushed", () => sumOf(pushes(hook)).conversions === 1);
    expect(sumOf(pushes(hook))).toEqual({ conversions: 1, removed: 1 });
  });

  test("with --no-empty only periods in which something happened are pushed", async () => {
    const hook = await hooked("--no-empty");
    const all = await startReceiver();
    await home.run("webhook", "add", hook.site.host, all.url);
    await eventually("empty periods passed", () => all.got.length >= 2);
    expect(hook.receiver.got).toEqual([]);
    await send(hook.site);
    await eventually("the period was pushed", () => hook.receiver.got.length === 1);
    expect(pushes(hook)).toMatchObject([{ conversions: 1, removed: 0 }]);
  });

  test("a receiver that is down gets every period afterwards, in order, each once", async () => {
    const hook = await hooked();
    const { receiver, site, id } = hook;
    receiver.behave = answering(503, "down for maintenance");
    for (let i = 0; i < 4; i++) {
      await send(site);
      const { waiting } = (await show(id)).webhook;
      await eventually("another period waits", async () => (await show(id)).webhook.waiting > waiting);
    }
    const { webhook, pushes: log } = await show(id);
    expect(webhook).toMatchObject({ state: "active", failingSince: expect.any(Number) });
    expect(webhook.attempts).toBeGreaterThan(1);
    expect(log.items[0]).toMatchObject({
      ok: false,
      httpStatus: 503,
      error: "HTTP 503",
      response: "down for maintenance",
    });
    // No newer period was tried before the oldest was accepted.
    expect(new Set(pushes(hook).map((one) => one.id)).size).toBe(1);

    const failed = receiver.got.length;
    receiver.behave = answering(204);
    await eventually("everything was pushed", () => sumOf(pushes(hook).slice(failed)).conversions === 4);
    const later = pushes(hook).slice(failed);
    expect(later[0]?.id).toBe(pushes(hook)[0]?.id);
    expect(areInOrder(later)).toBe(true);
    expect(new Set(later.map((one) => one.id)).size).toBe(later.length);
    expect((await show(id)).webhook).toMatchObject({ failingSince: null, attempts: 0 });
  });

  test("an answer of 410 disables a webhook with a notice, and enabling it sends the waiting periods in order", async () => {
    const hook = await hooked();
    const { receiver, site, id } = hook;
    receiver.behave = answering(410);
    await eventually("the webhook is disabled", async () => (await show(id)).webhook.state === "disabled");
    expect(receiver.got).toHaveLength(1);
    expect((await show(id)).webhook.stateReason).toBe("the receiver answered 410 Gone");
    const { items: audit } = await home.run("audit", site.host);
    expect(audit[0]).toMatchObject({
      actor: "relay",
      action: "webhook disabled",
      detail: { id, reason: "the receiver answered 410 Gone" },
    });
    expect(await home.print("webhook", "list", site.host)).toContain("disabled (the receiver answered 410");
    await send(site);
    await eventually("periods wait", async () => {
      const { webhook } = await show(id);
      return webhook.waiting >= 2 && webhook.waitingTotals.conversions === 1;
    });
    expect(receiver.got).toHaveLength(1);
    receiver.behave = answering(200);
    expect(await home.run("webhook", "enable", id)).toEqual({ waiting: expect.any(Number) });
    await eventually("the conversion was pushed", () => sumOf(pushes(hook).slice(1)).conversions === 1);
    expect(areInOrder(pushes(hook).slice(1))).toBe(true);
    expect(pushes(hook)[1]?.id).toBe(pushes(hook)[0]?.id);
    expect((await home.fails("webhook", "enable", id)).error).toBe(`Webhook ${id} is active already.`);
  });

  test("five days of failure disable a webhook, and no period is lost", async () => {
    const hook = await hooked();
    hook.receiver.behave = answering(500);
    await send(hook.site);
    await eventually("the webhook fails", async () => (await show(hook.id)).webhook.attempts > 1);
    const since = Date.now() - 5 * 86_400_000;
    await eventually("the webhook is disabled", async () => {
      // A push under way writes since when the webhook has failed as it knew it, so this may have to be repeated.
      await change(home, `UPDATE webhooks SET failing_since = ${since} WHERE id = '${hook.id}' AND state <> 'disabled'`);
      return (await show(hook.id)).webhook.state === "disabled";
    });
    expect((await show(hook.id)).webhook.stateReason).toBe("it has failed for 5 days; last: HTTP 500");
    await eventually("the relay logs that the webhook is disabled", () => /"webhook disabled"/.test(relay.output()));
    hook.receiver.behave = answering(200);
    const failed = hook.receiver.got.length;
    await home.run("webhook", "enable", hook.id);
    await eventually("the conversion was pushed", () => sumOf(pushes(hook).slice(failed)).conversions === 1);
  });

  test("pushes follow no redirects", async () => {
    const hook = await hooked();
    const elsewhere = await startReceiver();
    hook.receiver.behave = answering(307, "", { location: elsewhere.url });
    await eventually("two pushes were tried", () => hook.receiver.got.length >= 2);
    await eventually("the redirect is in the log", async () =>
      (await show(hook.id)).pushes.items.some((one: Line) => one.error === "HTTP 307: redirects are not followed"),
    );
    expect(elsewhere.got).toEqual([]);
  });

  test("a test push has the open period's totals and a test flag, and changes no totals", async () => {
    const hook = await hooked();
    const { receiver, site, id, secret } = hook;
    await home.run("webhook", "disable", id);
    await send(site);
    const before = receiver.got.length;
    const answer = await home.run("webhook", "test", id);
    expect(answer).toMatchObject({ ok: true, httpStatus: 200, error: null, response: "{}" });
    const tested = receiver.got.slice(before).filter((got) => got.headers["x-cc-test"] === "true");
    expect(tested).toHaveLength(1);
    const push = readPush(tested[0] as ReceivedRequest, secret);
    expect(push.id).toMatch(/^test_[0-9a-f-]{36}$/);
    expect(push.from).toBeLessThanOrEqual(push.to);
    expect((await show(id)).pushes.items[0]).toMatchObject({ ok: true, httpStatus: 200, period: null });

    receiver.behave = answering(418, "no");
    expect(await home.print("webhook", "test", id)).toBe("Test failed: HTTP 418\nno\n");
    receiver.behave = answering(200);
    await home.run("webhook", "enable", id);
    const pushed = () => receiver.got.filter((got) => got.headers["x-cc-test"] === undefined).map((got) => readPush(got, secret));
    await eventually("the conversion was pushed", () => sumOf(pushed()).conversions === 1);
    const soFar = pushed().length;
    await eventually("two more pushes arrive", () => pushed().length >= soFar + 2);
    expect(sumOf(pushed())).toEqual({ conversions: 1, removed: 0 });
  });

  test("after a rotation pushes use the new webhook secret, both secrets sign, and the old secret still authenticates", async () => {
    const hook = await hooked();
    const { receiver, site, id, secret: old } = hook;
    await eventually("a push arrives", () => receiver.got.length > 0);
    const rotated = await home.run("webhook", "rotate", id);
    expect(rotated).toEqual({ secret: expect.stringMatching(/^whsec_/), oldUntil: expect.any(Number) });
    expect(rotated.secret).not.toBe(old);
    const bearerOf = (got: ReceivedRequest) => got.headers.authorization?.replace("Bearer ", "");
    await eventually("pushes use the new secret", () => bearerOf(receiver.got.at(-1) as ReceivedRequest) === rotated.secret);
    // A receiver verifies with either secret, also before it has changed over.
    const last = receiver.got.at(-1) as ReceivedRequest;
    for (const secret of [old, rotated.secret])
      expect(new Webhook(secret).verify(last.text, last.headers as Record<string, string>)).toBeTruthy();

    // A receiver that compares the bearer with the old secret still gets everything.
    receiver.behave = (got, response) => void response.writeHead(bearerOf(got) === old ? 200 : 401).end(bearerOf(got));
    await send(site);
    const withOldSecret = () => receiver.got.filter((got) => bearerOf(got) === old).map((got) => readPush(got, old));
    await eventually("the conversion was pushed", () => sumOf(withOldSecret()).conversions === 1);
    const log = (await show(id)).pushes.items;
    expect(log.some((one: Line) => one.httpStatus === 401)).toBe(true);
    // The receiver echoed the secret; the log does not contain it.
    expect(JSON.stringify(log)).not.toContain("whsec_");

    await change(home, `UPDATE webhooks SET state = 'disabled', state_reason = 'test' WHERE id = '${id}'`);
    expect((await home.run("webhook", "rotate", id)).secret).not.toBe(rotated.secret);
  });

  test("a replay pushes a closed period again under the same id", async () => {
    const hook = await hooked();
    const { receiver, site, id } = hook;
    await send(site);
    await eventually("the conversion was pushed", () => sumOf(pushes(hook)).conversions === 1);
    const first = pushes(hook).find((one) => one.conversions === 1);
    if (!first) throw new Error("no push has the conversion");
    const repeated = () => pushes(hook).filter((one) => one.id === first.id);
    // A push in flight is not replayed, and it is in flight until the relay has stored the receiver's answer.
    const isAccepted = (times: number) => async () =>
      (await show(id)).pushes.items.filter((line: Line) => line.ok && line.period?.startsAt === first.from).length === times;
    const period = receiver.got.find((got) => got.headers["webhook-id"] === first.id)?.headers["x-cc-period"];
    await eventually("the receiver has accepted the push", isAccepted(1));
    expect(await home.run("webhook", "replay", id, "--period", String(period))).toEqual({ periods: 1, isDisabled: false });
    await eventually("the receiver has accepted the replay", isAccepted(2));
    expect(repeated()).toHaveLength(2);
    const at = (ms: number) => new Date(ms).toISOString();
    const range = ["--from", at(first.from), "--to", at(first.to)];
    expect((await home.run("webhook", "replay", id, ...range)).periods).toBe(1);
    await eventually("the period is pushed a third time", () => repeated().length === 3);
    expect(sumOf(pushes(hook))).toEqual({ conversions: 1, removed: 0 });

    for (const [options, sentence] of [
      [[], /--period TIME, or --from TIME --to TIME/],
      [["--period", "yesterday"], /--period must be a time like/],
      [["--from", at(5)], /--period TIME, or/],
      [["--from", at(9), "--to", at(5)], /--to must be later than --from/],
      [["--period", at(5), "--to", at(5)], /either --period, or --from and --to/],
      [["--period", at(5)], /No closed period of webhook/],
    ] as const)
      expect((await home.fails("webhook", "replay", id, ...options)).error).toMatch(sentence);
  });

  test("webhook commands show no secret, and reject wrong input in one sentence", async () => {
    const { site, receiver, id, secret } = await hooked();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { items: webhooks } = await home.run("webhook", "list", site.host);
    expect(webhooks).toMatchObject([{ id, url: `${receiver.url}/…`, state: "active", sendEmpty: true }]);
    await eventually("something is in the log", async () => (await show(id)).pushes.items.length > 0);
    const texts = [
      await home.print("webhook", "list"),
      await home.print("webhook", "show", id),
      JSON.stringify(await show(id)),
      JSON.stringify(await home.run("audit", site.host)),
      relay.output(),
    ];
    for (const text of texts) {
      expect(text).not.toContain("s3cret");
      expect(text).not.toContain(secret);
    }
    const add = async (url: string) => home.fails("webhook", "add", site.host, url);
    expect(await add(`${receiver.url}/hook?k=s3cret`)).toMatchObject({
      field: "url",
      error: `Webhook ${id} sends to this address already; rotate its secret instead.`,
    });
    expect((await add("nothing")).error).toBe("url must be an address like https://example.com/hook.");
    expect(await home.fails("webhook", "show", "nothing")).toMatchObject({ field: "webhook" });
    expect(await home.fails("webhook", "add", "no.example", receiver.url)).toMatchObject({ field: "site" });

    await home.run("webhook", "remove", id, "--yes");
    expect((await home.run("webhook", "list", site.host)).items).toEqual([]);
    expect(await home.fails("webhook", "remove", id)).toMatchObject({ field: "webhook" });
  });

  test("a graceful stop finishes the current push, and the next start continues from there", async () => {
    const own = await newInstallation(engine, shortTimes);
    const site = await own.addSite("stop.example");
    const receiver = await startReceiver();
    const { secret } = await own.run("webhook", "add", site.host, receiver.url);
    const received = () => receiver.got.map((got) => readPush(got, secret));
    const first = await own.start();
    expect((await first.post(site.key, freshEvent())).status).toBe(200);
    let release: () => void = () => {};
    receiver.behave = (_got, response) => {
      release = () => void response.writeHead(200).end();
    };
    const before = receiver.got.length;
    await eventually("a push is under way", () => receiver.got.length > before);
    const stopping = first.stop();
    setTimeout(release, 300);
    receiver.behave = answering(200);
    expect(await stopping).toBe(0);
    const sofar = received().length;
    await own.start();
    await eventually("pushes continue", () => received().length > sofar + 1);
    expect(sumOf(received())).toEqual({ conversions: 1, removed: 0 });
    expect(new Set(received().map((one) => one.id)).size).toBe(received().length);
    expect(areInOrder(received())).toBe(true);
  });
});
