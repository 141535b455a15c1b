// The members of the demo, an open invitation, and API keys.

import { hashPassword } from "../../src/access/password.ts";
import { createLinkToken, type LinkToken } from "../../src/access/oneTimeLinks.ts";
import { randomBase62, shortId, ulid } from "../../src/kernel/ids.ts";
import { dayMs, hourMs, minuteMs } from "../../src/kernel/time.ts";
import { makeKey } from "../../src/sites/keys.ts";
import { auditLine } from "../../src/sites/manage.ts";
import type { GrantRow, NewUser } from "../../src/store/access/members.ts";
import type { Store } from "../../src/store/store.ts";
import { owner, setUpAt, type Clock } from "./sites.ts";

export type SignIns = {
  owner: string;
  viewer: string;
  password: string;
  /** The token of an open invitation. */
  invitation: string;
};

/** Adds members with one common password, which is printed and valid only for this demo. */
export async function addMembers(
  store: Store,
  sites: { shop: string; product: string },
  { from, now }: { from: number; now: number },
  clock: Clock,
): Promise<SignIns> {
  const password = randomBase62(16);
  const passwordHash = await hashPassword(password);
  const user = (email: string, name: string): NewUser => ({
    id: shortId(),
    passwordId: ulid(),
    email,
    name,
    passwordHash,
  });

  const atShare = (share: number) => Math.floor(from + share * (now - from));
  const setUp = createLinkToken();
  const began = setUpAt(from) - hourMs;
  clock.at = began;
  await store.oneTimeLinks.addSetUp(setUp.hash, began);
  const created = auditLine("", "owner created", { email: owner }, { actor: owner, now: began });
  const result = await store.oneTimeLinks.addFirstOwner(created, setUp.hash, user(owner, "Robin Demo"));
  if (result !== "done") throw new Error(`the demo's owner could not be created: ${result}`);

  async function invite(email: string, grant: GrantRow, at: number): Promise<LinkToken> {
    clock.at = at;
    const { token, hash } = createLinkToken();
    const { site, role } = grant;
    const line = auditLine(site ?? "", "member invited", { email, role }, { actor: owner, now: at });
    const expiresAt = now + 5 * dayMs;
    await store.invitations.add(line, { id: shortId(), email, ...grant, invitedBy: owner, createdAt: at, expiresAt }, hash);
    return { token, hash };
  }
  async function join(email: string, name: string, grant: GrantRow, at: number): Promise<void> {
    const { hash } = await invite(email, grant, at);
    clock.at += minuteMs;
    const by = { actor: email, now: clock.at };
    const line = auditLine(grant.site ?? "", "invitation accepted", { email }, by);
    await store.invitations.accept(line, hash, { added: user(email, name) });
  }
  // After the site was added, and before the first change that Kim makes there.
  const joined = setUpAt(from) + 10 * minuteMs;
  await join("kim@example.com", "Kim Larsen", { site: sites.shop, role: "admin" }, joined);
  await join("viewer@example.com", "Val Viewer", { site: null, role: "viewer" }, joined + hourMs);
  const { token: invitation } = await invite("agency@example.com", { site: sites.product, role: "viewer" }, atShare(0.97));

  for (const [name, scopes, site, at] of [
    ["Nightly report", ["read"], null, atShare(0.68)],
    ["Terraform", ["read", "write", "keys"], sites.shop, atShare(0.9)],
  ] as const) {
    clock.at = at;
    const { hash, prefix } = makeKey("API");
    const id = shortId();
    const line = auditLine(site ?? "", "API key added", { id, name, prefix, scopes }, { actor: owner, now: at });
    const key = {
      id,
      name,
      site,
      scopes: [...scopes],
      prefix,
      expiresAt: null,
      createdBy: owner,
      createdAt: at,
    };
    await store.apiKeys.add(line, { ...key, revokedAt: null }, hash);
    const used = {
      siteId: "",
      keyId: id,
      hour: Math.floor(now / hourMs) - 2,
      uses: 12,
      lastUsedAt: now - 2 * hourMs,
    };
    await store.keyUse.addUses([used]);
  }
  return { owner, viewer: "viewer@example.com", password, invitation };
}
