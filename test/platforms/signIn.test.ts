// Signing in at platforms, against the authorization pages and token endpoints of the stand-ins. No page needs a script.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { standinClient, standinConnections } from "../../scripts/standinConnections.ts";
import { platforms } from "../../src/platforms/index.ts";
import type { StandinId } from "../../standins/index.ts";
import { startStandins, type Standins } from "../../standins/shared/start.ts";
import { freePort } from "../support/servers/freePort.ts";
import {
  call,
  endToEndEngines,
  eventually,
  newInstallation,
  type Installation,
  type Relay,
  type TestSite,
} from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { report } from "../support/visits.ts";

const withSignIn = platforms.filter((platform) => platform.oauth).map((platform) => platform.id as StandinId);

describe.each(endToEndEngines)("signing in on %s", (engine) => {
  let standins: Standins;
  let home: Installation;
  let relay: Relay;
  let site: TestSite;
  let origin: string;
  const host = "signin.example";

  beforeAll(async () => {
    const port = await freePort();
    origin = `http://127.0.0.1:${port}`;
    standins = await startStandins({ rateLimits: false, redirectUris: [`${origin}/oauth/callback`] });
    home = await newInstallation(engine, {
      PORT: String(port),
      CLEANCAST_URL: origin,
      CLEANCAST_PLATFORM_ORIGINS: JSON.stringify(standins.origins),
      CLEANCAST_RETRY_SECONDS: "1",
    });
    relay = await home.start();
    site = await home.addSite(host);
    for (const id of withSignIn) {
      const { clientId, clientSecret } = standinClient(id);
      await home.run("oauth", "app", "set", id, `client_id=${clientId}`, `client_secret=${clientSecret}`);
    }
  });
  afterAll(() => standins.close());

  const get = (url: string, cookie?: string) =>
    call(origin, { method: "GET", path: url.replace(origin, ""), headers: cookie ? { Cookie: cookie } : {} });

  /** Returns the link that the command prints. */
  async function link(id: string): Promise<{ id: string; url: string }> {
    return home.run("sign-in", host, id, "--no-wait");
  }

  /** Opens the link and presses the button; returns the redirect of the platform, and the cookie. */
  async function agree(id: StandinId, url: string, decision: "allow" | "deny" = "allow") {
    const started = await get(url);
    expect(started.status, started.text).toBe(303);
    const [setCookie] = started.headers["set-cookie"] ?? [];
    expect(setCookie).toMatch(/HttpOnly; SameSite=Lax/);
    const cookie = (setCookie as string).split(";", 1)[0] as string;
    const back = await standins.of(id).decide(started.headers.location as string, decision);
    return { back, cookie };
  }

  async function signIn(id: StandinId): Promise<string> {
    const asked = await link(id);
    const { back, cookie } = await agree(id, asked.url);
    const finished = await get(back, cookie);
    expect(finished.status, finished.text).toBe(200);
    expect(finished.text).toContain("Signed in at");
    return asked.id;
  }

  const settingsOf = (id: StandinId) =>
    Object.entries(standinConnections[id])
      .filter(([name]) => name !== "access_token")
      .map(([name, value]) => `${name}=${value}`);

  test.each(withSignIn)("%s: the tokens of a sign-in become a connection, and the list of connections hides them", async (id) => {
    const signedIn = await signIn(id);
    const connected = await home.run("connection", "add", host, id, `sign_in=${signedIn}`, ...settingsOf(id));
    expect(connected.connection.platform).toBe(id);
    const { items: connections } = await home.run("connection", "list", host);
    const mine = connections.find((one: { id: string }) => one.id === connected.connection.id);
    expect(mine.settings.access_token).toBe("(configured)");
    // A sign-in can be used once.
    expect(await home.fails("connection", "add", host, id, `sign_in=${signedIn}`, ...settingsOf(id))).toMatchObject({
      field: "sign_in",
    });
  });

  test("a denied sign-in is reported to the browser and the terminal", async () => {
    const asked = await link("google_ads");
    const { back, cookie } = await agree("google_ads", asked.url, "deny");
    const finished = await get(back, cookie);
    expect(finished.status).toBe(400);
    expect(finished.text).toMatch(/refused the sign-in.*access_denied/s);
    const failed = await home.fails("connection", "add", host, "google_ads", `sign_in=${asked.id}`);
    expect(failed.error).toMatch(/failed: access_denied/);
  });

  test("a link works once, and its redirect works once and only in the same browser", async () => {
    const asked = await link("google_ads");
    const { back, cookie } = await agree("google_ads", asked.url);
    expect((await get(asked.url)).status).toBe(400);
    for (const wrong of [
      undefined,
      cookie.replace(/=.*/, "=another"),
      cookie.replace(/=.*/, "="),
      cookie.replace("cc_sign_in_", "cc_sign_in_x"),
    ]) {
      const other = await get(back, wrong);
      expect(other.status).toBe(400);
      expect(other.text).toContain("no longer valid");
    }
    expect((await get(back, cookie)).status).toBe(200);
    expect((await get(back, cookie)).status).toBe(400);
  });

  test("an invented state, link or code fails, and nothing of it is echoed", async () => {
    const evil = encodeURIComponent('"><script>alert(1)</script>');
    for (const path of [
      `/oauth/start/${evil}`,
      "/oauth/start/a.b.c",
      `/oauth/callback?code=x&state=${evil}`,
      "/oauth/callback",
      `/oauth/callback?error=${evil}&error_description=${evil}&state=a.b.c`,
    ]) {
      const answer = await get(path, "cc_sign_in_b=abc");
      expect(answer.status).toBe(400);
      expect(answer.text).not.toContain("<script>");
      expect(answer.headers["content-security-policy"]).toContain("default-src 'none'");
      expect(answer.headers["cache-control"]).toBe("no-store");
    }
  });

  test("without an app, or at a platform without sign-in, the command says what to do", async () => {
    expect((await home.fails("sign-in", host, "webhook", "--no-wait")).error).toMatch(/no sign-in/);
    await home.run("oauth", "app", "remove", "tiktok");
    expect((await home.fails("sign-in", host, "tiktok", "--no-wait")).error).toMatch(/oauth app set tiktok/);
    const { items: apps } = await home.run("oauth", "app", "list");
    expect(JSON.stringify(apps)).not.toContain("secret");
    const { clientId, clientSecret } = standinClient("tiktok");
    await home.run("oauth", "app", "set", "tiktok", `client_id=${clientId}`, `client_secret=${clientSecret}`);
  });

  // A token that only reads reports is not needed to send.
  const renewing = withSignIn.filter((id) => {
    const oauth = platforms.find((one) => one.id === id)?.oauth;
    return oauth?.refresh !== "none" && !oauth?.isForReading;
  });

  test.each(renewing)("%s: an expired access token is renewed once, and the event is sent", async (id) => {
    const standin = standins.of(id);
    const signedIn = await signIn(id);
    // Microsoft sends events with the tag token, which is never renewed.
    if (id === "microsoft_ads") return;
    const connected = await home.run("connection", "add", host, id, `sign_in=${signedIn}`, ...settingsOf(id));
    const email = `${id}@customers.example`;
    const params = {
      gclid: "renew",
      ttclid: "renew-1",
      ScCid: "renew",
      rdt_cid: "renew",
      li_fat_id: "a3b1f0c2-9d4e-4f6a-8b7c-1d2e3f4a5b6c",
      epik: "renew",
    };
    await eventually("the relay knows the site", async () => {
      const identified = { emails: [sha256Of(email)], params };
      return (await report(relay, host, "identify", identified)).status === 204;
    });
    standin.expireTokens();
    const before = standin.received.filter((one) => one.kind === "token").length;
    await eventually(`${id} accepts again`, async () => {
      const answers = await Promise.all(
        Array.from({ length: 4 }, () =>
          relay.post(site.key, {
            email,
            event: "purchase",
            orderId: `${id}-${Math.random()}`,
            value: 5,
            currency: "EUR",
          }),
        ),
      );
      return answers.every(({ text }) => JSON.parse(text).results?.[id]?.ok === true);
    });
    const renewals = standin.received.filter((one) => one.kind === "token").length - before;
    expect(renewals).toBe(1);
    const { items: connections } = await home.run("connection", "list", host);
    expect(connections.find((one: { id: string }) => one.id === connected.connection.id)).toMatchObject({
      state: "active",
    });
  });

  test("a connection whose permission was revoked needs reconnection, and a new sign-in restores it", async () => {
    const standin = standins.of("google_ads");
    const email = "revoked@customers.example";
    await report(relay, host, "identify", { emails: [sha256Of(email)], params: { gclid: "revoked" } });
    const send = async () => {
      const answer = await relay.post(site.key, {
        email,
        event: "purchase",
        orderId: `revoked-${Math.random()}`,
      });
      return JSON.parse(answer.text).results?.google_ads;
    };
    standin.revokeTokens();
    await eventually("events are parked", async () => (await send())?.status === "parked");
    const before = standin.accepted.length;
    const signedIn = await signIn("google_ads");
    const connected = await home.run("connection", "add", host, "google_ads", `sign_in=${signedIn}`, ...settingsOf("google_ads"));
    expect(connected).toMatchObject({ isNew: false });
    await eventually("the parked events were sent", () => standin.accepted.length > before);
  });
});
