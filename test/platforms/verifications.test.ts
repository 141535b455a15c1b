// Every platform is asked to verify a connection, against its stand-in and with the real sender and store.

import { english } from "../../src/kernel/messages/message.ts";
import { afterAll, describe, expect, test } from "vitest";
import { knownAt, revokedTokens, standinConnections } from "../../scripts/standinConnections.ts";
import { urlFault } from "../../src/delivery/addresses.ts";
import {
  verifyConnection,
  readVerificationState,
  whyRefused,
  whySendsNothing,
  type VerificationState,
} from "../../src/delivery/verify.ts";
import { createSender, type Sender } from "../../src/delivery/send.ts";
import { platformOf, platforms } from "../../src/platforms/index.ts";
import { connectPlatform } from "../../src/sites/connect.ts";
import { createDirectory, type Connection } from "../../src/sites/directory.ts";
import { findSite } from "../../src/sites/manage.ts";
import { standins as list, type StandinId } from "../../standins/index.ts";
import { startStandins } from "../../standins/shared/start.ts";
import { newSite } from "../support/events.ts";
import { createNodes } from "../support/nodes.ts";
import { acceptedAt, lastReasons } from "./standinDelivery.ts";

const standins = await startStandins({ rateLimits: false });
const allow = { hosts: new Set<string>(), networks: [] };
const senderTo = (origins: Record<string, string>) => createSender({ connectMs: 5000, attemptMs: 60_000, allow, origins });
const sender = senderTo(standins.origins);
const { store, close } = await createNodes("sqlite");
const directory = createDirectory(store);
afterAll(async () => {
  await sender.close();
  await standins.close();
  await close();
});

/** Saves a connection of a new site. */
async function connectionTo(platform: string, settings: Record<string, string>): Promise<Connection> {
  const siteId = await newSite(store);
  await directory.refresh();
  const by = { actor: "test", now: Date.now(), checkAddress: (url: string) => urlFault(allow, url) };
  const site = findSite({ directory }, siteId);
  return (await connectPlatform({ store, directory }, site, platform, { settings }, by)).connection;
}

const contextWith = (to: Sender) => ({
  store,
  directory,
  sender: to,
  tokens: { fresh: (connection: Connection) => Promise.resolve(connection) },
  now: Date.now,
});

async function verify(platform: string, settings: Record<string, string>, to = sender): Promise<VerificationState> {
  return verifyConnection(contextWith(to), await connectionTo(platform, settings));
}

/** Platforms that have no call for the settings of the demo. */
const withoutCall = ["x", "axon", "spotify", "quora", "taboola", "outbrain", "ga4"];
const provable = list.map(({ id }) => id).filter((id) => !withoutCall.includes(id));

describe.each(provable)("%s", (id) => {
  const handle = standins.of(id);

  test("a connection with valid settings is verified, and no conversion is counted", async () => {
    const before = acceptedAt(handle);
    const connection = await connectionTo(id, standinConnections[id]);
    const verification = await verifyConnection(contextWith(sender), connection);
    expect(verification, lastReasons(handle)).toMatchObject({ state: "verified", reason: null });
    expect(verification.verifiedAt).toBe(verification.checkedAt);
    expect(acceptedAt(handle)).toBe(before);
    expect(await readVerificationState(store, connection, null)).toEqual(verification);
  });

  test("a revoked token is not verified, and the reason does not show it", async () => {
    const revoked = revokedTokens[id];
    const verification = await verify(id, { ...standinConnections[id], ...revoked });
    expect(verification).toMatchObject({ state: "unverified", verifiedAt: null });
    expect(verification.reason).toBeTruthy();
    for (const secret of Object.values(revoked)) expect(verification.reason).not.toContain(secret);
  });

  test("a platform that cannot be reached, or fails, leaves the connection unverified with that reason", async () => {
    const nowhere = senderTo(Object.fromEntries(list.map((one) => [one.id, "http://127.0.0.1:9"])));
    const verification = await verify(id, standinConnections[id], nowhere);
    await nowhere.close();
    expect(verification).toMatchObject({ state: "unverified", reason: expect.stringMatching(/refused/) });
  });
});

