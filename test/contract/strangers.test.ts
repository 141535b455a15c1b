// What a program can do that knows an email and sends reports as if it were a page of the site: it never replaces what a browser
// with more evidence has reported, and it does not refuse for that person.

import { beforeAll, describe, expect, test } from "vitest";
import { dayMs } from "../../src/kernel/time.ts";
import { rows } from "../support/installation.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, newInstallation, type Installation, type Relay, type TestSite } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { cookieOf, personsAgent, report, type ReportBody } from "../support/visits.ts";

/** A form that was submitted after four seconds and 20 keys. */
const byHand = [4000, 20, false];
const host = "shop.example";
const askingHost = "asks-first.example";
/** Its conversions go to Meta, which gets cookies and the browser too. */
const metaHost = "meta.example";
const stranger = { "X-Forwarded-For": "198.51.100.23" };

describe.each(endToEndEngines)("a stranger who knows an email, on %s", (engine) => {
  let home: Installation;
  let relay: Relay;
  let receiver: Receiver;
  const sites = new Map<string, TestSite>();
  beforeAll(async () => {
    receiver = await startReceiver();
    home = await newInstallation(engine, { CLEANCAST_PLATFORM_ORIGINS: JSON.stringify({ meta: receiver.url }) });
    sites.set(host, await home.addSite(host));
    sites.set(askingHost, await home.addSite(askingHost, "consent_mode=opt-in"));
    for (const one of sites.keys()) await home.run("connection", "add", one, "webhook", `url=${receiver.url}/${one}`);
    sites.set(metaHost, await home.addSite(metaHost));
    await home.run("connection", "add", metaHost, "meta", "--no-verify", "pixel_id=1234567890123456", "access_token=meta-token");
    relay = await home.start();
  });

  let people = 0;
  const newEmail = () => `person${(people += 1)}@customers.example`;
  let pages = 0;
  const newPageId = () => `Page${String((pages += 1)).padStart(18, "0")}`;

  const send = async (endpoint: "visit" | "identify" | "consent", body: ReportBody, headers = {}, to = host) => {
    const answer = await report(relay, to, endpoint, body, headers);
    expect(answer.status).toBe(204);
    return cookieOf(answer);
  };

  /** A person lands from an advertisement, and submits the email in a form. Returns the browser's cookie. */
  async function comeByClick(email: string, gclid: string, submit: readonly unknown[] | null = byHand, headers = {}) {
    const visitor = newPageId();
    const landing = { visitor, params: { gclid, utm_source: gclid } };
    const cookie = await send("visit", landing, headers);
    await send("identify", { ...landing, emails: [sha256Of(email)], ...(submit && { submit }) }, { ...cookie, ...headers });
    return cookie;
  }

  /** Returns what a platform gets of a conversion of the person. */
  async function convert(email: string, to = host) {
    const orderId = `order-${receiver.bodies().length + 1}`;
    const site = sites.get(to);
    expect((await relay.post(site?.key ?? "", { email, event: "purchase", orderId })).status).toBe(200);
    const { clickIds, utm, consent, emailSha256 } = receiver.bodies().find((body) => body["orderId"] === orderId) ?? {};
    return { clickIds, utm, consent, isNamed: emailSha256 !== null };
  }

  /** Returns what Meta gets of the browser of a person who buys. */
  async function convertAtMeta(email: string) {
    const before = receiver.got.length;
    expect((await relay.post(sites.get(metaHost)?.key ?? "", { email, event: "purchase", value: 1 })).status).toBe(200);
    const [body] = receiver.bodies().slice(before) as { data: { user_data: Record<string, unknown> }[] }[];
    const { fbc, fbp, client_ip_address: address, client_user_agent: userAgent } = body?.data[0]?.user_data ?? {};
    return { fbc, fbp, address, userAgent };
  }

  /** As the second part of the tag reports it. */
  const trapped = Object.assign(Array<number>(17).fill(0), { 13: 1 });
  const ownClick = { clickIds: { gclid: "own" }, utm: { utm_source: "own" }, consent: "unknown", isNamed: true };
  const falseClick = { params: { gclid: "false", utm_source: "false" } };

  test("one report with a false click does not replace the click of a form", async () => {
    const email = newEmail();
    await comeByClick(email, "own");
    const emails = [sha256Of(email)];
    await send("identify", { ...falseClick, emails }, stranger);
    await send("identify", { ...falseClick, emails, visitor: newPageId(), submit: byHand }, stranger);
    await send("identify", { ...falseClick, emails, consent: { own: "granted" } }, stranger);
    expect(await convert(email)).toEqual(ownClick);
  });

  const cookiesOf = (name: string) => ({ _fbp: `fb.1.1794297600000.${name.length}`, _fbc: `fb.1.${Date.now()}.${name}` });

  test("one report with false cookies does not replace those of a form, nor its click, nor its browser", async () => {
    const emails = [newEmail(), newEmail(), newEmail()];
    const own = { address: "203.0.113.77", userAgent: personsAgent };
    const [byCookie, byClick, byNothing] = [cookiesOf("own"), { _fbp: cookiesOf("own")._fbp }, {}];
    const landings = [
      { cookies: byCookie },
      { cookies: byClick, params: { fbclid: "own-click" } },
      { cookies: byNothing, params: { utm_source: "mail" } },
    ];
    for (const [i, email] of emails.entries()) {
      const landing = { visitor: newPageId(), ...landings[i] };
      const cookie = await send("visit", landing, {}, metaHost);
      await send("identify", { ...landing, emails: [sha256Of(email)], submit: byHand }, cookie, metaHost);
    }
    const forged = {
      cookies: cookiesOf("forged"),
      params: { fbclid: "false-click" },
      emails: emails.map((one) => sha256Of(one)),
    };
    for (const one of forged.emails) {
      await send("identify", { ...forged, emails: [one] }, { ...stranger, "User-Agent": `${personsAgent} Forged` }, metaHost);
    }
    expect(await convertAtMeta(emails[0] as string)).toEqual({ ...own, fbp: byCookie._fbp, fbc: byCookie._fbc });
    const fbcOf = (click: string) => expect.stringMatching(new RegExp(`^fb\\.1\\.\\d{13}\\.${click}$`));
    expect(await convertAtMeta(emails[1] as string)).toEqual({ ...own, fbp: byClick._fbp, fbc: fbcOf("own-click") });
    // Where the person has none, those of the report are used, as a click is.
    const fbp = forged.cookies._fbp;
    expect(await convertAtMeta(emails[2] as string)).toEqual({ ...own, fbp, fbc: fbcOf("false-click") });
  });

  test("one report with another kind of Google's click ids does not replace the click of a form", async () => {
    const email = newEmail();
    const landing = { visitor: newPageId(), params: { wbraid: "own", utm_source: "own" } };
    const cookie = await send("visit", landing);
    const emails = [sha256Of(email)];
    await send("identify", { ...landing, emails, submit: byHand }, cookie);
    await send("identify", { params: { gclid: "false", gbraid: "false", wbraid: "false" }, emails }, stranger);
    expect(await convert(email)).toEqual({ ...ownClick, clickIds: { wbraid: "own" } });
  });

  test("a played visit without a form does not replace the click of a form, however often it is repeated", async () => {
    const email = newEmail();
    await comeByClick(email, "own");
    for (let i = 0; i < 12; i += 1) await comeByClick(email, `false-${i}`, null, stranger);
    await comeByClick(email, "false-trap", [4000, 20, false, trapped], stranger);
    await comeByClick(email, "false-script", [4000, 20, true], stranger);
    expect(await convert(email)).toEqual(ownClick);
  });

  test("neither a report nor a played visit replaces an older click that a cookie of the form's browser keeps", async () => {
    const email = newEmail();
    const kept = { _fbc: `fb.1.${Date.now() - 40 * dayMs}.own` };
    const landing = { visitor: newPageId(), cookies: kept };
    const cookie = await send("visit", landing, {}, metaHost);
    await send("identify", { ...landing, emails: [sha256Of(email)], submit: byHand }, cookie, metaHost);
    const forged = { params: { fbclid: "false-click" }, cookies: cookiesOf("forged") };
    await send("identify", { ...forged, emails: [sha256Of(email)] }, stranger, metaHost);
    const played = { ...forged, visitor: newPageId() };
    const theirs = await send("visit", played, stranger, metaHost);
    await send("identify", { ...played, emails: [sha256Of(email)] }, { ...theirs, ...stranger }, metaHost);
    expect(await convertAtMeta(email)).toMatchObject({ fbc: kept._fbc });
  });

  test("a later click in the browser of the form counts, and so does one with a form in another browser", async () => {
    const email = newEmail();
    const cookie = await comeByClick(email, "first");
    await send("visit", { params: { gclid: "second", utm_source: "second" } }, cookie);
    expect(await convert(email)).toMatchObject({ clickIds: { gclid: "second" }, utm: { utm_source: "second" } });
    await comeByClick(email, "third");
    expect(await convert(email)).toMatchObject({ clickIds: { gclid: "third" }, utm: { utm_source: "third" } });
  });

  test("a refusal by one report does not count as the refusal of a person who submitted a form", async () => {
    const email = newEmail();
    await comeByClick(email, "own");
    const refusing = { consent: { own: "denied" }, emails: [sha256Of(email)] };
    for (const endpoint of ["identify", "consent", "visit"] as const) {
      expect(await send(endpoint, refusing, stranger)).not.toHaveProperty("Cookie", expect.stringContaining("__cc_p"));
      await send(endpoint, { ...refusing, visitor: newPageId() }, stranger);
      await send(endpoint, { emails: refusing.emails }, { ...stranger, "Sec-GPC": "1" });
    }
    expect(await convert(email)).toEqual(ownClick);
    expect(await rows(home, `SELECT state FROM consents WHERE subject = '${sha256Of(email)}'`)).toEqual([]);
  });

  test("a person's refusal counts: in the browser of the form, by a form elsewhere, and where no form is known", async () => {
    const withheld = { clickIds: {}, utm: {}, consent: "denied", isNamed: false };
    const inSameBrowser = newEmail();
    const cookie = await comeByClick(inSameBrowser, "own");
    await send("consent", { consent: { own: "denied" } }, cookie);
    expect(await convert(inSameBrowser)).toEqual(withheld);

    const inForm = newEmail();
    await comeByClick(inForm, "own");
    await send("identify", { consent: { own: "denied" }, emails: [sha256Of(inForm)], submit: byHand });
    expect(await convert(inForm)).toEqual(withheld);

    const withoutForm = newEmail();
    await comeByClick(withoutForm, "own", null);
    await send("identify", { consent: { own: "denied" }, emails: [sha256Of(withoutForm)] });
    expect(await convert(withoutForm)).toEqual(withheld);
  });

  test("a person's refusal counts, however many a stranger has stored before it and lifts after it", async () => {
    const email = newEmail();
    const refusing = { consent: { own: "denied" }, emails: [sha256Of(email)] };
    const proofs: string[] = [];
    for (let i = 0; i < 7; i += 1) {
      const { headers } = await report(relay, host, "identify", refusing, stranger);
      proofs.push(/__cc_p=\w{22}/.exec(String(headers["set-cookie"]))?.[0] ?? expect.unreachable("the refusal was stored"));
    }
    const cookie = await comeByClick(email, "own");
    await send("consent", { consent: { own: "denied" } }, cookie);
    for (const proof of proofs) {
      const lifting = { ...falseClick, consent: { own: "granted" }, emails: refusing.emails, visitor: newPageId() };
      await send("identify", lifting, { ...stranger, Cookie: `__cc_own=denied; ${proof}` });
    }
    expect(await convert(email)).toEqual({ clickIds: {}, utm: {}, consent: "denied", isNamed: false });
    await home.run("consent", "set", host, "granted", "--email", email);
    expect(await convert(email)).toMatchObject({ consent: "granted", isNamed: true });
  });

  test("lifting a refusal of one's own is no grant of the person", async () => {
    const [email, other] = [newEmail(), newEmail()];
    for (const [to, one, isNamed] of [
      [host, email, true],
      [askingHost, other, false],
    ] as const) {
      const emails = [sha256Of(one)];
      const { headers } = await report(relay, to, "consent", { consent: { own: "denied" }, emails }, stranger);
      const proof = /__cc_p=\w{22}/.exec(String(headers["set-cookie"]))?.[0] ?? "__cc_p=none";
      const lifting = { consent: { own: "granted" }, emails, visitor: newPageId() };
      await send("identify", lifting, { ...stranger, Cookie: `__cc_own=denied; ${proof}` }, to);
      expect(await convert(one, to)).toMatchObject({ consent: isNamed ? "unknown" : "denied", isNamed });
    }
  });

  test("where a site asks first, a grant counts from a browser whose page was seen, in whatever order its reports arrive", async () => {
    const granting = { consent: { own: "granted" } };
    const [email, other] = [newEmail(), newEmail()];
    await send("identify", { ...granting, emails: [sha256Of(email)] }, stranger, askingHost);
    expect(await convert(email, askingHost)).toMatchObject({ consent: "denied", isNamed: false });

    const page = { ...granting, visitor: newPageId() };
    await send("identify", { ...page, emails: [sha256Of(other)] }, {}, askingHost);
    await send("visit", page, {}, askingHost);
    expect(await convert(other, askingHost)).toMatchObject({ consent: "granted", isNamed: true });
  });
});
