// Sign-in to a real relay at a real OpenID provider.

import { beforeAll, beforeEach, expect, test } from "vitest";
import { runDoctor } from "../../src/doctor/doctor.ts";
import { readConfig } from "../../src/installation/config.ts";
import { startOpenIdProvider } from "../support/servers/openIdProvider.ts";
import { freePort } from "../support/servers/freePort.ts";
import { eventually, newInstallation, type Installation, type Relay } from "../support/relay.ts";

type Provider = Awaited<ReturnType<typeof startOpenIdProvider>>;
type Line = { action: string; detail: Record<string, unknown> };

let provider: Provider;
let home: Installation;
let relay: Relay;
let origin: string;

beforeAll(async () => {
  const port = await freePort();
  origin = `http://localhost:${port}`;
  provider = await startOpenIdProvider(`${origin}/oauth/sign-in/callback`);
  home = await newInstallation("sqlite", {
    PORT: String(port),
    CLEANCAST_OIDC_ISSUER: provider.issuer,
    CLEANCAST_OIDC_CLIENT_ID: "cleancast",
    CLEANCAST_OIDC_CLIENT_SECRET: "s3cret-of-the-client",
    CLEANCAST_OIDC_NAME: "Example ID",
    CLEANCAST_OIDC_DOMAINS: "example.com,example.org",
  });
  relay = await home.start();
  await home.run("member", "add", "ada@example.com", "--role", "owner");
  provider.people.set("ada", { email: "Ada@example.com", email_verified: true, name: "Ada" });
});

beforeEach(() => {
  provider.behaviour.change = null;
  provider.behaviour.subject = "ada";
});

