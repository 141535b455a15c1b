// Plans the changes of members. A new one is invited, or added with the password of the file; an existing one gets the roles
// of the file.

import { readEmail } from "../access/betterAuth.ts";
import { operator } from "../access/actor.ts";
import { checkNewPassword } from "../access/password.ts";
import type { Role } from "../contract/route.ts";
import { readHost } from "../sites/hosts.ts";
import { findSite } from "../sites/manage.ts";
import type { Member } from "../store/access/members.ts";
import type { Path } from "./document.ts";
import { check, mustBeReference, reconcile, shownSecret, type Change, type Planning } from "./planning.ts";
import type { ConfigurationFile, MemberEntry } from "./schema.ts";

/** A role on the site with this host, or on all sites. The site may be one that the same file creates. */
type WantedGrant = { email: string; role: Role; host: string | null; siteId: string | null; path: Path };

/** A member whose password is in the file. */
type Account = { email: string; name: string; password: string };

export async function planMembers(planning: Planning, file: ConfigurationFile): Promise<Change[]> {
  const { context, faults, prune } = planning;
  const { access, by } = context;
  if (!file.members) return [];
  const accounts = new Map<string, Account>();
  // Owners first: until a new one has the role, the last one cannot lose it.
  const wanted = (await readGrants(planning, file, accounts)).toSorted(
    (one, other) => Number(isInstallationOwner(other)) - Number(isInstallationOwner(one)),
  );
  const members = await access.members.list(operator);
  if (prune && !wanted.some(isInstallationOwner))
    faults.push({ path: ["members"], message: "must name an owner of all sites when the others are removed." });
  else checkLastOwner(planning, wanted, members, accounts);
  const changes = await reconcile(planning, {
    wanted: Map.groupBy(wanted, ({ email }) => email),
    existing: members.map((member) => [member.email, member]),
    plan(grants, member) {
      if (member) return planRoles(planning, member, grants);
      const account = accounts.get(grants[0]?.email ?? "");
      return account ? [additionOf(planning, account, grants)] : [];
    },
    remove: ({ id, email }) => ({
      what: `member ${email}`,
      loss: () => `${email} can no longer sign in.`,
      run: () => access.members.remove(id, by),
    }),
  });
  const hasAccount = new Set([...accounts.keys(), ...members.map(({ email }) => email)]);
  return [...changes, ...(await planInvitations(planning, wanted, hasAccount))];
}

const isInstallationOwner = ({ role, host }: WantedGrant) => role === "owner" && host === null;

/** The last owner cannot lose the role, and who is only invited has none yet. */
function checkLastOwner(
  { prune, faults }: Planning,
  wanted: readonly WantedGrant[],
  members: readonly Member[],
  accounts: ReadonlyMap<string, Account>,
): void {
  const owners = members.filter(({ grants }) => grants.some(({ site, role }) => site === null && role === "owner"));
  const wantedOf = (address: string) => wanted.find(({ email, host }) => email === address && host === null);
  const staysOwner = ({ email }: Member) => wantedOf(email)?.role === "owner" || (!wantedOf(email) && !prune);
  const becomesOwner = wanted.some(
    (one) => isInstallationOwner(one) && (accounts.has(one.email) || members.some(({ email }) => email === one.email)),
  );
  if (owners.length === 0 || becomesOwner || owners.some(staysOwner)) return;
  const [demoted] = owners.flatMap(({ email }) => wantedOf(email) ?? []);
  faults.push({
    path: demoted ? [...demoted.path, "role"] : ["members"],
    message: "would leave no owner of all sites. Make another member an owner first.",
  });
}

/** Collects the members that have a password in `accounts`. */
async function readGrants(
  planning: Planning,
  { members = [], sites = [] }: ConfigurationFile,
  accounts: Map<string, Account>,
): Promise<WantedGrant[]> {
  const { context, faults, rest } = planning;
  const inFile = new Set<string | null>();
  for (const text of sites.flatMap(({ hosts }) => hosts)) {
    await rest();
    inFile.add(readHost(text));
  }
  const grants = new Map<string, WantedGrant>();
  for (const [i, entry] of members.entries()) {
    await rest();
    const path: Path = ["members", i];
    const email = check(planning, [...path, "email"], () => readEmail(entry.email));
    // The password of a member without an email is checked too.
    const account = readAccount(planning, entry, email ?? "", path);
    if (email === null) continue;
    if (account && accounts.has(email))
      faults.push({ path: [...path, "password"], message: `${email} has a password in another entry.` });
    if (account) accounts.set(email, account);
    const where = entry.sites === "all" ? [null] : entry.sites;
    for (const [j, text] of where.entries()) {
      await rest();
      const own = text === null ? path : [...path, "sites", j];
      const host = text === null ? null : readHost(text);
      const key = JSON.stringify([email, host]);
      const siteId = host === null ? null : (context.directory.host(host)?.siteId ?? null);
      const isKnown = host !== null && (siteId !== null || inFile.has(host) || context.isOffline);
      if (text !== null && !isKnown) faults.push({ path: own, message: `there is no site ${text}.` });
      else if (grants.has(key)) faults.push({ path: own, message: `${email} has a role there already.` });
      else grants.set(key, { email, role: entry.role, host, siteId, path: own });
    }
  }
  return [...grants.values()];
}

