// The cookies that the relay sets and removes: after a refusal, and before consent in opt-in mode.

import { beforeAll, describe, expect, test } from "vitest";
import { rows } from "../support/installation.ts";
import { endToEndEngines, newInstallation, type Answer, type Installation, type Relay } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { report, type ReportBody } from "../support/visits.ts";

const optOut = "opt-out.example";
const optIn = "opt-in.example";
const emails = [sha256Of("ada@customers.example")];
const params = { gclid: "click-1" };

/** Keeps the relay's cookies as a browser does. */
function newBrowser(relay: () => Relay, host: string) {
  const held = new Map<string, string>();
  const keep = ({ headers }: Answer) => {
    for (const line of headers["set-cookie"] ?? []) {
      const [, name = "", value = "", age] = /^(\w+)=([^;]*);.*Max-Age=(\d+)/.exec(line) ?? [];
      if (age === "0") held.delete(name);
      else held.set(name, value);
    }
  };
  const list = () => [...held].map(([name, value]) => `${name}=${value}`);
  return {
    cookies: list,
    async send(endpoint: "visit" | "identify" | "consent", body: ReportBody, headers = {}): Promise<Answer> {
      const cookie = held.size ? { Cookie: list().join("; ") } : {};
      const answer = await report(relay(), host, endpoint, body, { ...cookie, ...headers });
      expect(answer.status).toBe(204);
      keep(answer);
      return answer;
    },
  };
}

describe.each(endToEndEngines)("cookies on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  beforeAll(async () => {
    home = await newInstallation(engine);
    await home.addSite(optOut);
    await home.addSite(optIn, "consent_mode=opt-in");
    relay = await home.start();
  });
  const browserOn = (host: string) => newBrowser(() => relay, host);
  const storedText = async () => {
    const tables = ["visitors", "identities", "consents", "consent_history"];
    return JSON.stringify(await Promise.all(tables.map((table) => rows(home, `SELECT * FROM ${table}`))));
  };

  const refusals = [
    ["own", { consent: { own: "denied" } }, {}],
    ["tcf", { consent: { tcf: "denied" } }, {}],
    ["gcm", { consent: { gcm: "denied" } }, {}],
    ["gpc", {}, { "Sec-GPC": "1" }],
  ] as const;

  test.each(refusals)(
    "a refusal (%s) removes the visitor cookie, and all browsers that refused hold the same constant",
    async (source, refusal, headers) => {
      const browsers = [browserOn(optOut), browserOn(optOut)];
      for (const browser of browsers) {
        await browser.send("visit", { params });
        expect(browser.cookies()).toEqual([expect.stringMatching(/^__cc_v=\w{22}$/)]);
        await browser.send("consent", { ...refusal }, headers);
        expect(browser.cookies()).toEqual([`__cc_${source}=denied`]);
      }
    },
  );

  test("a browser that refuses with its first report gets no id, also while it gives emails on later pages", async () => {
    const browser = browserOn(optOut);
    for (const endpoint of ["visit", "identify", "visit", "identify"] as const) {
      await browser.send(endpoint, {
        consent: { gcm: "denied" },
        ...(endpoint === "identify" && { emails }),
      });
      expect(browser.cookies().filter((one) => !one.startsWith("__cc_p="))).toEqual(["__cc_gcm=denied"]);
    }
    const proof = browser.cookies().find((one) => one.startsWith("__cc_p="));
    expect(proof).toMatch(/^__cc_p=\w{22}$/);
    // Nothing that is stored leads to it.
    expect(await storedText()).not.toContain(proof?.slice("__cc_p=".length));
  });

  test("nobody who merely knows an email lifts its refusal, and the browser that refused does", async () => {
    const email = sha256Of("grace@customers.example");
    const consents = async () =>
      (await rows(home, `SELECT given_by, state FROM consents WHERE subject = '${email}' ORDER BY decided_at`)).map(
        ({ given_by, state }) => ({ givenBy: String(given_by), state }),
      );
    const [own, stranger] = [browserOn(optOut), browserOn(optOut)];
    await own.send("visit", { params });
    await own.send("identify", { emails: [email] });
    await own.send("consent", { consent: { own: "denied" } });
    const [refusal] = await consents();
    expect(await consents()).toEqual([{ givenBy: expect.stringMatching(/^[0-9a-f]{22}$/), state: "denied" }]);

    const granting = { emails: [email], params: { gclid: "of-the-stranger" }, consent: { own: "granted" } } as const;
    const forged = [{}, { Cookie: "__cc_own=denied" }, { Cookie: `__cc_own=denied; __cc_p=${"a".repeat(22)}` }];
    for (const headers of forged) await stranger.send("identify", granting, headers);
    for (const headers of forged)
      await report(relay, optOut, "consent", { ...granting, visitor: "PageFour0000000000000x" }, headers);
    expect((await consents()).find(({ givenBy }) => givenBy === refusal?.givenBy)?.state).toBe("denied");

    await own.send("identify", { emails: [email], consent: { own: "granted" } });
    expect((await consents()).filter(({ state }) => state === "denied")).toEqual([]);
  });

  test("the remembered refusal alone keeps later visits from being stored, until the source grants", async () => {
    const browser = browserOn(optOut);
    await browser.send("consent", { consent: { tcf: "denied" } });
    await browser.send("visit", { params: { gclid: "after-refusal" }, visitor: "PageOne00000000000000x" });
    await browser.send("visit", { params: { gclid: "after-refusal" }, consent: { own: "granted" } });
    expect(browser.cookies()).toEqual(["__cc_tcf=denied"]);
    expect(await storedText()).not.toContain("after-refusal");
    await browser.send("visit", { params: { gclid: "after-grant" }, consent: { tcf: "granted" } });
    expect(browser.cookies()).toEqual([expect.stringMatching(/^__cc_v=\w{22}$/)]);
  });

  test("in opt-in mode no report sets a cookie or is stored before consent, not even with an email", async () => {
    const browser = browserOn(optIn);
    const before = await storedText();
    for (const endpoint of ["visit", "identify", "consent"] as const) {
      const answer = await browser.send(endpoint, { params, emails, visitor: "PageTwo00000000000000x" });
      expect(answer.headers["set-cookie"]).toBeUndefined();
    }
    expect(await storedText()).toBe(before);
    await browser.send("visit", { params, consent: { own: "granted" } });
    expect(browser.cookies()).toEqual([expect.stringMatching(/^__cc_v=\w{22}$/)]);
  });

  test("in opt-in mode a refusal sets nothing but the constant, and stores nothing, not even with an email", async () => {
    const browser = browserOn(optIn);
    const before = await storedText();
    for (const endpoint of ["visit", "identify"] as const) {
      await browser.send(endpoint, { params, emails, consent: { own: "denied" } });
      expect(browser.cookies()).toEqual(["__cc_own=denied"]);
    }
    expect(await storedText()).toBe(before);
  });
});