/** A browser without pages: it keeps cookies by origin, and follows redirects until `isEnd` or an answer that is none. */
function openBrowser() {
  const jars = new Map<string, Map<string, string>>();

  async function get(url: string): Promise<Response> {
    const jar = jars.get(new URL(url).host) ?? new Map<string, string>();
    jars.set(new URL(url).host, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const response = await fetch(url, { redirect: "manual", headers: { cookie } });
    for (const line of response.headers.getSetCookie()) {
      const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === "" || /max-age=0|expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    return response;
  }

  async function follow(from: string, isEnd: (url: string) => boolean = () => false) {
    let url = from;
    for (let steps = 0; steps < 12; steps += 1) {
      if (isEnd(url)) return { url, status: 0, text: "" };
      const response = await get(url);
      const next = response.headers.get("location");
      if (next === null) return { url, status: response.status, text: await response.text() };
      url = new URL(next, url).href;
    }
    throw new Error(`too many redirects, the last to ${url}`);
  }

  return {
    follow,
    jars,
    signIn: () => follow(`${origin}/oauth/sign-in`, (url) => url === `${origin}/dashboard`),
    callbackUrl: async () => (await follow(`${origin}/oauth/sign-in`, (url) => url.includes("/sign-in/callback"))).url,
    session: async () => ((await (await get(`${origin}/api/v1/session`)).json()) as { session: unknown }).session,
  };
}

const post = (path: string, body: unknown) =>
  fetch(`${origin}/api/v1${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
const audit = async () => ((await home.run("audit", "--installation")) as { items: Line[] }).items;
const members = async () =>
  ((await home.run("member", "list")) as { members: { email: string }[] }).members.map(({ email }) => email);

test("an invited person signs in at the provider, becomes a member, and gets in again", async () => {
  const browser = openBrowser();
  expect(await browser.signIn()).toMatchObject({ url: `${origin}/dashboard` });
  expect(await browser.session()).toMatchObject({
    user: { email: "ada@example.com", name: "Ada" },
    grants: [{ site: null, role: "owner" }],
  });
  const actions = (await audit()).slice(0, 3).map(({ action }) => action);
  expect(actions.toSorted()).toEqual(["identity linked", "invitation accepted", "signed in"]);
  const again = openBrowser();
  await again.signIn();
  expect(await again.session()).toMatchObject({ user: { email: "ada@example.com" } });
  expect((await audit())[0]).toMatchObject({ action: "signed in", detail: { email: "ada@example.com" } });
  // Nothing of the sign-in stays in the browser but the session.
  expect([...(again.jars.get(new URL(origin).host)?.keys() ?? [])]).toEqual(["cleancast.session_token"]);
});

test("the sign-in page learns the name of the provider", async () => {
  const setup = await (await fetch(`${origin}/api/v1/setup`)).json();
  expect(setup).toEqual({ needed: false, passwords: true, singleSignOn: "Example ID" });
});

test.each([
  ["an unknown person", "eve", { email: "eve@example.com", email_verified: true }, "is not a member here"],
  ["an address that is not verified", "bob", { email: "ada@example.com", email_verified: false }, "has not verified"],
  ["an address without a statement about it", "bob", { email: "ada@example.com" }, "has not verified"],
  ["a person without an address", "bob", {}, "names no email address"],
  ["a person of another domain", "mallory", { email: "m@evil.example", email_verified: true }, "People of evil.example"],
  ["another person with a member's address", "zoe", { email: "ada@example.com", email_verified: true }, "another identity"],
])("%s is refused, and the audit log says so", async (_, subject, person, message) => {
  provider.people.set(subject, person);
  provider.behaviour.subject = subject;
  const browser = openBrowser();
  const answer = await browser.signIn();
  expect(answer).toMatchObject({ status: 403, text: expect.stringContaining(message) });
  expect(await browser.session()).toBeNull();
  expect((await audit())[0]).toMatchObject({ action: "sign-in refused" });
  expect(await members()).toEqual(["ada@example.com"]);
});

test.each([
  ["another nonce", { nonce: "another" }],
  ["no nonce", { nonce: undefined }],
  ["another issuer", { iss: "https://evil.example" }],
  ["another audience", { aud: "another-client" }],
  ["a time in the past", { exp: 1_700_000_000 }],
])("an ID token with %s is refused", async (_, wrong) => {
  provider.behaviour.change = (claims) => ({ ...claims, ...wrong });
  const browser = openBrowser();
  expect(await browser.signIn()).toMatchObject({
    status: 400,
    text: expect.stringContaining("You are not signed in"),
  });
  expect(await browser.session()).toBeNull();
});

test("an ID token that another key has signed is refused", async () => {
  provider.behaviour.change = (claims) => claims;
  provider.behaviour.signWith = provider.newSigningKey();
  const browser = openBrowser();
  expect((await browser.signIn()).status).toBe(400);
  expect(await browser.session()).toBeNull();
});

test("an answer with another state, an answer in another browser, and a repeated one are refused", async () => {
  const browser = openBrowser();
  const callback = new URL(await browser.callbackUrl());
  const stranger = openBrowser();
  expect(await stranger.follow(callback.href)).toMatchObject({
    status: 401,
    text: expect.stringContaining("begun in another browser"),
  });
  const wrong = new URL(callback);
  wrong.searchParams.set("state", "another");
  expect((await browser.follow(wrong.href)).status).toBe(400);
  const second = openBrowser();
  const used = await second.callbackUrl();
  const [jar] = [second.jars.get(new URL(origin).host)];
  const kept = new Map(jar);
  await second.follow(used, (url) => url === `${origin}/dashboard`);
  second.jars.set(new URL(origin).host, kept);
  expect((await second.follow(used)).status).toBe(400);
});

test("a person who cancels at the provider sees it, and the provider's own text does not appear", async () => {
  const browser = openBrowser();
  const callback = new URL(await browser.callbackUrl());
  const cancelled = new URL(callback.origin + callback.pathname);
  cancelled.searchParams.set("state", callback.searchParams.get("state") ?? "");
  cancelled.searchParams.set("iss", provider.issuer);
  cancelled.searchParams.set("error", "access_denied");
  cancelled.searchParams.set("error_description", "<script>alert(1)</script>");
  const answer = await browser.follow(cancelled.href);
  expect(answer).toMatchObject({ status: 400, text: expect.stringContaining("access_denied") });
  expect(answer.text).not.toContain("alert");
});

test("ended sessions are closed at once, and a used password link lets a new identity of the same person in", async () => {
  await home.run("member", "add", "bea@example.com", "--role", "admin");
  provider.people.set("bea", { email: "bea@example.com", email_verified: true, name: "Bea" });
  provider.people.set("bea-again", { email: "bea@example.com", email_verified: true, name: "Bea" });
  provider.behaviour.subject = "bea";
  const browser = openBrowser();
  await browser.signIn();
  expect(await browser.session()).toMatchObject({ user: { email: "bea@example.com" } });
  expect(await home.run("member", "sessions", "bea@example.com", "--end")).toMatchObject({ ended: 1 });
  expect(await browser.session()).toBeNull();

  provider.behaviour.subject = "bea-again";
  expect(await openBrowser().signIn()).toMatchObject({ status: 403 });
  const { link } = await home.run("member", "reset", "bea@example.com");
  // The link alone changes nothing.
  expect(await openBrowser().signIn()).toMatchObject({ status: 403 });
  const finished = await post("/password-resets/finish", {
    token: link.split("#")[1],
    password: "correct horse battery",
  });
  expect(finished.status).toBe(200);
  const again = openBrowser();
  await again.signIn();
  expect(await again.session()).toMatchObject({ user: { email: "bea@example.com", name: "Bea" } });
  expect(
    (await audit())
      .slice(0, 2)
      .map(({ action }) => action)
      .toSorted(),
  ).toEqual(["identity linked", "signed in"]);
  provider.behaviour.subject = "bea";
  expect(await openBrowser().signIn()).toMatchObject({ status: 403 });
});

test("with passwords switched off they are refused, and single sign-on works", async () => {
  expect(await relay.stop()).toBe(0);
  relay = await home.start({ CLEANCAST_PASSWORDS: "off" });
  for (const [path, body] of [
    ["/session", { email: "ada@example.com", password: "correct horse battery" }],
    ["/password-resets", { email: "ada@example.com" }],
    ["/invitations/accept", { token: "x", name: "Ada", password: "correct horse battery" }],
  ] as const) {
    const response = await post(path, body);
    expect(response.status, path).toBe(403);
    expect(await response.text()).toContain("Sign in with Example ID");
  }
  expect(await (await fetch(`${origin}/api/v1/setup`)).json()).toMatchObject({ passwords: false });
  const browser = openBrowser();
  await browser.signIn();
  expect(await browser.session()).toMatchObject({ user: { email: "ada@example.com" } });
  expect(await relay.stop()).toBe(0);
});

test("a provider on a private address that is not allowed is not called", async () => {
  relay = await home.start({ CLEANCAST_ALLOW_PRIVATE: "" });
  const before = provider.requests.length;
  const answer = await openBrowser().signIn();
  expect(answer).toMatchObject({ status: 503, text: expect.stringContaining("cannot be reached") });
  expect(provider.requests.length).toBe(before);
  await relay.kill();
});

test("a provider that cannot be asked is named by the start and by doctor, and does not keep the relay from starting", async () => {
  const findings = async (env: Record<string, string>) =>
    (
      await runDoctor({
        config: readConfig({ ...home.env, ...env }),
        now: Date.now(),
        network: true,
        open: () => Promise.reject(new Error("not opened")),
      })
    )
      .map(({ level, what }) => `${level}: ${what}`)
      .filter((text) => text.includes("OpenID provider"));
  expect(await findings({})).toEqual([`ok: the OpenID provider ${provider.issuer} answers`]);
  const wrong = "http://localhost:9/nowhere";
  expect(await findings({ CLEANCAST_OIDC_ISSUER: wrong })).toEqual([
    expect.stringMatching(/^error: nobody can sign in at the OpenID provider http:\/\/localhost:9\/nowhere: ./),
  ]);
  const other = await newInstallation("sqlite", { CLEANCAST_OIDC_ISSUER: wrong, CLEANCAST_OIDC_CLIENT_ID: "cleancast" });
  const started = await other.start();
  await eventually("the log has a warning", () => started.output().includes("nobody can sign in at the OpenID provider now"));
  await started.stop();
});
