// Access over HTTP: set-up, sign-in, codes, members, links and API keys.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { operator } from "../../src/access/actor.ts";
import { listDamagedSecrets } from "../../src/access/twoFactorSecrets.ts";
import { authenticatorCode } from "../support/authenticator.ts";
import { createTestApi, type Browser, type TestApi } from "../support/managementApi.ts";
import { engines } from "../support/relay.ts";

const password = "correct horse battery";
const tokenOf = (link: unknown) => /#(\w{32})$/m.exec(String(link))?.[1] ?? "";
const tokenIn = ({ body }: { body: unknown }) => tokenOf((body as { link: string }).link);

const codeFor = (uri: string, stepsAhead = 0) => authenticatorCode(new URL(uri).searchParams.get("secret") ?? "", stepsAhead);

describe.each(engines)("access on %s", (engine) => {
  let api: TestApi;
  let owner: Browser;
  /** Answers to sign-ins and lists: none may contain a secret. */
  const answers: string[] = [];

  const errorOf = (answer: { body: unknown }) =>
    (answer.body as { error: { code: string; message: string; field?: string } }).error;

  async function signIn(email: string, pass = password, address?: string) {
    const browser = api.browser(address);
    const answer = await browser.call("POST /session", { email, password: pass });
    answers.push(answer.text);
    return { browser, answer };
  }

  /** Invites a member, who accepts. */
  async function member(email: string, site: string | null, role: string): Promise<Browser> {
    const created = await owner.call("POST /members/invitations", { email, site, role });
    const browser = api.browser();
    const accepted = await browser.call("POST /invitations/accept", {
      token: tokenIn(created),
      name: email.split("@", 1)[0],
      password,
    });
    expect(accepted.status).toBe(200);
    return browser;
  }

  const idOf = async (email: string) => (await api.store.members.findByEmail(email))?.id ?? "";

  beforeAll(async () => {
    api = await createTestApi(engine);
  });
  afterAll(async () => {
    expect(api.defects).toEqual([]);
    await api.close();
  });

  test("of two simultaneous set-ups one creates the owner and is signed in", async () => {
    const browsers = [api.browser(), api.browser("203.0.113.2")];
    expect((await browsers[0]?.call("GET /setup"))?.body).toEqual({
      needed: true,
      passwords: true,
      singleSignOn: null,
    });
    const wrong = await browsers[0]?.call("POST /setup", {
      token: "x".repeat(32),
      email: "ada@example.com",
      name: "Ada",
      password,
    });
    expect(wrong?.status).toBe(400);
    const links = [await api.access.createSetupLink(), await api.access.createSetupLink("http://localhost:1")];
    expect(links[0]).toMatch(/^https:\/\/cc\.example\.com\/dashboard\/setup#\w{32}$/);
    expect(links[1]).toMatch(/^http:\/\/localhost:1\/dashboard\/setup#\w{32}$/);
    const both = await Promise.all(
      browsers.map((browser, i) =>
        browser.call("POST /setup", {
          token: tokenOf(links[i]),
          email: `owner${i}@Example.com`,
          name: "Ada",
          password,
        }),
      ),
    );
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const first = both.findIndex(({ status }) => status === 200);
    owner = browsers[first] as Browser;
    const [cookie] = both[first]?.setCookie ?? [];
    expect(cookie).toMatch(/^__Host-cleancast\.session_token=/);
    expect(cookie).toMatch(/; Path=\/.*; HttpOnly; Secure; SameSite=Lax/);
    const session = await owner.call("GET /session");
    expect(session.body).toEqual({
      session: {
        user: { id: expect.any(String), email: `owner${first}@example.com`, name: "Ada", twoFactor: false },
        grants: [{ site: null, role: "owner" }],
        installation: { version: "test", mail: false, url: "https://cc.example.com", store: engine },
      },
    });
    expect(await api.access.createSetupLink()).toBe(null);
    expect((await owner.call("GET /setup")).body).toEqual({
      needed: false,
      passwords: true,
      singleSignOn: null,
    });
    const again = await api.browser().call("POST /setup", {
      token: tokenOf(links[1 - first]),
      email: "late@example.com",
      name: "Late",
      password,
    });
    expect(errorOf(again).code).toBe("conflict");
  });

  test("a wrong password and an unknown email get the same answer", async () => {
    await member("bob@example.com", null, "admin");
    const wrong = await signIn("bob@example.com", "not the password");
    const unknown = await signIn("nobody@example.com", "not the password");
    const noEmail = await signIn("no email at all", "not the password");
    expect(wrong.answer.status).toBe(400);
    expect(unknown.answer.body).toEqual(wrong.answer.body);
    expect(noEmail.answer.body).toEqual(wrong.answer.body);
    expect((await signIn(" Bob@Example.com ")).answer.body).toEqual({ step: "signed in" });
  });

  test("ten wrong passwords block one network, and no other", async () => {
    await member("carol@example.com", null, "viewer");
    // Sending the attempts at the same time does not get around the limit.
    const wrong = await Promise.all(Array.from({ length: 14 }, () => signIn("carol@example.com", "guess", "203.0.113.9")));
    const statuses = wrong.map(({ answer }) => answer.status);
    expect(statuses.filter((status) => status === 400)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(4);
    const right = await signIn("carol@example.com", password, "203.0.113.9");
    expect(errorOf(right.answer)).toMatchObject({ code: "too_many" });
    expect(Number(right.answer.retryAfter)).toBeGreaterThan(800);
    expect((await signIn("carol@example.com", password, "203.0.113.10")).answer.status).toBe(200);
    api.clock.aheadMs = 16 * 60_000;
    expect((await signIn("carol@example.com", password, "203.0.113.9")).answer.status).toBe(200);
    api.clock.aheadMs = 0;
  });

  test("sessions are listed, and an ended session stops working immediately, on every node", async () => {
    const here = await member("dora@example.com", api.sites[0].id, "viewer");
    const { browser: there } = await signIn("dora@example.com");
    const list = await here.call("GET /sessions");
    const { items } = list.body as { items: { id: string; isThis: boolean; address: string }[] };
    expect(items).toHaveLength(2);
    expect(items.every(({ address }) => address === "203.0.113.1")).toBe(true);
    const other = items.find(({ isThis }) => !isThis)?.id;
    expect((await owner.call(`DELETE /sessions/${other}`)).status).toBe(404);
    const cookie = [...there.cookies].map((pair) => pair.join("=")).join("; ");
    const request = { raw: { headers: { cookie }, socket: {} } } as never;
    expect(await api.otherNode.actorOf(request)).toMatchObject({ email: "dora@example.com" });
    expect((await here.call(`DELETE /sessions/${other}`)).status).toBe(200);
    expect(await api.otherNode.actorOf(request)).toBe(null);
    expect((await there.call("GET /session")).body).toEqual({ session: null });
    const kept = new Map(here.cookies);
    expect((await here.call("DELETE /session")).status).toBe(200);
    expect(here.cookies.size).toBe(0);
    for (const [name, value] of kept) here.cookies.set(name, value);
    expect((await here.call("GET /session")).body).toEqual({ session: null });
  });

  test("changing the password ends every other session", async () => {
    const here = await member("emil@example.com", null, "viewer");
    const { browser: there } = await signIn("emil@example.com");
    const next = "another long password";
    const short = await here.call("POST /me/password", { current: password, password: "short" });
    expect(errorOf(short)).toMatchObject({ code: "invalid", field: "password" });
    const wrong = await here.call("POST /me/password", { current: "no", password: next });
    expect(errorOf(wrong)).toMatchObject({ code: "invalid", field: "current" });
    expect((await here.call("POST /me/password", { current: password, password: next })).status).toBe(200);
    expect((await there.call("GET /session")).body).toEqual({ session: null });
    expect((await here.call("GET /session")).body).toMatchObject({ session: { user: {} } });
    expect((await signIn("emil@example.com")).answer.status).toBe(400);
    expect((await signIn("emil@example.com", next)).answer.status).toBe(200);
    expect((await here.call("PATCH /me", { name: "Emil E." })).status).toBe(200);
    expect((await here.call("GET /session")).body).toMatchObject({ session: { user: { name: "Emil E." } } });
  });

  test("two-factor sign-in asks for a code, and each code works once", async () => {
    const here = await member("fay@example.com", null, "admin");
    expect((await here.call("POST /me/two-factor", { password: "no" })).status).toBe(400);
    const begun = await here.call("POST /me/two-factor", { password });
    const { uri, backupCodes } = begun.body as { uri: string; backupCodes: string[] };
    expect(uri).toMatch(/^otpauth:\/\/totp\/Cleancast/);
    expect(backupCodes).toHaveLength(10);
    // Two-factor sign-in is off until a code confirms it.
    expect((await signIn("fay@example.com")).answer.body).toEqual({ step: "signed in" });
    expect((await here.call("POST /me/two-factor/confirm", { code: "000000" })).status).toBe(400);
    const confirmed = codeFor(uri);
    expect((await here.call("POST /me/two-factor/confirm", { code: confirmed })).status).toBe(200);
    expect((await here.call("GET /session")).body).toMatchObject({ session: { user: { twoFactor: true } } });
    expect((await here.call("POST /me/two-factor", { password })).status).toBe(409);

    const first = await signIn("fay@example.com");
    expect(first.answer.body).toEqual({ step: "code needed" });
    expect((await first.browser.call("GET /session")).body).toEqual({ session: null });
    // The code that confirmed two-factor sign-in is used up; the next code is valid.
    const used = await first.browser.call("POST /session/code", { code: confirmed });
    expect(errorOf(used)).toMatchObject({ code: "invalid", field: "code" });
    expect((await first.browser.call("GET /session")).body).toEqual({ session: null });
    const second = await signIn("fay@example.com");
    const code = codeFor(uri, 1);
    expect((await second.browser.call("POST /session/code", { code })).status).toBe(200);
    expect((await second.browser.call("GET /session")).body).toMatchObject({ session: { user: {} } });
    const third = await signIn("fay@example.com");
    expect((await third.browser.call("POST /session/code", { code })).status).toBe(400);

    const [backup = ""] = backupCodes;
    const fourth = await signIn("fay@example.com");
    expect((await fourth.browser.call("POST /session/code", { code: backup })).status).toBe(200);
    const fifth = await signIn("fay@example.com");
    expect((await fifth.browser.call("POST /session/code", { code: backup })).status).toBe(400);
    for (let i = 0; i < 4; i += 1) await fifth.browser.call("POST /session/code", { code: "wrong-code" });
    const spent = await fifth.browser.call("POST /session/code", { code: backupCodes[1] });
    expect(errorOf(spent).code).toBe("signed_out");
    expect((await api.browser().call("POST /session/code", { code })).status).toBe(401);

    expect((await here.call("POST /me/two-factor/end", { password: "no" })).status).toBe(400);
    expect((await here.call("POST /me/two-factor/end", { password })).status).toBe(200);
    expect((await signIn("fay@example.com")).answer.body).toEqual({ step: "signed in" });
  });

  test("a damaged authenticator secret or damaged backup codes say so, and the other of the two still signs in", async () => {
    const here = await member("dot@example.com", null, "viewer");
    const begun = await here.call("POST /me/two-factor", { password });
    const { uri, backupCodes } = begun.body as { uri: string; backupCodes: string[] };
    const ofUser = [{ column: "user_id", operator: "eq", value: await idOf("dot@example.com") }] as const;
    const set = (values: Record<string, string>) => api.store.accounts.update("two_factors", ofUser, values);
    const [row] = await api.store.accounts.find("two_factors", ofUser, { limit: 1 });
    const [secret, codes] = [String(row?.secret), String(row?.backup_codes)];
    const damaged = (sealed: string) => `${sealed.startsWith("00") ? "11" : "00"}${sealed.slice(2)}`;
    await set({ secret: damaged(secret) });
    const unconfirmed = await here.call("POST /me/two-factor/confirm", { code: codeFor(uri) });
    expect(errorOf(unconfirmed)).toMatchObject({
      field: "code",
      message: expect.stringMatching(/authenticator app cannot be read: .* is damaged\. Begin again\.$/),
    });
    await set({ secret });
    expect((await here.call("POST /me/two-factor/confirm", { code: codeFor(uri) })).status).toBe(200);

    await set({ secret: damaged(secret) });
    const { browser } = await signIn("dot@example.com");
    const refused = await browser.call("POST /session/code", { code: codeFor(uri, 1) });
    expect(refused.status).toBe(400);
    expect(errorOf(refused).message).toMatch(
      /^The secret of your authenticator app cannot be read: .*Enter a backup code, or ask an owner/,
    );
    expect((await browser.call("POST /session/code", { code: backupCodes[0] })).status).toBe(200);
    expect((await browser.call("GET /session")).body).toMatchObject({ session: { user: {} } });

    await set({ secret, backup_codes: damaged(codes) });
    const second = await signIn("dot@example.com");
    const noCodes = await second.browser.call("POST /session/code", { code: backupCodes[1] });
    expect(errorOf(noCodes).message).toMatch(/^Your backup codes cannot be read: .*Enter a code of your app, or ask/);
    expect((await second.browser.call("POST /session/code", { code: codeFor(uri, 1) })).status).toBe(200);

    const found = await listDamagedSecrets(await api.store.members.listTwoFactors(), api.secret);
    expect(found).toEqual(["dot@example.com"]);
    expect(api.defects.splice(0).map((error) => (error as Error).message)).toEqual([
      expect.stringMatching(/^two_factors\.secret of the user \w+ cannot be read: the row is damaged$/),
      expect.stringMatching(/^two_factors\.secret /),
      expect.stringMatching(/^two_factors\.backup_codes /),
    ]);
    expect((await second.browser.call("POST /me/two-factor/end", { password })).status).toBe(200);
  });

  test("a reset link works once and ends all sessions; an owner's also turns two-factor sign-in off", async () => {
    const here = await member("gus@example.com", null, "viewer");
    const begun = await here.call("POST /me/two-factor", { password });
    const { uri } = begun.body as { uri: string };
    await here.call("POST /me/two-factor/confirm", { code: codeFor(uri) });
    expect((await api.browser().call("POST /password-resets", { email: "gus@example.com" })).body).toEqual({
      mail: false,
    });
    const created = await owner.call(`POST /members/${await idOf("gus@example.com")}/password-reset`);
    const { link } = created.body as { link: string };
    expect(link).toMatch(/^https:\/\/cc\.example\.com\/dashboard\/reset#\w{32}$/);
    const finish = { token: tokenOf(link), password: "a password that is new" };
    const short = await api.browser().call("POST /password-resets/finish", { ...finish, password: "short" });
    expect(short.status).toBe(400);
    expect((await api.browser().call("POST /password-resets/finish", finish)).status).toBe(200);
    expect((await here.call("GET /session")).body).toEqual({ session: null });
    const again = await api.browser().call("POST /password-resets/finish", finish);
    expect(errorOf(again)).toMatchObject({ code: "invalid", field: "token" });
    expect((await signIn("gus@example.com", finish.password)).answer.body).toEqual({ step: "signed in" });

    const late = await owner.call(`POST /members/${await idOf("gus@example.com")}/password-reset`);
    api.clock.aheadMs = 25 * 3_600_000;
    const over = await api.browser().call("POST /password-resets/finish", {
      token: tokenIn(late),
      password,
    });
    expect(over.status).toBe(400);
    api.clock.aheadMs = 0;
  });

  test("an invitation is accepted with a new account or with the password of an existing one", async () => {
    const [one, two] = api.sites;
    const invite = { email: "Hana@example.com", site: one.id, role: "admin" };
    const first = await owner.call("POST /members/invitations", invite);
    const second = await owner.call("POST /members/invitations", invite);
    const replaced = tokenIn(first);
    const token = tokenIn(second);
    const guest = api.browser();
    expect((await guest.call("POST /invitations/lookup", { token: replaced })).status).toBe(400);
    expect((await guest.call("POST /invitations/lookup", { token })).body).toEqual({
      email: "hana@example.com",
      role: "admin",
      site: "one.example",
      invitedBy: expect.stringMatching(/^owner\d@example\.com$/),
      known: false,
    });
    const noName = await guest.call("POST /invitations/accept", { token, password });
    expect(errorOf(noName)).toMatchObject({ field: "name" });
    const accept = { token, name: "Hana", password };
    expect((await guest.call("POST /invitations/accept", accept)).status).toBe(200);
    expect((await guest.call("GET /session")).body).toMatchObject({
      session: { grants: [{ site: one.id, role: "admin" }] },
    });
    expect((await api.browser().call("POST /invitations/accept", accept)).status).toBe(400);
    expect((await owner.call("POST /members/invitations", invite)).status).toBe(400);

    const more = await owner.call("POST /members/invitations", { ...invite, site: two.id, role: "viewer" });
    const known = tokenIn(more);
    expect((await guest.call("POST /invitations/lookup", { token: known })).body).toMatchObject({
      known: true,
    });
    const wrong = await guest.call("POST /invitations/accept", { token: known, password: "not it" });
    expect(errorOf(wrong)).toMatchObject({ field: "password" });
    expect((await guest.call("POST /invitations/accept", { token: known, password })).status).toBe(200);
    expect(await api.store.members.listGrants(await idOf("hana@example.com"))).toHaveLength(2);

    await owner.call("POST /members/invitations", { ...invite, email: "ian@example.com" });
    const list = await owner.call("GET /members");
    const { invitations } = list.body as { invitations: { id: string }[] };
    expect(invitations).toHaveLength(1);
    expect((await owner.call(`DELETE /members/invitations/${invitations[0]?.id}`)).status).toBe(200);
    expect((await owner.call(`DELETE /members/invitations/${invitations[0]?.id}`)).status).toBe(404);
  });

  test("the owner of one site manages its members and sees no other site", async () => {
    const [one, two] = api.sites;
    const siteOwner = await member("jo@example.com", one.id, "owner");
    const viewer = await member("kim@example.com", one.id, "viewer");
    await member("lea@example.com", two.id, "viewer");
    const { members } = (await siteOwner.call("GET /members")).body as { members: { email: string }[] };
    const emails = members.map(({ email }) => email);
    expect(emails).toContain("kim@example.com");
    expect(emails).not.toContain("lea@example.com");
    expect((await viewer.call("GET /members")).body).toEqual({ members: [], invitations: [] });

    const invite = { email: "mo@example.com", role: "viewer" };
    expect((await siteOwner.call("POST /members/invitations", { ...invite, site: two.id })).status).toBe(404);
    expect((await siteOwner.call("POST /members/invitations", { ...invite, site: null })).status).toBe(403);
    expect((await viewer.call("POST /members/invitations", { ...invite, site: one.id })).status).toBe(403);
    expect((await siteOwner.call("POST /members/invitations", { ...invite, site: one.id })).status).toBe(200);

    const kim = await idOf("kim@example.com");
    const lea = await idOf("lea@example.com");
    const raise = { site: one.id, role: "admin" };
    expect((await viewer.call(`PUT /members/${kim}/grants`, raise)).status).toBe(403);
    expect((await siteOwner.call(`PUT /members/${kim}/grants`, raise)).status).toBe(200);
    expect((await siteOwner.call(`PUT /members/${kim}/grants`, { ...raise, site: null })).status).toBe(403);
    expect((await siteOwner.call(`PUT /members/${lea}/grants`, raise)).status).toBe(404);
    expect((await siteOwner.call(`DELETE /members/${kim}`)).status).toBe(403);
    expect((await siteOwner.call(`PUT /members/${kim}/grants`, { site: one.id, role: null })).status).toBe(200);
    // The account remains, but has no role on any site.
    expect((await viewer.call("GET /session")).body).toMatchObject({ session: { grants: [] } });
    expect((await owner.call(`DELETE /members/${kim}`)).status).toBe(200);
    expect((await viewer.call("GET /session")).body).toEqual({ session: null });
    const audit = await api.store.audit.list(one.id, 50);
    const [taken, changed] = audit.filter(({ actor }) => actor === "jo@example.com");
    expect(taken?.detail).toMatchObject({ role: null, before: { role: changed?.detail["role"] } });
    expect(audit.filter(({ actor }) => actor === "jo@example.com").map(({ action }) => action)).toEqual([
      "member's role taken away",
      "member's role changed",
      "member invited",
      "invitation accepted",
    ]);
  });

  test("the last owner cannot be removed, also when two leave at the same time", async () => {
    const me = ((await owner.call("GET /session")).body as { session: { user: { id: string } } }).session.user.id;
    expect((await owner.call(`DELETE /members/${me}`)).status).toBe(409);
    expect((await owner.call(`PUT /members/${me}/grants`, { site: null, role: "admin" })).status).toBe(409);
    const second = await member("nia@example.com", null, "owner");
    const nia = await idOf("nia@example.com");
    const both = await Promise.all([
      owner.call(`PUT /members/${nia}/grants`, { site: null, role: "viewer" }),
      second.call(`PUT /members/${me}/grants`, { site: null, role: "viewer" }),
    ]);
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    const owners = (await api.store.members.list()).filter(({ grants }) =>
      grants.some(({ site, role }) => site === null && role === "owner"),
    );
    expect(owners).toHaveLength(1);
    if (owners[0]?.id !== me) owner = second;
  });

  test("an API key works within its scope, and ends within two seconds of its revocation", async () => {
    const [one] = api.sites;
    const siteOwner = (await signIn("jo@example.com")).browser;
    const wanted = { name: "reports", site: one.id, scopes: ["read"] };
    expect((await siteOwner.call("POST /api-keys", { ...wanted, site: null })).status).toBe(403);
    const past = await siteOwner.call("POST /api-keys", { ...wanted, expiresAt: Date.now() - 1 });
    expect(errorOf(past)).toMatchObject({ field: "expiresAt" });
    for (const scopes of [[], ["everything"]])
      expect(errorOf(await siteOwner.call("POST /api-keys", { ...wanted, scopes })).field).toMatch(/^scopes/);
    const created = await siteOwner.call("POST /api-keys", wanted);
    const { id, key } = created.body as { id: string; key: string };
    expect(key).toMatch(/^ccm_[0-9A-Za-z]{38}$/);
    const all = await owner.call("POST /api-keys", { name: "all", site: null, scopes: ["write", "read"] });

    const request = (bearer: string) => ({ raw: { headers: { authorization: `Bearer ${bearer}` } } }) as never;
    expect(await api.access.actorOf(request(key))).toEqual({
      kind: "API key",
      id,
      name: "reports",
      scopes: ["read"],
      grants: [{ site: one.id, role: "viewer" }],
    });
    expect(await api.access.actorOf(request((all.body as { key: string }).key))).toMatchObject({
      scopes: ["read", "write"],
      grants: [{ site: null, role: "admin" }],
    });
    const program = api.browser();
    const bearer = { authorization: `Bearer ${key}` };
    // A key has no session, and cannot create keys.
    expect((await program.call("GET /session", undefined, bearer)).body).toEqual({ session: null });
    expect((await program.call("POST /api-keys", wanted, bearer)).status).toBe(403);
    for (const wrong of ["ccm_short", `${key.slice(0, -1)}!`, `cc_${"a".repeat(38)}`]) {
      const answer = await program.call("GET /session", undefined, { authorization: `Bearer ${wrong}` });
      expect(errorOf(answer).code).toBe("signed_out");
    }

    await expect
      .poll(async () => {
        const { items } = (await siteOwner.call("GET /api-keys")).body as { items: { uses24h: number }[] };
        return items.length === 1 && items[0]?.uses24h;
      })
      .toBe(3);
    const list = await owner.call("GET /api-keys");
    answers.push(list.text);
    expect((list.body as { items: unknown[] }).items).toHaveLength(2);
    expect((await siteOwner.call(`DELETE /api-keys/${(all.body as { id: string }).id}`)).status).toBe(404);
    // Another node has just looked the key up, and caches the result for a moment.
    expect(await api.otherNode.actorOf(request(key))).toMatchObject({ id });
    expect((await siteOwner.call(`DELETE /api-keys/${id}`)).status).toBe(200);
    expect((await program.call("GET /session", undefined, bearer)).status).toBe(401);
    api.clock.aheadMs = 2000;
    await expect(api.otherNode.actorOf(request(key))).rejects.toThrow("not valid");
    api.clock.aheadMs = 0;
  });

  const isSignedIn = async (browser: Browser) =>
    ((await browser.call("GET /session")).body as { session: unknown }).session !== null;
  const newPassword = "a password that is new";

  async function resetFor(email: string) {
    const created = await owner.call(`POST /members/${await idOf(email)}/password-reset`);
    const finish = { token: tokenIn(created), password: newPassword };
    return () => api.browser().call("POST /password-resets/finish", finish);
  }

  /** Runs `work` just before the next session is written. */
  function beforeNextSession(work: () => Promise<unknown>): void {
    const { accounts } = api.store;
    const insert = accounts.insert.bind(accounts);
    accounts.insert = async (table, row) => {
      if (table === "sessions") {
        accounts.insert = insert;
        await work();
      }
      return insert(table, row);
    };
  }

  test("no session opened with the old password survives a password change", async () => {
    const email = "olga@example.com";
    await member(email, null, "viewer");
    let lastByte = 0;
    const signInOften = () => Array.from({ length: 8 }, () => signIn(email, password, `198.51.100.${(lastByte += 1)}`));
    const reset = await resetFor(email);
    const [first, finished, second] = [signInOften(), reset(), signInOften()];
    expect((await finished).status).toBe(200);
    for (const { browser } of await Promise.all([...first, ...second])) expect(await isSignedIn(browser)).toBe(false);
    expect((await signIn(email, newPassword)).answer.status).toBe(200);
    expect(await api.store.accounts.listSessions(await idOf(email), Date.now())).toHaveLength(1);
  });

  test("of a simultaneous change and reset of one password only one takes effect", async () => {
    const email = "pia@example.com";
    const here = await member(email, null, "viewer");
    const reset = await resetFor(email);
    const changed = "what the other one wants";
    const [finish, change] = await Promise.all([
      reset(),
      here.call("POST /me/password", { current: password, password: changed }),
    ]);
    expect([finish.status, change.status].filter((status) => status === 200)).toHaveLength(1);
    const isReset = finish.status === 200;
    expect(await isSignedIn(here)).toBe(!isReset);
    expect((await signIn(email, isReset ? newPassword : changed)).answer.status).toBe(200);
    expect((await signIn(email, isReset ? changed : newPassword)).answer.status).toBe(400);
  });

  test("a session cookie from before a password change no longer works", async () => {
    const here = await member("quinn@example.com", null, "viewer");
    const before = new Map(here.cookies);
    const given = { current: password, password: newPassword };
    expect((await here.call("POST /me/password", given)).status).toBe(200);
    expect(await isSignedIn(here)).toBe(true);
    const thief = api.browser();
    for (const [name, value] of before) thief.cookies.set(name, value);
    expect(await isSignedIn(thief)).toBe(false);
  });

  test("turning two-factor sign-in on ends other sessions, and a password reset ends pending sign-ins", async () => {
    const email = "rosa@example.com";
    const here = await member(email, null, "viewer");
    const lines = async () => (await api.store.audit.list("", 200)).filter(({ actor }) => actor === email).length;
    const before = await lines();
    const off = await here.call("POST /me/two-factor/end", { password });
    expect(errorOf(off).code).toBe("conflict");
    expect(await lines()).toBe(before);

    const { browser: there } = await signIn(email);
    let begun = await here.call("POST /me/two-factor", { password });
    const { uri, backupCodes } = begun.body as { uri: string; backupCodes: string[] };
    // A sign-in that checked the password before two-factor sign-in was turned on, and ends after.
    beforeNextSession(() => here.call("POST /me/two-factor/confirm", { code: codeFor(uri) }));
    const { browser: late, answer } = await signIn(email);
    expect(answer.status).toBe(400);
    expect(await Promise.all([here, there, late].map(isSignedIn))).toEqual([true, false, false]);

    // One backup code is sent several times at the same time.
    const waiting = await Promise.all(Array.from({ length: 4 }, () => signIn(email)));
    const codes = await Promise.all(waiting.map(({ browser }) => browser.call("POST /session/code", { code: backupCodes[0] })));
    expect(codes.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400]);

    const reset = await resetFor(email);
    const { browser: half } = await signIn(email);
    beforeNextSession(reset);
    const finished = await half.call("POST /session/code", { code: backupCodes[1] });
    expect(errorOf(finished).code).toBe("signed_out");
    expect(await isSignedIn(half)).toBe(false);

    // A reset also ends a set-up of two-factor sign-in that was begun.
    const again = (await signIn(email, newPassword)).browser;
    begun = await again.call("POST /me/two-factor", { password: newPassword });
    const next = await resetFor(email);
    beforeNextSession(next);
    const code = codeFor((begun.body as { uri: string }).uri);
    expect((await again.call("POST /me/two-factor/confirm", { code })).status).toBe(401);
    expect(await api.store.accounts.listSessions(await idOf(email), Date.now())).toEqual([]);
  });

  test("an invitation ends when its inviter loses the role owner", async () => {
    const [one, two] = api.sites;
    const siteOwner = await member("sam@example.com", one.id, "owner");
    const second = await member("tess@example.com", null, "owner");
    const [sam, tess] = [await idOf("sam@example.com"), await idOf("tess@example.com")];
    const invite = async (from: Browser, email: string, site: string | null) =>
      tokenIn(await from.call("POST /members/invitations", { email, site, role: "owner" }));
    const works = async (token: string) => (await api.browser().call("POST /invitations/lookup", { token })).status === 200;

    const tokens = [
      await invite(siteOwner, "back1@example.com", one.id),
      await invite(second, "back2@example.com", null),
      await invite(second, "back3@example.com", two.id),
    ];
    const kept = await invite(owner, "front@example.com", one.id);
    const byCommand = { actor: "command line", now: Date.now() };
    const wanted = { email: "printed@example.com", site: null, role: "viewer" } as const;
    const printed = await api.access.invitations.invite(operator, wanted, byCommand, { show: true });
    // The inviter is still an owner of one of the sites.
    await owner.call(`PUT /members/${tess}/grants`, { site: two.id, role: "owner" });
    expect(await Promise.all(tokens.map(works))).toEqual([true, true, true]);
    await owner.call(`PUT /members/${tess}/grants`, { site: null, role: "admin" });
    expect(await Promise.all(tokens.map(works))).toEqual([true, false, true]);
    await owner.call(`PUT /members/${tess}/grants`, { site: two.id, role: null });
    await owner.call(`DELETE /members/${sam}`);
    expect(await Promise.all(tokens.map(works))).toEqual([false, false, false]);
    expect(await Promise.all([kept, tokenOf(printed.link)].map(works))).toEqual([true, true]);

    // The inviter was removed while the invitation was created.
    const gone = { id: sam, grants: [{ site: one.id, role: "owner" as const }] };
    const by = { actor: "sam@example.com", now: Date.now() };
    await expect(
      api.access.invitations.invite(gone, { ...wanted, email: "back4@example.com", site: one.id }, by),
    ).rejects.toThrow("needs the role owner");

    // An older invitation does not restore a role that was removed.
    const own = await invite(owner, "tess@example.com", two.id);
    await owner.call(`PUT /members/${tess}/grants`, { site: two.id, role: "viewer" });
    await owner.call(`PUT /members/${tess}/grants`, { site: two.id, role: null });
    expect(await works(own)).toBe(false);
  });

  test("an account whose invitation link a site's owner has seen is unconfirmed until a reset link is used", async () => {
    const [one] = api.sites;
    const siteOwner = await member("uma@example.com", one.id, "owner");
    const email = "boss@example.com";
    const created = await siteOwner.call("POST /members/invitations", {
      email,
      site: one.id,
      role: "viewer",
    });
    await api.browser().call("POST /invitations/accept", { token: tokenIn(created), name: "Boss", password });
    const seen = async (from: Browser, of = email) =>
      ((await from.call("GET /members")).body as { members: { email: string }[] }).members.find((each) => each.email === of);
    expect(await seen(owner)).toMatchObject({ confirmed: false, invitedBy: "uma@example.com" });
    expect(await seen(siteOwner)).toMatchObject({ confirmed: false, invitedBy: null });
    expect(await seen(owner, "uma@example.com")).toMatchObject({ confirmed: true });
    expect((await (await resetFor(email))()).status).toBe(200);
    expect(await seen(owner)).toMatchObject({ confirmed: true, invitedBy: "uma@example.com" });
  });

  test("a site can have fifty usable API keys and no more", async () => {
    const [, two] = api.sites;
    const add = (site: string | null) => owner.call("POST /api-keys", { name: "many", site, scopes: ["read"] });
    const created = await Promise.all(Array.from({ length: 52 }, () => add(two.id)));
    const good = created.filter(({ status }) => status === 200);
    expect(good).toHaveLength(50);
    const refused = created.find(({ status }) => status !== 200);
    expect(refused && errorOf(refused)).toMatchObject({ code: "invalid", field: "site" });
    expect((await add(null)).status).toBe(200);
    const [id] = good.map(({ body }) => (body as { id: string }).id);
    expect((await owner.call(`DELETE /api-keys/${id}`)).status).toBe(200);
    expect((await add(two.id)).status).toBe(200);
  });

  test("no answer to a sign-in or a list contains a secret", async () => {
    for (const route of ["GET /session", "GET /sessions", "GET /members", "GET /api-keys"])
      answers.push((await owner.call(route)).text);
    for (const text of answers) {
      expect(text).not.toMatch(/argon2|"token"|"hash"|"secret"|ccm_\w{20}/);
      for (const value of owner.cookies.values()) expect(text).not.toContain(value.split(".", 1)[0]);
    }
  });
});

test("a set-up during which another one creates the owner says that there is an owner", async () => {
  const api = await createTestApi("sqlite");
  try {
    const setUpAs = async (name: string) => ({
      token: tokenOf(await api.access.createSetupLink()),
      email: `${name}@example.com`,
      name,
      password,
    });
    const [late, quick] = [await setUpAs("late"), await setUpAs("quick")];
    const [members, links] = [{ ...api.store.members }, { ...api.store.oneTimeLinks }];
    // The quick one runs completely between the two reads of the late one.
    const overtaken = async <T>(read: Promise<T>): Promise<T> => {
      const result = await read;
      vi.restoreAllMocks();
      expect((await api.browser("203.0.113.2").call("POST /setup", quick)).status).toBe(200);
      return result;
    };
    vi.spyOn(api.store.members, "hasOwner").mockImplementation(() => overtaken(members.hasOwner()));
    vi.spyOn(api.store.oneTimeLinks, "hasSetUp").mockImplementation((hash) => overtaken(links.hasSetUp(hash)));
    const answer = await api.browser().call("POST /setup", late);
    expect(answer.body).toMatchObject({ error: { code: "conflict" } });
  } finally {
    await api.close();
  }
});

describe("links by email", () => {
  test("when an email fails, only owners of the installation see its link", async () => {
    const api = await createTestApi("sqlite", { mail: "broken" });
    try {
      const owner = api.browser();
      const token = tokenOf(await api.access.createSetupLink());
      await owner.call("POST /setup", { token, email: "ada@example.com", name: "Ada", password });
      const [{ id: site }] = api.sites;
      const invite = { email: "bea@example.com", site, role: "owner" };
      const shown = tokenIn(await owner.call("POST /members/invitations", invite));
      const bea = api.browser();
      await bea.call("POST /invitations/accept", { token: shown, name: "Bea", password });
      expect((await api.store.members.findByEmail("bea@example.com"))?.confirmed).toBe(true);
      const answer = await bea.call("POST /members/invitations", { ...invite, email: "boss@example.com" });
      expect(answer.body).toMatchObject({
        error: { code: "unavailable", message: expect.stringContaining("could not be sent") },
      });
      expect(answer.text).not.toContain("#");
      expect(await api.store.invitations.listOpen(Date.now())).toEqual([]);
      expect(api.defects).toHaveLength(2);
    } finally {
      await api.close();
    }
  });

  test("invitations and resets are emailed, and the answer does not reveal who has an account", async () => {
    const api = await createTestApi("sqlite", { mail: true, publicUrl: "http://localhost:8080" });
    try {
      const owner = api.browser();
      const token = tokenOf(await api.access.createSetupLink());
      const created = await owner.call("POST /setup", {
        token,
        email: "ada@example.com",
        name: "Ada",
        password,
      });
      expect(created.setCookie[0]).toMatch(/^cleancast\.session_token=/);
      expect(created.setCookie[0]).not.toMatch(/secure/i);
      const invite = { email: "bea@example.com", site: null, role: "viewer" };
      expect((await owner.call("POST /members/invitations", invite)).body).toMatchObject({ link: null });
      expect(api.mails).toHaveLength(1);
      expect(api.mails[0]?.to).toBe("bea@example.com");
      expect(tokenOf(/http\S+/.exec(api.mails[0]?.text.split("\n\n")[2] ?? "")?.[0])).toHaveLength(32);

      const guest = api.browser("203.0.113.7");
      for (const email of ["Ada@example.com", "unknown@example.com"])
        expect((await guest.call("POST /password-resets", { email })).body).toEqual({ mail: true });
      await expect.poll(() => api.mails.length).toBe(2);
      const [, reset] = api.mails;
      expect(reset?.to).toBe("ada@example.com");
      const finish = { token: tokenOf(reset?.text), password: "a password that is new" };
      expect((await guest.call("POST /password-resets/finish", finish)).status).toBe(200);
      expect((await owner.call("GET /session")).body).toEqual({ session: null });
      for (let i = 0; i < 3; i += 1) await guest.call("POST /password-resets", { email: "x@example.com" });
      const many = await guest.call("POST /password-resets", { email: "x@example.com" });
      expect(many.status).toBe(429);
      expect(api.defects).toEqual([]);
    } finally {
      await api.close();
    }
  });
});