describe("new credentials of a connection", () => {
  const withSettings = (connection: Connection, changes: Record<string, string>): Connection => ({
    ...connection,
    settings: { ...connection.settings, ...changes },
  });

  test.each(provable)("%s: refused ones do not replace those that work", async (id) => {
    const existing = await connectionTo(id, standinConnections[id]);
    const revoked = revokedTokens[id];
    const changed = withSettings(existing, revoked);
    // Before it is verified, nothing is known for the present ones either.
    expect(await whyRefused(contextWith(sender), existing, changed)).toBeNull();
    await verifyConnection(contextWith(sender), existing);
    const refused = english((await whyRefused(contextWith(sender), existing, changed)) ?? "");
    const start = `${platformOf(id)?.name} refuses the new credentials: `;
    expect(refused.slice(0, start.length)).toBe(start);
    expect(refused).toMatch(/\. The connection keeps its present ones\.$/);
    for (const secret of Object.values(revoked)) expect(refused).not.toContain(secret);
  });

  test("nothing is refused that the platform does not refuse", async () => {
    const { nextdoor } = standinConnections;
    const existing = await connectionTo("nextdoor", nextdoor);
    await verifyConnection(contextWith(sender), existing);
    const changed = withSettings(existing, revokedTokens.nextdoor);
    const nowhere = senderTo({ nextdoor: "http://127.0.0.1:9" });
    // The platform cannot be asked.
    expect(await whyRefused(contextWith(nowhere), existing, changed)).toBeNull();
    await nowhere.close();
    const received = () => standins.of("nextdoor").received.length;
    const before = received();
    // The present ones do not work.
    const broken: Connection = { ...existing, state: "needs reconnection" };
    expect(await whyRefused(contextWith(sender), broken, changed)).toBeNull();
    // The credentials stay.
    expect(await whyRefused(contextWith(sender), existing, withSettings(existing, { phone_form: "plus" }))).toBeNull();
    // The first delivery renews an expired token.
    const expired = { refresh_token: "refresh", expires_at: String(Date.now() - 1000) };
    expect(await whyRefused(contextWith(sender), existing, withSettings(changed, expired))).toBeNull();
    expect(received()).toBe(before);
  });
});

describe("what a verification finds", () => {
  test.each<[StandinId, Record<string, string>, RegExp]>([
    ["meta", { pixel_id: "999999999999999" }, /dataset does not exist/],
    ["tiktok", { test_event_code: "", pixel_code: "C0000000000000000000" }, /no pixel with this pixel_code/],
    ["reddit", { test_id: "", access_token: knownAt("reddit", "accessToken"), pixel_id: "a2_other" }, /no pixel/],
    ["google_ads", { conversion_action: "999" }, /INVALID_CONVERSION_ACTION/],
    ["cm360", { activity: knownAt("cm360", "archivedActivityId") }, /Floodlight activity is not valid/],
    ["linkedin", { default_rule: knownAt("linkedin", "disabledRuleId") }, /conversion rule is not/],
    ["linkedin", { access_token: knownAt("linkedin", "adsOnlyToken") }, /403/],
    ["pinterest", { ad_account_id: "999999999999" }, /./],
    ["snapchat", { pixel_id: "00000000-0000-4000-8000-000000000000" }, /./],
    ["microsoft_ads", { tag_id: "1" }, /401|access/i],
    ["openai_ads", { pixel_id: "px_other" }, /./],
    ["klaviyo", { account_id: "Other1" }, /another account/],
    ["hubspot", { hub_id: "7654321" }, /another account/],
  ])("%s with wrong settings says what is wrong", async (id, wrong, reason) => {
    const verification = await verify(id, { ...standinConnections[id], ...wrong });
    expect(verification.state).toBe("unverified");
    expect(english(verification.reason ?? "")).toMatch(reason);
  });

  test("Microsoft's offline keys are verified by reading the tag, X's OAuth keys by its accounts", async () => {
    const { tag_token: token, ...offline } = standinConnections.microsoft_ads;
    expect(await verify("microsoft_ads", offline)).toMatchObject({
      state: "verified",
      unchecked: "offline_goal",
    });
    // With a tag token the empty request says nothing about the other API.
    const both = { ...offline, tag_token: token ?? "", access_token: "wrong" };
    expect(await verify("microsoft_ads", both)).toMatchObject({
      state: "verified",
      unchecked: "access_token, offline_goal",
    });
    const { access_token: _access, ...tagOnly } = both;
    expect(await verify("microsoft_ads", tagOnly)).toMatchObject({ state: "verified", unchecked: null });
    const keys = {
      pixel_id: knownAt("x", "pixelId"),
      consumer_key: knownAt("x", "consumerKey"),
      consumer_secret: knownAt("x", "consumerSecret"),
      oauth_token: knownAt("x", "accessToken"),
      oauth_token_secret: knownAt("x", "accessTokenSecret"),
    };
    expect(await verify("x", keys)).toMatchObject({ state: "verified", unchecked: "pixel_id" });
    const wrong = { ...keys, oauth_token_secret: "another-secret" };
    const verification = await verify("x", wrong);
    expect(verification.state).toBe("unverified");
    expect(verification.reason).not.toContain("another-secret");
  });

  test.each(withoutCall as StandinId[])("%s has no harmless call, and says so without being called", async (id) => {
    const handle = standins.of(id);
    const before = handle.received.length;
    const verification = await verify(id, standinConnections[id]);
    expect(verification).toMatchObject({ state: "unverified" });
    expect(english(verification.reason ?? "")).toMatch(/has no call|answers every request alike/);
    expect(handle.received.length).toBe(before);
  });

  test("every platform declares how it is verified", () => {
    for (const platform of platforms) {
      const verification = platform.verify({}, Date.now());
      if (verification.by === "nothing") expect(verification.reason, platform.id).toMatch(/^\S.*[^.]$/);
    }
  });
});

