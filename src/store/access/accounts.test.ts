// Accounts, members, one-time links and rate counters, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { newSite } from "../../../test/support/events.ts";
import { createNodes } from "../../../test/support/nodes.ts";
import { shortId, ulid } from "../../kernel/ids.ts";
import type { KeyRow } from "../sites/configuration.ts";

const now = Date.UTC(2026, 10, 15, 12);

describe.each(["sqlite", "postgres"] as const)("accounts on %s", async (engine) => {
  const { store, other, close } = await createNodes(engine);
  afterAll(close);

  const line = (siteId = "") => ({ siteId, actor: "test", action: "test", detail: {}, at: now });
  const user = (email: string) => ({
    id: shortId(),
    passwordId: ulid(),
    email,
    name: "Ada",
    passwordHash: "hash",
  });
  const lines = async (siteId = "") => (await store.audit.list(siteId, 1000)).length;

  async function newMember(email: string, site: string | null, role: "owner" | "viewer"): Promise<string> {
    const added = user(email);
    const hash = shortId();
    const invitation = {
      id: shortId(),
      email,
      site,
      role,
      invitedBy: "test",
      createdAt: now,
      expiresAt: now + 1,
    };
    await store.invitations.add(line(site ?? ""), invitation, hash);
    expect(await store.invitations.accept(line(site ?? ""), hash, { added })).toBe("done");
    return added.id;
  }

  const session = (userId: string, expiresAt = now + 1000) => ({
    id: ulid(),
    user_id: userId,
    token: shortId(),
    address: "203.0.113.1",
    user_agent: "test",
    created_at: now,
    updated_at: now,
    expires_at: expiresAt,
  });

  test("exactly one of several concurrent set-ups creates the first owner", async () => {
    await store.oneTimeLinks.addSetUp("first", now);
    await store.oneTimeLinks.addSetUp("second", now);
    expect(await store.oneTimeLinks.addFirstOwner(line(), "unknown", user("a@example.com"))).toBe("no link");
    const results = await Promise.all(
      [store, other, store, other].map((node, i) =>
        node.oneTimeLinks.addFirstOwner(line(), i % 2 ? "first" : "second", user(`owner${i}@example.com`)),
      ),
    );
    expect(results.toSorted()).toEqual(["done", "has owner", "has owner", "has owner"]);
    expect((await store.members.list()).map(({ grants }) => grants)).toEqual([[{ site: null, role: "owner" }]]);
    expect(await lines()).toBe(1);
    expect(await store.oneTimeLinks.hasSetUp("first")).toBe(false);
  });

  test("the newest five set-up links stay valid", async () => {
    for (let i = 0; i < 7; i += 1) await store.oneTimeLinks.addSetUp(`link ${i}`, now + i);
    const good = await Promise.all([0, 1, 2, 6].map((i) => store.oneTimeLinks.hasSetUp(`link ${i}`)));
    expect(good).toEqual([false, false, true, true]);
  });

  test("the last owner cannot be removed, even by concurrent changes", async () => {
    await newMember("second@example.com", null, "owner");
    await newMember("third@example.com", null, "owner");
    const owners = await store.members.list();
    const before = await lines();
    const results = await Promise.all(
      owners.map(({ id }, i) =>
        i % 2
          ? store.members.remove(line(), id)
          : (i === 0 ? store : other).members.setGrant(line(), id, null, i ? null : "viewer"),
      ),
    );
    expect(results.toSorted()).toEqual(["done", "done", "last owner"]);
    expect(await store.members.hasOwner()).toBe(true);
    expect(await lines()).toBe(before + 2);
    expect(await store.members.remove(line(), "unknown")).toBe("no member");
    expect(await store.members.setGrant(line(), "unknown", null, "owner")).toBe("no member");
  });

  test("an invitation is accepted once and never lowers a role", async () => {
    const id = await newMember("guest@example.com", "site", "owner");
    const invitation = {
      id: shortId(),
      email: "guest@example.com",
      site: "site",
      role: "viewer" as const,
      invitedBy: "test",
      createdAt: now,
      expiresAt: now + 1,
    };
    await store.invitations.add(line("site"), invitation, "lower");
    const results = await Promise.all(
      [store, other].map((node) => node.invitations.accept(line("site"), "lower", { known: id })),
    );
    expect(results.toSorted()).toEqual(["done", "no invitation"]);
    expect(await store.members.listGrants(id)).toEqual([{ site: "site", role: "owner" }]);

    await store.invitations.add(line("site"), invitation, "one");
    await store.invitations.add(line("site"), { ...invitation, id: shortId() }, "two");
    expect(await store.invitations.findByHash("one", now)).toBe(null);
    expect(await store.invitations.findByHash("two", now)).toMatchObject({ email: "guest@example.com" });
    expect(await store.invitations.findByHash("two", now + 1)).toBe(null);
    expect(await store.invitations.accept(line("site"), "two", { added: user("guest@example.com") })).toBe("known email");
    await store.invitations.add(line("site"), { ...invitation, email: "else@example.com" }, "three");
    // An old invitation does not let a removed member return.
    expect(await store.members.remove(line(), id)).toBe("done");
    expect((await store.invitations.listOpen(now)).map(({ email }) => email)).toEqual(["else@example.com"]);
    await store.invitations.purge(now + 1);
    expect(await store.invitations.listOpen(now)).toEqual([]);
  });

  test("a password reset ends sessions and pending sign-ins; a link from an operator also removes the second factor", async () => {
    const userId = await newMember("reset@example.com", null, "viewer");
    const until = now + 1000;
    const pending = { id: ulid(), identifier: "2fa", value: userId, created_at: now, updated_at: now };
    const factor = {
      id: ulid(),
      user_id: userId,
      secret: "s",
      backup_codes: "b",
      verified: 1,
      failures: 0,
    };
    await store.accounts.insert("two_factors", factor);
    await store.accounts.insert("sessions", session(userId));
    await store.accounts.insert("verifications", { ...pending, expires_at: until });
    for (const [hash, byOperator] of [
      ["mailed", false],
      ["mailed too", false],
    ] as const)
      await store.oneTimeLinks.addReset({ hash, userId, byOperator, expiresAt: until }, now, null);
    const next = (passwordHash: string) => ({ userId, passwordId: ulid(), passwordHash });
    expect(await store.oneTimeLinks.findReset("mailed", until)).toBe(null);
    const results = await Promise.all([
      store.oneTimeLinks.resetPassword(line(), "mailed", next("new")),
      other.oneTimeLinks.resetPassword(line(), "mailed", next("newer")),
    ]);
    expect(results.toSorted()).toEqual([false, true]);
    expect(await store.accounts.listSessions(userId, now)).toEqual([]);
    const ofUser = [{ column: "user_id", operator: "eq", value: userId }] as const;
    expect(await store.accounts.count("verifications", [{ column: "value", operator: "eq", value: userId }])).toBe(0);
    expect(await store.accounts.count("two_factors", ofUser)).toBe(1);
    expect(await store.accounts.count("passwords", ofUser)).toBe(1);
    // Using one link deletes the others.
    expect(await store.oneTimeLinks.findReset("mailed too", now)).toBe(null);
    await store.oneTimeLinks.addReset({ hash: "given", userId, byOperator: true, expiresAt: until }, now, line());
    expect(await store.oneTimeLinks.resetPassword(line(), "given", next("newest"))).toBe(true);
    expect(await store.accounts.count("two_factors", ofUser)).toBe(0);
  });

  test("reset links that anyone can request do not displace one that an owner made", async () => {
    const userId = await newMember("links@example.com", null, "viewer");
    const add = (hash: string, byOperator: boolean, at: number) =>
      store.oneTimeLinks.addReset({ hash, userId, byOperator, expiresAt: now + 1000 }, at, null);
    await add("by an owner", true, now);
    for (let i = 0; i < 4; i += 1) await add(`asked ${i}`, false, now + 1 + i);
    const works = async (hash: string) => (await store.oneTimeLinks.findReset(hash, now)) !== null;
    const all = await Promise.all(["by an owner", "asked 0", "asked 1", "asked 3"].map(works));
    expect(all).toEqual([true, false, true, true]);
  });

  test("only one of several concurrent calls takes a row, and a conditional update happens once", async () => {
    const row = { identifier: "one", value: "0", created_at: now, updated_at: now, expires_at: now };
    await store.accounts.insert("verifications", { id: "v", ...row });
    const same = [{ column: "identifier", operator: "eq", value: "one" }] as const;
    const taken = await Promise.all([store, other, store].map((node) => node.accounts.take("verifications", same)));
    expect(taken.filter((one) => one !== null)).toHaveLength(1);

    const factor = { id: "f", user_id: "u", secret: "s", backup_codes: "ten" };
    await store.accounts.insert("two_factors", factor);
    const guarded = [
      { column: "id", operator: "eq", value: "f" },
      { column: "backup_codes", operator: "eq", value: "ten" },
    ] as const;
    const changed = await Promise.all(
      [store, other].map((node) => node.accounts.update("two_factors", guarded, { backup_codes: "nine" }, { failures: 1 })),
    );
    expect(changed.flat()).toMatchObject([{ backup_codes: "nine", failures: 1 }]);
    expect(
      await store.accounts.find("two_factors", [{ column: "locked_until", operator: "eq", value: null }], {
        limit: 5,
      }),
    ).toHaveLength(1);
    expect(await store.accounts.find("two_factors", [{ column: "id", operator: "in", value: [] }], { limit: 5 })).toEqual([]);
    await expect(store.accounts.insert("sites", {})).rejects.toThrow("no table");
    await expect(store.accounts.count("users", [{ column: "1=1 --", operator: "eq", value: 1 }])).rejects.toThrow("no column");
  });

  test("attempts are counted over all nodes, against every limit or against none", async () => {
    const limit = (key: string, max: number) => ({ key, max, windowMs: 1000 });
    const both = [limit("here", 3), limit("all", 5)];
    const counted = await Promise.all(Array.from({ length: 8 }, (_, i) => (i % 2 ? store : other).rateCounters.count(both, now)));
    expect(counted.filter((until) => until === 0)).toHaveLength(3);
    expect(counted.filter((until) => until === now + 1000)).toHaveLength(5);
    // Attempts that the first limit stopped did not use up the second.
    expect(await store.rateCounters.count([limit("all", 5)], now)).toBe(0);
    expect(await store.rateCounters.count([limit("all", 5)], now)).toBe(0);
    expect(await store.rateCounters.count([limit("all", 5)], now)).toBe(now + 1000);
    await store.rateCounters.decrement(["all"]);
    expect(await store.rateCounters.count([limit("all", 5)], now)).toBe(0);
    expect(await store.rateCounters.count(both, now + 1000)).toBe(0);
    await store.rateCounters.reset(["here"]);
    for (let i = 0; i < 3; i += 1) expect(await store.rateCounters.count([limit("here", 3)], now)).toBe(0);
  });

  test("expired sessions, links and counters are purged", async () => {
    const userId = await newMember("old@example.com", null, "viewer");
    await store.accounts.insert("sessions", session(userId, now + 10));
    const kept = session(userId, now + 5000);
    await store.accounts.insert("sessions", kept);
    await store.accounts.purge(now + 10);
    expect(await store.accounts.listSessions(userId, now)).toMatchObject([{ id: kept.id, lastSeenAt: now }]);
    await store.accounts.touchSession(userId, kept.id, now + 7);
    expect(await store.accounts.listSessions(userId, now)).toMatchObject([{ lastSeenAt: now + 7 }]);
    expect((await store.members.findById(userId))?.lastSeenAt).toBe(now + 7);
    expect(await store.accounts.endSession("another user", kept.id)).toBe(false);
    expect(await store.members.endSessions(line(), userId)).toBe(1);
  });

  test("an API key is found by its hash, and revoked once", async () => {
    const key = {
      id: shortId(),
      site: null,
      name: "all",
      scopes: ["read" as const, "write" as const],
      prefix: "ccm_abcd",
      createdBy: "test",
      createdAt: now,
      expiresAt: null,
      revokedAt: null,
    };
    await store.apiKeys.add(line(), key, "hash of it");
    expect(await other.apiKeys.findByHash("hash of it")).toEqual(key);
    const before = await lines();
    await store.apiKeys.revoke({ ...line(), at: now + 5 }, key.id, "keep");
    await store.apiKeys.revoke({ ...line(), at: now + 9 }, key.id, "keep");
    expect(await lines()).toBe(before + 1);
    expect(await store.apiKeys.list()).toEqual([{ ...key, revokedAt: now + 5 }]);
  });

  test("of the inbound keys that an API key makes while it is revoked, each is revoked with it or refused", async () => {
    const siteId = await newSite(store);
    const apiKeyId = shortId();
    const audited = { ...line(), siteId };
    const newKey = (n: number): KeyRow => ({
      siteId,
      id: shortId(),
      name: `key ${n}`,
      mode: "live",
      hash: `hash of ${apiKeyId} ${n}`,
      prefix: "cc_",
      createdAt: now,
      expiresAt: null,
      revokedAt: null,
      apiKeyId,
    });
    const apiKey = {
      id: apiKeyId,
      site: null,
      name: "n",
      scopes: ["read" as const, "write" as const],
      prefix: "ccm_",
      createdBy: "test",
      createdAt: now,
      expiresAt: null,
      revokedAt: null,
    };
    await store.apiKeys.add(line(), apiKey, `hash of ${apiKeyId}`);
    await store.configuration.addKey(audited, newKey(0), {});
    const making = Array.from({ length: 10 }, (_, n) => (n % 2 ? store : other).configuration.addKey(audited, newKey(n + 1), {}));
    const revoking = other.apiKeys.revoke({ ...audited, at: now + 5 }, apiKeyId, "revoke");
    const made = await Promise.allSettled(making);
    const revoked = await revoking;
    await expect(store.configuration.addKey(audited, newKey(99), {})).rejects.toThrow("not valid");
    const site = (await store.configuration.listSitesSince(-1)).find(({ id }) => id === siteId);
    expect(site?.keys).toHaveLength(1 + made.filter(({ status }) => status === "fulfilled").length);
    expect(site?.keys.map(({ revokedAt }) => revokedAt)).toEqual(site?.keys.map(() => now + 5));
    expect(revoked.toSorted()).toEqual(site?.keys.map(({ id }) => id).toSorted());
  });
});
