// Platforms, connections, sign-ins, webhooks and alerts through the management API of a real relay.

import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { knownAt, standinConnections } from "../../scripts/standinConnections.ts";
import { platforms } from "../../src/platforms/index.ts";
import { startStandins, type Standins } from "../../standins/shared/start.ts";
import { ask, becomeOwner, invite, type Person } from "../support/apiClient.ts";
import { checkedAnswer, fault } from "../support/contractCheck.ts";
import { freePort } from "../support/servers/freePort.ts";
import { startReceiver, type ReceivedRequest, type Receiver } from "../support/receiver.ts";
import { call, endToEndEngines, eventually, newInstallation, type Relay } from "../support/relay.ts";
import { freshEvent } from "../contract/answers.ts";

describe.each(endToEndEngines)("integrations in the management API on %s", (engine) => {
  let standins: Standins;
  let receiver: Receiver;
  let relay: Relay;
  let owner: Person;
  let admin: Person;
  let colleague: Person;
  let viewer: Person;
  let site: string;
  let second: string;
  let key: string;
  let origin: string;

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    standins = await startStandins({ rateLimits: false, redirectUris: [`${origin}/oauth/callback`] });
    receiver = await startReceiver();
    relay = await (
      await newInstallation(engine, {
        PORT: String(port),
        CLEANCAST_URL: origin,
        CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
        CLEANCAST_RETRY_SECONDS: "1",
      })
    ).start();
    owner = await becomeOwner(relay);
    site = (await owner.ask("POST /sites", { host: "shop.example" })).json.id;
    second = (await owner.ask("POST /sites", { host: "second.example" })).json.id;
    key = (await owner.ask(`POST /sites/${site}/keys`, { name: "CRM" })).json.key;
    admin = await invite(relay, owner, "admin@example.com", "admin", site);
    colleague = await invite(relay, owner, "colleague@example.com", "admin", site);
    viewer = await invite(relay, owner, "viewer@example.com", "viewer", site);
  });
  afterAll(() => standins.close());

  const send = (changes: Record<string, unknown> = {}) => relay.post(key, freshEvent(changes), { Host: "shop.example" });
  const listed = async () =>
    checkedAnswer("GET /sites/:site/connections", await viewer.ask(`GET /sites/${site}/connections`)).items;

  test("the list of platforms holds every platform with its form, and no examples", async () => {
    const asked = await viewer.ask("GET /platforms");
    const { items } = checkedAnswer("GET /platforms", asked);
    expect(items.map(({ id }: { id: string }) => id)).toEqual(platforms.map(({ id }) => id));
    const names = checkedAnswer("GET /platforms/names", await viewer.ask("GET /platforms/names"));
    expect(names.items).toEqual(platforms.map(({ id, name }) => ({ id, name })));
    const signInOf = (wanted: string) => items.find(({ id }: { id: string }) => id === wanted).signIn;
    expect(signInOf("google_ads")).toEqual({ ready: false, isOptional: false });
    expect(signInOf("ga4")).toEqual({ ready: false, isOptional: true });
    expect(asked.answer.text).not.toContain("EAIaIQobChMI");
    expect(asked.answer.text.length).toBeLessThan(200_000);
    // Browsers get it compressed.
    expect(asked.answer.headers["content-encoding"]).toBeUndefined();
    const zipped = await fetch(`${relay.url}/api/v1/platforms`, { headers: { cookie: viewer.cookie } });
    expect(zipped.headers.get("content-encoding")).toBe("gzip");
    expect(Number(zipped.headers.get("content-length"))).toBeLessThan(asked.answer.text.length / 4);
    expect(await zipped.json()).toEqual(asked.json);
  });

  test("a connection is verified when it is saved, and again on request; past conversions are counted and sent", async () => {
    const shop = (await owner.ask("POST /sites", { host: "past.example" })).json.id;
    const sender = (await owner.ask(`POST /sites/${shop}/keys`, { name: "CRM" })).json.key;
    const at = `/sites/${shop}/connections`;
    for (const orderId of ["P-1", "P-2", "P-3"])
      expect((await relay.post(sender, freshEvent({ orderId, value: 5 }), { Host: "past.example" })).status).toBe(200);

    const wrong = { ...standinConnections.meta, access_token: knownAt("meta", "revokedToken") };
    const refused = checkedAnswer(
      "POST /sites/:site/connections",
      await owner.ask(`POST ${at}`, { platform: "meta", settings: wrong }),
    );
    expect(refused.connection).toMatchObject({
      state: "active",
      verification: { state: "unverified", reason: expect.stringMatching(/190/), verifiedAt: null },
      sendsNothing: null,
    });
    const { id } = refused.connection;
    const { access_token } = standinConnections.meta;
    const corrected = checkedAnswer(
      "PATCH /sites/:site/connections/:connection",
      await owner.ask(`PATCH ${at}/${id}`, { settings: { access_token } }),
    );
    expect(corrected.connection.verification).toMatchObject({ state: "verified", reason: null });

    // A wrong token does not replace the one that works, unless the caller insists.
    const change = { settings: { access_token: wrong.access_token } };
    for (const request of [
      () => owner.ask(`PATCH ${at}/${id}`, change),
      () => owner.ask(`POST ${at}`, { platform: "meta", settings: wrong }),
    ]) {
      const conflict = await request();
      expect(fault(conflict).slice(0, 2)).toEqual([409, "conflict"]);
      expect(conflict.answer.text).toMatch(/Meta refuses the new credentials: Meta error 190/);
      expect(conflict.answer.text).not.toContain(wrong.access_token);
    }
    const [kept] = (await owner.ask(`GET ${at}`)).json.items;
    expect(kept.verification).toEqual(corrected.connection.verification);
    const insisted = await owner.ask(`PATCH ${at}/${id}`, { ...change, verify: false });
    expect(insisted.json.connection.verification).toMatchObject({ state: "unverified" });
    await owner.ask(`PATCH ${at}/${id}`, { settings: { access_token } });
    const asked = checkedAnswer("POST /sites/:site/connections/:connection/verify", await owner.ask(`POST ${at}/${id}/verify`));
    expect(asked.verification.checkedAt).toBeGreaterThanOrEqual(corrected.connection.verification.checkedAt);

    const backfill = `${at}/${id}/backfill`;
    const name = "GET /sites/:site/connections/:connection/backfill";
    expect(checkedAnswer(name, await owner.ask(`GET ${backfill}`))).toEqual({ backfill: null });
    const counted = checkedAnswer(
      "POST /sites/:site/connections/:connection/backfill/count",
      await owner.ask(`POST ${backfill}/count`, { days: 7 }),
    );
    expect(counted).toEqual({ found: 3, sendable: 3, leftOut: {}, isComplete: true });
    const started = checkedAnswer(
      "POST /sites/:site/connections/:connection/backfill",
      await owner.ask(`POST ${backfill}`, { days: 7, perMinute: 6000 }),
    );
    // Its first events may be queued before the answer is read.
    expect(started.backfill).toMatchObject({ total: 3 });
    await eventually("the backfill is done", async () => {
      const { backfill: last } = (await owner.ask(`GET ${backfill}`)).json;
      return last.state === "done" && last.outcomes.sent === 3;
    });
    expect(fault(await owner.ask(`POST ${backfill}/cancel`))).toEqual([400, "invalid", "connection"]);
    expect(fault(await owner.ask(`POST ${backfill}`, { days: 0 }))).toEqual([400, "invalid", "days"]);
    const again = await owner.ask(`POST ${backfill}/count`, { days: 7 });
    expect(again.json).toMatchObject({ sendable: 0, leftOut: { "already delivered": 3 } });
    expect(fault(await viewer.ask(`POST /sites/${site}/connections/none/verify`))[0]).toBe(403);
  });

  test("backfills cannot be started without end: each start reads every event of its period", async () => {
    const third = (await owner.ask("POST /sites", { host: "third.example" })).json.id;
    const wanted = { platform: "webhook", settings: { url: `${receiver.url}/hook` } };
    const { connection } = (await owner.ask(`POST /sites/${third}/connections`, wanted)).json;
    const start = () => owner.ask(`POST /sites/${third}/connections/${connection.id}/backfill`, { days: 1, perMinute: 60 });
    const answers = await Promise.all(Array.from({ length: 101 }, start));
    expect(answers.filter(({ answer }) => answer.status === 429)).toHaveLength(1);
  });

  test("a connection can be created, previewed, tested, changed, paused, resumed and deleted", async () => {
    const url = `${receiver.url}/hook/secret-path`;
    const body = { platform: "webhook", settings: { url, headers: `{"Authorization":"Bearer hush-hush"}` } };
    const preview = (more: Record<string, unknown>) =>
      admin.ask(`POST /sites/${site}/connections/preview`, { platform: "webhook", settings: {}, ...more });
    // A preview works before the connection exists, and names the first missing setting.
    expect((await preview({})).json).toMatchObject({ fault: { field: "url" }, request: null });
    const early = checkedAnswer("POST /sites/:site/connections/preview", await preview({ settings: { url }, name: "lead" }));
    expect(early.request).toMatchObject({ method: "POST", url, body: { event: "lead" } });
    expect(receiver.got).toEqual([]);

    const created = await admin.ask(`POST /sites/${site}/connections`, body);
    const { connection, isNew } = checkedAnswer("POST /sites/:site/connections", created);
    expect(isNew).toBe(true);
    expect(connection.settings).toMatchObject({ url: `${receiver.url}/…`, headers: "(configured)" });
    const at = `/sites/${site}/connections/${connection.id}`;

    // Saved secrets are used and not shown, whatever settings the preview overrides.
    const mapped = await preview({ connection: connection.id, settings: { template: `{"n":"{{event}}"}` } });
    expect(mapped.json.request).toMatchObject({ url: `${receiver.url}/…`, body: { n: "purchase" } });
    expect(mapped.json.request.headers.authorization).toBe("(configured)");

    expect((await send()).status).toBe(200);
    const { items: events } = (await viewer.ask(`GET /sites/${site}/events`)).json;
    const past = await preview({ connection: connection.id, event: events[0].id });
    expect(past.json.request.body.platformEventId).toBe(events[0].platformEventId);
    expect(fault(await preview({ connection: connection.id, event: "none" }))).toEqual([404, "not_found", "event"]);

    receiver.behave = (_request, response) => response.writeHead(422).end(`{"error":"no hush-hush"}`);
    const tested = checkedAnswer(
      "POST /sites/:site/connections/:connection/test",
      await admin.ask(`POST ${at}/test`, { name: "lead" }),
    );
    expect(tested).toMatchObject({ skipped: null, outcome: "rejected", httpStatus: 422 });
    expect(tested.request).toContain(`POST ${receiver.url}/…`);
    expect(tested.request).toContain(`"event":"lead"`);
    receiver.behave = (_request, response) => response.writeHead(200).end("{}");

    const changed = checkedAnswer(
      "PATCH /sites/:site/connections/:connection",
      await admin.ask(`PATCH ${at}`, { settings: { method: "PUT" }, events: ["Lead"] }),
    );
    expect(changed.connection).toMatchObject({ events: ["lead"], settings: { method: "PUT" } });
    expect(changed.connection.settings.headers).toBe("(configured)");
    const patch = (more: unknown) => admin.ask(`PATCH ${at}`, more);
    expect(fault(await patch({ settings: { url: `${receiver.url}/other` } }))).toEqual([400, "invalid", "url"]);
    expect(fault(await patch({ settings: { method: "GET" } }))).toEqual([400, "invalid", "method"]);
    expect(fault(await patch({ settings: {}, events: [] }))).toEqual([400, "invalid", "events"]);
    expect((await patch({ settings: {}, events: null })).json.connection.events).toBeNull();
    // No answer contains the address's path or the secret header.
    const seen = [created, mapped, past, await viewer.ask(`GET /sites/${site}/connections`)];
    for (const { answer } of seen) expect(answer.text).not.toMatch(/secret-path|hush-hush/);
    expect(JSON.stringify(tested)).not.toMatch(/secret-path|hush-hush/);

    expect((await admin.ask(`POST ${at}/pause`)).status).toBe(200);
    await send();
    const parked = () => viewer.ask(`GET /sites/${site}/deliveries?state=parked&connection=${connection.id}`);
    await eventually("the delivery is parked", async () => (await parked()).json.items.length === 1);
    expect((await listed())[0].waiting).toBe(1);
    const got = receiver.got.length;
    const resumed = checkedAnswer("POST /sites/:site/connections/:connection/resume", await admin.ask(`POST ${at}/resume`));
    expect(resumed.released).toBe(1);
    await eventually("the delivery is sent", async () => receiver.got.length === got + 1);
    await eventually("the delivery is counted", async () => {
      const [one] = await listed();
      return one.waiting === 0 && one.lastSentAt !== null && one.attempts24h.sent >= 1;
    });

    // Another site's connection is not found.
    const elsewhere = `/sites/${second}/connections/${connection.id}`;
    for (const foreign of [await owner.ask(`PATCH ${elsewhere}`, { settings: {} }), await owner.ask(`DELETE ${elsewhere}`)]) {
      expect(fault(foreign)).toEqual([404, "not_found", "connection"]);
      expect(foreign.answer.text).not.toContain("cleancast ");
    }
    const through = await owner.ask(`POST /sites/${second}/connections/preview`, {
      platform: "webhook",
      connection: connection.id,
      settings: {},
    });
    expect(fault(through)).toEqual([404, "not_found", "connection"]);
    expect((await admin.ask(`DELETE ${at}`)).status).toBe(200);
    expect(await listed()).toEqual([]);
  });

  test("the signing secret of an endpoint is shown when it is created or rotated, and by no other answer", async () => {
    const body = { platform: "webhook", settings: { url: `${receiver.url}/signed` } };
    const created = checkedAnswer("POST /sites/:site/connections", await admin.ask(`POST /sites/${site}/connections`, body));
    const first = created.newSecret;
    expect(first).toMatch(/^whsec_/);
    const at = `/sites/${site}/connections/${created.connection.id}`;
    const rotated = checkedAnswer("POST /sites/:site/connections/:connection/rotate", await admin.ask(`POST ${at}/rotate`));
    expect(rotated.oldUntil).toBeGreaterThan(Date.now() + 23 * 3_600_000);
    const next = rotated.secret;
    expect(next).not.toBe(first);
    await admin.ask(`POST ${at}/test`, {});
    const { text, headers } = receiver.got.at(-1) as ReceivedRequest;
    for (const secret of [first, next]) expect(new Webhook(secret).verify(text, headers as Record<string, string>)).toBeTruthy();

    const again = await admin.ask(`POST /sites/${site}/connections`, body);
    expect(checkedAnswer("POST /sites/:site/connections", again).newSecret).toBeNull();
    const changed = await admin.ask(`PATCH ${at}`, { settings: { method: "PUT" } });
    expect(checkedAnswer("PATCH /sites/:site/connections/:connection", changed).newSecret).toBeNull();
    const performance = await viewer.ask(`GET ${at}/performance?days=7`);
    expect(checkedAnswer("GET /sites/:site/connections/:connection/performance", performance)).toMatchObject({
      step: "day",
      isComplete: true,
      totals: { failed: 0 },
      reasons: [],
    });
    expect(fault(await viewer.ask(`GET ${at}/performance?days=3`))[0]).toBe(400);
    const list = await viewer.ask(`GET /sites/${site}/connections`);
    const audit = await owner.ask(`GET /sites/${site}/audit`);
    expect(audit.answer.text).toContain("signing secret rotated");
    const [newest] = audit.json.items;
    expect(newest).toMatchObject({ action: "connection changed", actor: admin.email });
    expect(newest.detail).toMatchObject({ platform: "webhook", method: "PUT", before: { method: "POST" } });
    const given = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    expect((await admin.ask(`PATCH ${at}`, { settings: { signing_secret: given } })).status).toBe(200);
    const [secretLine] = (await owner.ask(`GET /sites/${site}/audit`)).json.items;
    expect(secretLine.detail).toMatchObject({ signing_secret: { secret: "replaced" } });
    expect(JSON.stringify(secretLine)).not.toContain(given);
    for (const { answer } of [again, changed, list, audit]) expect(answer.text).not.toContain("whsec_");
    expect(fault(await viewer.ask(`POST ${at}/rotate`))[0]).toBe(403);

    const sandbox = await admin.ask(`POST /sites/${site}/connections`, { platform: "sandbox", settings: {} });
    expect(sandbox.json.newSecret).toBeNull();
    const other = `/sites/${site}/connections/${sandbox.json.connection.id}`;
    expect(fault(await admin.ask(`POST ${other}/rotate`))).toEqual([400, "invalid", "connection"]);
    for (const one of [at, other]) expect((await admin.ask(`DELETE ${one}`)).status).toBe(200);
  });

  test("connecting the same account twice at the same time creates one connection", async () => {
    const body = { platform: "webhook", settings: { url: `${receiver.url}/twice` } };
    const both = await Promise.all([1, 2].map(() => admin.ask(`POST /sites/${site}/connections`, body)));
    expect(both.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    expect(both.filter(({ status }) => status >= 500)).toEqual([]);
    const [only, none] = await listed();
    expect(none).toBeUndefined();
    expect((await admin.ask(`DELETE /sites/${site}/connections/${only.id}`)).status).toBe(200);
  });

  test("only the person who began a sign-in can open it, see it and connect with it", async () => {
    const app = {
      clientId: knownAt("pinterest", "clientId"),
      clientSecret: knownAt("pinterest", "clientSecret"),
    };
    expect(fault(await admin.ask(`POST /sites/${site}/sign-ins`, { platform: "pinterest" }))).toEqual([
      400,
      "invalid",
      "platform",
    ]);
    expect((await owner.ask("PUT /oauth-apps/pinterest", app)).status).toBe(200);
    const apps = await owner.ask("GET /oauth-apps");
    expect(checkedAnswer("GET /oauth-apps", apps).redirectUri).toBe(`${origin}/oauth/callback`);
    expect(apps.answer.text).not.toContain(app.clientSecret);
    expect(checkedAnswer("GET /oauth-apps", apps).items).toContainEqual({
      platform: "pinterest",
      clientId: app.clientId,
      updatedAt: expect.any(Number),
      readable: true,
    });

    const asked = await admin.ask(`POST /sites/${site}/sign-ins`, { platform: "pinterest" });
    const { id, url } = checkedAnswer("POST /sites/:site/sign-ins", asked);
    const step = async (person: Person) => person.ask(`GET /sites/${site}/sign-ins/${id}`);
    const open = (cookie: string) => call(origin, { method: "GET", path: url.replace(origin, ""), headers: { Cookie: cookie } });
    expect(checkedAnswer("GET /sites/:site/sign-ins/:signIn", await step(admin)).step).toBe("requested");
    expect((await step(colleague)).status).toBe(404);
    expect((await open(colleague.cookie)).status).toBe(400);

    const started = await open(admin.cookie);
    expect(started.status, started.text).toBe(303);
    const [signInCookie = ""] = (started.headers["set-cookie"] ?? []).map((one) => one.split(";", 1)[0]);
    const back = await standins.of("pinterest").decide(started.headers.location as string, "allow");
    const finished = await call(origin, {
      method: "GET",
      path: back.replace(origin, ""),
      headers: { Cookie: signInCookie },
    });
    expect(finished.status, finished.text).toBe(303);
    expect(finished.headers.location).toBe(`${origin}/dashboard/sites/${site}/integrations/pinterest?signIn=${id}`);
    expect((await step(admin)).json).toEqual({ step: "done", error: null });

    const { access_token: _token, ...settings } = standinConnections.pinterest;
    const wanted = { platform: "pinterest", settings, signIn: id };
    const route = `POST /sites/${site}/connections`;
    expect(fault(await colleague.ask(route, wanted))).toEqual([404, "not_found", "signIn"]);
    const apiKey = await owner.ask("POST /api-keys", { name: "reports", site, scopes: ["write"] });
    const bearer = { Authorization: `Bearer ${apiKey.json.key}` };
    expect(fault(await ask(relay, route, wanted, bearer))).toEqual([403, "forbidden", "signIn"]);
    const choices = await admin.ask(`POST /sites/${site}/connections/choices`, {
      platform: "pinterest",
      setting: "ad_account_id",
      settings: {},
      signIn: id,
    });
    expect(checkedAnswer("POST /sites/:site/connections/choices", choices).items.length).toBeGreaterThan(0);
    const created = checkedAnswer("POST /sites/:site/connections", await admin.ask(route, wanted));
    expect(created.connection.settings.access_token).toBe("(configured)");
    // A sign-in can be used once.
    expect((await step(admin)).status).toBe(404);
    const tested = await admin.ask(`POST /sites/${site}/connections/${created.connection.id}/test`, {});
    expect(tested.json).toMatchObject({ outcome: "accepted", httpStatus: 200 });
  });

  test("a webhook can be tested, its log read, its secret rotated and its periods replayed", async () => {
    const add = (url: string) => admin.ask(`POST /sites/${site}/webhooks`, { url });
    const created = await add(`${receiver.url}/totals/secret-path`);
    const { webhook, secret } = checkedAnswer("POST /sites/:site/webhooks", created);
    expect(webhook).toMatchObject({
      url: `${receiver.url}/…`,
      state: "active",
      waiting: 0,
      lastPushAt: null,
    });
    expect(secret).toMatch(/^whsec_/);
    expect(fault(await add(`${receiver.url}/totals/secret-path`))).toEqual([400, "invalid", "url"]);
    const at = `/sites/${site}/webhooks/${webhook.id}`;
    for (let n = 0; n < 3; n++) {
      const tested = checkedAnswer("POST /sites/:site/webhooks/:webhook/test", await admin.ask(`POST ${at}/test`));
      expect(tested).toMatchObject({ ok: true, httpStatus: 200 });
      expect(receiver.got.at(-1)?.text).toBe(tested.body);
    }
    const pushes = async (query: string) =>
      checkedAnswer("GET /sites/:site/webhooks/:webhook/pushes", await viewer.ask(`GET ${at}/pushes?limit=2${query}`));
    const first = await pushes("");
    const rest = await pushes(`&cursor=${first.next}`);
    expect([first.items.length, rest.items.length, rest.next]).toEqual([2, 1, null]);
    expect(first.items[0]).toMatchObject({ ok: true, period: null });

    const rotated = checkedAnswer("POST /sites/:site/webhooks/:webhook/rotate", await admin.ask(`POST ${at}/rotate`));
    expect(rotated.secret).not.toBe(secret);
    expect((await admin.ask(`POST ${at}/disable`)).status).toBe(200);
    const all = await viewer.ask(`GET /sites/${site}/webhooks`);
    const { items, period } = checkedAnswer("GET /sites/:site/webhooks", all);
    expect(items).toMatchObject([{ state: "disabled", nextPushAt: null, lastPushAt: expect.any(Number) }]);
    expect(period.endsAt).toBeGreaterThan(period.startsAt);
    expect(all.answer.text).not.toMatch(/secret-path|whsec_/);
    expect((await admin.ask(`POST ${at}/enable`)).json).toEqual({ waiting: 0 });
    const replay = await admin.ask(`POST ${at}/replay`, { from: 0, to: 1 });
    expect(fault(replay)).toEqual([400, "invalid", "period"]);
    expect(replay.answer.text).not.toContain("cleancast ");
    expect(fault(await admin.ask(`POST ${at}/replay`, { from: 2, to: 1 }))).toEqual([400, "invalid", "to"]);
    const foreign = await owner.ask(`DELETE /sites/${second}/webhooks/${webhook.id}`);
    expect(fault(foreign)).toEqual([404, "not_found", "webhook"]);
    expect((await admin.ask(`DELETE ${at}`)).status).toBe(200);
  });

  test("alerts are listed, and a test alert goes to every channel", async () => {
    const alerts = await viewer.ask(`GET /sites/${site}/alerts`);
    expect(checkedAnswer("GET /sites/:site/alerts", alerts)).toEqual({ open: [], over: [], mail: false });
    const withoutChannel = await admin.ask(`POST /sites/${site}/alerts/test`);
    expect(fault(withoutChannel)).toEqual([400, "invalid", "site"]);
    expect(withoutChannel.answer.text).not.toContain("cleancast ");
    await admin.ask(`PATCH /sites/${site}/settings`, {
      settings: { alert_webhook: `${receiver.url}/alerts` },
    });
    const sent = await admin.ask(`POST /sites/${site}/alerts/test`);
    expect(checkedAnswer("POST /sites/:site/alerts/test", sent).channels).toEqual([
      { channel: "webhook", to: `${receiver.url}/…`, ok: true, error: null },
    ]);
    expect(receiver.bodies().at(-1)).toMatchObject({
      type: "test",
      url: expect.stringMatching(new RegExp(`^http://[\\w.]+:\\d+/dashboard/sites/${site}/settings/alerts$`)),
    });
  });
});