describe("the state of a verification", () => {
  test("an accepted conversion verifies a connection, unless the platform accepts everything", async () => {
    const toX = await connectionTo("x", standinConnections.x);
    const { checkedAt } = await verifyConnection(contextWith(sender), toX);
    const later = (checkedAt ?? 0) + 1;
    expect(await readVerificationState(store, toX, later)).toMatchObject({ state: "verified", verifiedAt: later });
    const toGa4 = await connectionTo("ga4", standinConnections.ga4);
    await verifyConnection(contextWith(sender), toGa4);
    expect(await readVerificationState(store, toGa4, Date.now() + 1000)).toMatchObject({ state: "unverified" });
  });

  test("a failed check keeps the time of the last verification, and a change of settings removes it", async () => {
    const { nextdoor } = standinConnections;
    const connection = await connectionTo("nextdoor", nextdoor);
    const { verifiedAt } = await verifyConnection(contextWith(sender), connection);
    standins.of("nextdoor").fault({ kind: "server_error", status: 503, on: "listing" });
    const failed = await verifyConnection(contextWith(sender), connection);
    expect(failed).toMatchObject({ state: "unverified", verifiedAt, reason: expect.stringMatching(/503/) });

    const site = findSite({ directory }, connection.siteId);
    const by = { actor: "test", now: Date.now(), checkAddress: () => null };
    const settings = { ...nextdoor, phone_form: "plus" };
    await connectPlatform({ store, directory }, site, "nextdoor", { settings }, by);
    expect(await readVerificationState(store, connection, null)).toMatchObject({
      state: "unverified",
      verifiedAt: null,
      reason: "not checked yet",
    });
    // The result of a check of the settings before is not stored.
    await verifyConnection(contextWith(sender), connection);
    expect(await store.connectionChecks.find(connection.siteId, connection.id)).toMatchObject({
      verifiedAt: null,
      reason: "not checked yet",
    });
    // Nor does a conversion verify them that was sent before they were changed.
    expect(await readVerificationState(store, connection, by.now - 1)).toMatchObject({ state: "unverified" });
  });

  test("a customer's platform whose name leads to a private address is not called", async () => {
    const resolve = async () => ["127.0.0.1"];
    const guarded = createSender({ connectMs: 5000, attemptMs: 60_000, allow, origins: {}, resolve });
    const verification = await verify("segment", standinConnections.segment, guarded);
    await guarded.close();
    expect(verification.state).toBe("unverified");
    expect(english(verification.reason ?? "")).toMatch(/could not be asked: .*address/);
  });

  test("a connection without a conversion action says that it cannot send anything yet", async () => {
    const { conversion_action: _action, ...settings } = standinConnections.google_ads;
    const connection = await connectionTo("google_ads", settings);
    expect(english(whySendsNothing(connection, Date.now()) ?? "")).toBe(
      "no conversion action for this event; set conversion_action, or one for each event",
    );
    const verification = await verifyConnection(contextWith(sender), connection);
    expect(verification).toMatchObject({ state: "unverified", reason: "no conversion action for this event" });
    const ofLeads = await connectionTo("google_ads", {
      ...settings,
      "event.lead": knownAt("google_ads", "conversionActionId"),
    });
    expect(whySendsNothing(ofLeads, Date.now())).toBeNull();
    expect(await verifyConnection(contextWith(sender), ofLeads)).toMatchObject({ state: "verified" });
  });
});