function readAccount(planning: Planning, { name, password }: MemberEntry, email: string, entryPath: Path): Account | null {
  if (password === undefined) return null;
  const path = [...entryPath, "password"];
  if (!planning.isReference(path)) planning.faults.push({ path, message: mustBeReference });
  check(planning, path, () => checkNewPassword(password));
  return { email, name: name ?? email.slice(0, email.indexOf("@")), password };
}

const placeOf = (host: string | null) => (host === null ? "all sites" : host);

/** Equal for a grant and the site that it is on. A site that does not exist yet has no roles. */
const siteKeyOf = ({ host, siteId }: WantedGrant) => (host === null ? "all" : (siteId ?? host));

const shownSite = ({ context }: Planning, site: string | null) =>
  placeOf(site === null ? null : (context.directory.site(site)?.hosts[0] ?? site));

const siteIdAtRun = ({ context }: Planning, host: string | null) => (host === null ? null : findSite(context, host).id);

function additionOf(planning: Planning, { email, name, password }: Account, grants: readonly WantedGrant[]): Change {
  const { access, by } = planning.context;
  const roles = grants.map(({ host, role }) => ({ name: `role on ${placeOf(host)}`, before: null, after: role }));
  return {
    kind: "add",
    what: `member ${email}`,
    lines: [{ name: "password", before: null, after: shownSecret }, ...roles],
    run() {
      const held = grants.map(({ host, role }) => ({ site: siteIdAtRun(planning, host), role }));
      return access.members.add({ email, name, password, grants: held }, by);
    },
  };
}

function planRoles(planning: Planning, { id, email, grants }: Member, wanted: readonly WantedGrant[]): Promise<Change[]> {
  const { access, by } = planning.context;
  const setRole = (site: string | null, role: Role | null) => access.members.setGrant(operator, id, { site, role }, by);
  return reconcile(planning, {
    wanted: wanted.map((one) => [siteKeyOf(one), one]),
    existing: grants.map((one) => [one.site ?? "all", one]),
    plan({ role, host }, held) {
      if (held?.role === role) return [];
      return [
        {
          kind: held ? "change" : "add",
          what: `member ${email} on ${placeOf(host)}`,
          lines: [{ name: "role", before: held?.role ?? null, after: role }],
          run: () => setRole(siteIdAtRun(planning, host), role),
        },
      ];
    },
    remove: ({ site, role }) => ({
      what: `role ${role} of ${email} on ${shownSite(planning, site)}`,
      loss: () => `${email} loses the role ${role} on ${shownSite(planning, site)}.`,
      run: () => setRole(site, null),
    }),
  });
}

/** Invites those who have no account yet. */
async function planInvitations(
  planning: Planning,
  wanted: readonly WantedGrant[],
  hasAccount: ReadonlySet<string>,
): Promise<Change[]> {
  const { invitations } = planning.context.access;
  const { by } = planning.context;
  return reconcile(planning, {
    wanted: wanted.map((one) => [`${one.email} ${siteKeyOf(one)}`, one]),
    existing: (await invitations.list(operator)).map((one) => [`${one.email} ${one.site ?? "all"}`, one]),
    plan({ email, role, host }, invited) {
      if (hasAccount.has(email) || invited?.role === role) return [];
      return [
        {
          kind: invited ? "change" : "add",
          what: `invitation of ${email} to ${placeOf(host)}`,
          lines: [{ name: "role", before: invited?.role ?? null, after: role }],
          async run(say) {
            const site = siteIdAtRun(planning, host);
            const { link, expiresAt } = await invitations.invite(operator, { email, site, role }, by);
            const until = new Date(expiresAt).toISOString().slice(0, 10);
            if (link !== null) say(`Pass this link on to ${email}. It works once, until ${until}: ${link}`);
          },
        },
      ];
    },
    remove: ({ id, email, site }) => ({
      what: `invitation of ${email} to ${shownSite(planning, site)}`,
      loss: () => `The invitation of ${email} no longer works.`,
      run: () => invitations.withdraw(operator, id, by),
    }),
  });
}
