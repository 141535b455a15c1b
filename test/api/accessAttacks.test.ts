// Attacks on sign-in: races for a link or a code, codes of others and of before, guesses, and ways around the second factor.

import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { authenticatorCode } from "../support/authenticator.ts";
import { createTestApi, type Browser, type TestApi } from "../support/managementApi.ts";
import { engines } from "../support/relay.ts";

const password = "correct horse battery";
const codeFor = (uri: string, stepsAhead = 0) => authenticatorCode(new URL(uri).searchParams.get("secret") ?? "", stepsAhead);

describe.each(engines)("attacks on sign-in, on %s", (engine) => {
  let api: TestApi;
  let owner: Browser;
  beforeAll(async () => {
    api = await createTestApi(engine, { mail: true });
    owner = api.browser();
    const token = /#(\w{32})$/.exec((await api.access.createSetupLink()) ?? "")?.[1];
    await owner.call("POST /setup", { token, email: "owner@example.com", name: "Owner", password });
  });
  afterAll(async () => {
    expect(api.defects).toEqual([]);
    await api.close();
  });

  let addresses = 0;
  /** Each caller has an address of its own, as the machines of an attacker have. */
  const newBrowser = () => api.browser(`198.51.${Math.floor((addresses += 1) / 250)}.${(addresses % 250) + 1}`);

  async function newMember(email: string): Promise<Browser> {
    await owner.call("POST /members/invitations", { email, site: null, role: "viewer" });
    const browser = newBrowser();
    const accepted = await browser.call("POST /invitations/accept", { token: mailedToken(email), name: "Member", password });
    expect(accepted.status).toBe(200);
    return browser;
  }

  function mailedToken(email: string): string {
    const text = api.mails.findLast((one) => one.to === email)?.text ?? "";
    return /#(\w{32})/.exec(text)?.[1] ?? "";
  }

  async function turnOn(browser: Browser) {
    const { uri, backupCodes } = (await browser.call("POST /me/two-factor", { password })).body as {
      uri: string;
      backupCodes: string[];
    };
    // A code of the step before: those of now and of the next one stay free for sign-ins.
    expect((await browser.call("POST /me/two-factor/confirm", { code: codeFor(uri, -1) })).status).toBe(200);
    return { uri, backupCodes };
  }

  /** A sign-in whose password was right, and which waits for its code. */
  async function pending(email: string, pass = password): Promise<Browser> {
    const browser = newBrowser();
    const answer = await browser.call("POST /session", { email, password: pass });
    expect(answer.body).toEqual({ step: "code needed" });
    return browser;
  }

  const isSignedIn = async (browser: Browser) =>
    ((await browser.call("GET /session")).body as { session: unknown }).session !== null;
  const countSignedIn = async (browsers: readonly Browser[]) =>
    (await Promise.all(browsers.map(isSignedIn))).filter(Boolean).length;
  const sendCode = (browser: Browser, code: string) => browser.call("POST /session/code", { code });

  test("of simultaneous uses of one reset link exactly one sets its password", async () => {
    const email = "reset@example.com";
    await newMember(email);
    const member = await api.store.members.findByEmail(email);
    expect((await owner.call(`POST /members/${member?.id}/password-reset`)).status).toBe(200);
    const token = mailedToken(email);
    const passwords = Array.from({ length: 6 }, (_, i) => `the password of caller ${i}`);
    const answers = await Promise.all(
      passwords.map((one) => newBrowser().call("POST /password-resets/finish", { token, password: one })),
    );
    const winners = passwords.filter((_, i) => answers[i]?.status === 200);
    expect(winners).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(5);
    for (const one of [...passwords, password]) {
      const { status } = await newBrowser().call("POST /session", { email, password: one });
      expect([one, status]).toEqual([one, one === winners[0] ? 200 : 400]);
    }
  });

  test("of simultaneous sign-ins with one backup code, or with one code of the app, exactly one succeeds", async () => {
    const email = "twice@example.com";
    const { uri, backupCodes } = await turnOn(await newMember(email));
    for (const code of [backupCodes[0] ?? "", codeFor(uri)]) {
      const browsers = [];
      for (let i = 0; i < 5; i += 1) browsers.push(await pending(email));
      const answers = await Promise.all(browsers.map((browser) => sendCode(browser, code)));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(await countSignedIn(browsers)).toBe(1);
    }
  });

  test("different backup codes at the same time each work at most once", async () => {
    const email = "codes@example.com";
    const { backupCodes } = await turnOn(await newMember(email));
    const browsers = [];
    for (let i = 0; i < 4; i += 1) browsers.push(await pending(email));
    const answers = await Promise.all(browsers.map((browser, i) => sendCode(browser, backupCodes[i] ?? "")));
    const used = backupCodes.slice(0, 4).filter((_, i) => answers[i]?.status === 200);
    expect(used.length).toBeGreaterThan(0);
    for (const code of used) expect((await sendCode(await pending(email), code)).status).toBe(400);
  });

  test("the codes of another account do not finish a sign-in, whichever cookies come with them", async () => {
    const [victim, attacker] = ["victim@example.com", "attacker@example.com"];
    await turnOn(await newMember(victim));
    const own = await turnOn(await newMember(attacker));
    for (const code of [codeFor(own.uri), own.backupCodes[0] ?? ""])
      expect((await sendCode(await pending(victim), code)).status).toBe(400);

    // The cookie of the attacker's own sign-in, before and after that of the victim.
    const cookieOf = (browser: Browser) => [...browser.cookies].map(([name, value]) => `${name}=${value}`);
    for (const isFirst of [true, false]) {
      const both = [await pending(attacker), await pending(victim)].map(cookieOf);
      const cookie = (isFirst ? both : both.toReversed()).flat().join("; ");
      const browser = newBrowser();
      await browser.call("POST /session/code", { code: codeFor(own.uri, 1) }, { cookie });
      const session = (await browser.call("GET /session")).body as { session: { user: { email: string } } | null };
      expect(session.session?.user.email ?? attacker).toBe(attacker);
    }
  });

  test("codes cannot be guessed: a sign-in ends after five, and an account is locked, from however many addresses", async () => {
    const email = "guessed@example.com";
    const { uri } = await turnOn(await newMember(email));
    let guesses = 0;
    let isLocked = false;
    for (let i = 0; i < 20 && !isLocked; i += 1) {
      const browser = await pending(email);
      for (let j = 0; j < 6; j += 1) {
        const { status } = await sendCode(browser, "000000");
        if (status === 400) guesses += 1;
        isLocked ||= status === 429;
        if (status !== 400) break;
      }
    }
    expect(isLocked).toBe(true);
    expect(guesses).toBeLessThanOrEqual(20);
    expect((await sendCode(await pending(email), codeFor(uri))).status).toBe(429);
  });

  test("a second factor that is set up at the same moment twice is one that its owner confirmed", async () => {
    for (let round = 0; round < 3; round += 1) {
      const email = `race${round}@example.com`;
      const browser = await newMember(email);
      const begin = async () => (await browser.call("POST /me/two-factor", { password })).body as { uri?: string };
      const { uri = "" } = await begin();
      // Another window, or somebody who has the session and the password, begins again while the code is checked.
      const [confirmed, ...begun] = await Promise.all([
        browser.call("POST /me/two-factor/confirm", { code: codeFor(uri, -1) }),
        begin(),
        begin(),
      ]);
      const isOn = ((await browser.call("GET /session")).body as { session: { user: { twoFactor: boolean } } | null }).session
        ?.user.twoFactor;
      if (confirmed?.status !== 200) {
        expect(isOn).not.toBe(true);
        continue;
      }
      const entered = await sendCode(await pending(email), codeFor(uri));
      expect([round, entered.status]).toEqual([round, 200]);
      for (const { uri: other } of begun)
        if (other) expect((await sendCode(await pending(email), codeFor(other, 1))).status).toBe(400);
    }
  });

  test("no other way in goes around the code: a mailed reset link, an invitation, an unfinished sign-in", async () => {
    const email = "around@example.com";
    const { uri } = await turnOn(await newMember(email));
    const before = mailedToken(email);
    await newBrowser().call("POST /password-resets", { email });
    await vi.waitUntil(() => mailedToken(email) !== before, { timeout: 240_000 });
    const token = mailedToken(email);
    const next = "a password that is new";
    const browser = newBrowser();
    expect((await browser.call("POST /password-resets/finish", { token, password: next })).status).toBe(200);
    expect(await isSignedIn(browser)).toBe(false);
    expect(await isSignedIn(await pending(email, next))).toBe(false);

    await owner.call("POST /members/invitations", { email, site: api.sites[0].id, role: "admin" });
    const invited = newBrowser();
    await invited.call("POST /invitations/accept", { token: mailedToken(email), password: next });
    expect(await isSignedIn(invited)).toBe(false);
    expect((await invited.call("GET /members")).status).toBe(401);
    expect((await invited.call("POST /me/two-factor/end", { password: next })).status).toBe(401);
    expect((await sendCode(invited, codeFor(uri))).status).toBe(200);
  });
});
