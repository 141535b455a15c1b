// Identities at an OpenID provider, on both engines.

import { afterAll, describe, expect, test } from "vitest";
import { createNodes } from "../../../test/support/nodes.ts";
import { shortId, ulid } from "../../kernel/ids.ts";

const now = Date.UTC(2026, 10, 16);

describe.each(["sqlite", "postgres"] as const)("identities on %s", async (engine) => {
  const { store, close } = await createNodes(engine);
  afterAll(close);
  const line = { siteId: "", actor: "single sign-on", action: "signed in", detail: {}, at: now };
  const newUser = (email: string) => ({
    id: shortId(),
    passwordId: ulid(),
    email,
    name: "Ada",
    passwordHash: "random",
  });
  const signIn = async (email: string, subject: string, issuerId = "issuer") => {
    const accountId = `${issuerId} ${subject}`;
    const linked = await store.identities.findUser(accountId);
    return store.identities.signIn(line, {
      linked,
      email,
      accountId,
      issuerId,
      identityId: ulid(),
      newUser: newUser(email),
    });
  };
  const invite = (email: string, role: "viewer" | "owner", shown = false) =>
    store.invitations.add(
      line,
      { id: shortId(), email, site: null, role, invitedBy: "grace", createdAt: now, expiresAt: now + 1 },
      shortId(),
      { shown },
    );

  test("a person without account and invitation does not get in, and leaves no trace", async () => {
    expect(await signIn("eve@example.com", "eve")).toBe("not a member");
    expect(await store.members.findByEmail("eve@example.com")).toBeNull();
    expect(await store.identities.findUser("issuer eve")).toBeNull();
  });

  test("an open invitation makes a member once, and an expired one does not", async () => {
    await invite("bob@example.com", "viewer");
    const signedIn = await signIn("bob@example.com", "bob");
    expect(await store.members.findByEmail("bob@example.com")).toMatchObject({
      id: (signedIn as { userId: string }).userId,
      confirmed: true,
      invitedBy: "grace",
      grants: [{ site: null, role: "viewer" }],
    });
    expect(await signIn("bob@example.com", "bob")).toEqual(signedIn);
    await store.invitations.add(
      line,
      {
        id: shortId(),
        email: "old@example.com",
        site: null,
        role: "viewer",
        invitedBy: "grace",
        createdAt: 0,
        expiresAt: now,
      },
      shortId(),
    );
    expect(await signIn("old@example.com", "old")).toBe("not a member");
  });

  test("a linked account opens for its identity alone, also when the address at the provider changes", async () => {
    await invite("carol@example.com", "viewer");
    const carol = await signIn("carol@example.com", "carol");
    expect(await signIn("carol@example.com", "another")).toBe("other identity");
    expect(await signIn("carol.new@example.com", "carol")).toEqual(carol);
    // The operator has changed the provider.
    expect(await signIn("carol@example.com", "carol-there", "next-issuer")).toEqual(carol);
    expect(await store.identities.findUser("issuer carol")).toBeNull();
  });

  test("an invitation to a member raises the role, and never lowers it", async () => {
    await invite("dan@example.com", "owner");
    await signIn("dan@example.com", "dan");
    await invite("dan@example.com", "viewer");
    await signIn("dan@example.com", "dan");
    expect((await store.members.findByEmail("dan@example.com"))?.grants).toEqual([{ site: null, role: "owner" }]);
    expect(await store.invitations.listOpen(now)).toEqual([]);
  });

  test("an account that another person may have created gets a new password, and its sessions end", async () => {
    const email = "frank@example.com";
    const hash = shortId();
    await store.invitations.add(
      line,
      {
        id: shortId(),
        email,
        site: null,
        role: "viewer",
        invitedBy: "grace",
        createdAt: now,
        expiresAt: now + 1,
      },
      hash,
      { shown: true },
    );
    const added = { ...newUser(email), passwordHash: "known to another person" };
    expect(await store.invitations.accept(line, hash, { added })).toBe("done");
    await store.accounts.insert("sessions", {
      id: shortId(),
      user_id: added.id,
      token: "t",
      created_at: now,
      updated_at: now,
      expires_at: now + 1,
    });
    expect((await store.members.findByEmail(email))?.confirmed).toBe(false);
    expect(await signIn(email, "frank")).toEqual({ userId: added.id });
    expect((await store.members.findByEmail(email))?.confirmed).toBe(true);
    expect((await store.passwords.findProof("email", email))?.passwordHash).toBe("random");
    expect(await store.accounts.listSessions(added.id, now)).toEqual([]);
  });
});
