// Plans the changes of members. A new one is invited, or added with the password of the file; an existing one gets the roles
// of the file.

import { readEmail } from "../access/betterAuth.ts";
import { operator } from "../access/members.ts";
import { checkNewPassword } from "../access/password.ts";
import type { Role } from "../contract/route.ts";
import { readHost } from "../sites/hosts.ts";
import { findSite } from "../sites/manage.ts";
import type { Member } from "../store/access/members.ts";
import type { Invitation } from "../store/access/invitations.ts";
import type { Path } from "./document.ts";
import { check, mustBeReference, shownSecret, type Change, type Planning } from "./planning.ts";
import type { ConfigurationFile, MemberEntry } from "./schema.ts";

/** A role on the site with this host, or on all sites. The site may be one that the same file creates. */
type WantedGrant = { email: string; role: Role; host: string | null; siteId: string | null; path: Path };

/** A member whose password is in the file. */
type Account = { name: string; password: string };

export async function planMembers(planning: Planning, file: ConfigurationFile): Promise<Change[]> {
  const { context, faults, prune, unlisted } = planning;
  if (!file.members) return [];
  const accounts = new Map<string, Account>();
  // Owners first: until a new one has the role, the last one cannot lose it.
  const wanted = readGrants(planning, file, accounts).toSorted(
    (one, other) => Number(isInstallationOwner(other)) - Number(isInstallationOwner(one)),
  );
  const members = await context.access.members.list(operator);
  const invitations = await context.access.invitations.list(operator);
  const byEmail = new Map(members.map((one) => [one.email, one]));
  const changes = [...Map.groupBy(wanted, ({ email }) => email)].flatMap(([email, grants]): Change[] => {
    const member = byEmail.get(email);
    const account = accounts.get(email);
    if (!member && account) return [additionOf(planning, email, account, grants)];
    return grants.flatMap((grant) => changeOf(planning, grant, member, invitations) ?? []);
  });
  if (prune && !wanted.some(isInstallationOwner))
    faults.push({
      path: ["members"],
      message: "must name an owner of all sites when the others are removed.",
    });
  else checkLastOwner(planning, wanted, members, accounts);
  const removals = removalsOf(planning, wanted, members, invitations);
  if (!prune) {
    unlisted.push(...removals.map(({ what }) => what));
    return changes;
  }
  return [...changes, ...removals];
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
function readGrants(
  planning: Planning,
  { members = [], sites = [] }: ConfigurationFile,
  accounts: Map<string, Account>,
): WantedGrant[] {
  const { context, faults } = planning;
  const inFile = new Set(sites.flatMap(({ hosts }) => hosts.map(readHost)));
  const grants: WantedGrant[] = [];
  for (const [i, entry] of members.entries()) {
    const path: Path = ["members", i];
    const email = check(
      planning,
      () => [...path, "email"],
      () => readEmail(entry.email),
    );
    if (email === null) continue;
    const account = readAccount(planning, entry, email, path);
    if (account && accounts.has(email))
      faults.push({ path: [...path, "password"], message: `${email} has a password in another entry.` });
    if (account) accounts.set(email, account);
    const where = entry.sites === "all" ? [null] : entry.sites;
    for (const [j, text] of where.entries()) {
      const own = text === null ? path : [...path, "sites", j];
      const host = text === null ? null : readHost(text);
      const siteId = host === null ? null : (context.directory.host(host)?.siteId ?? null);
      if (text !== null && (host === null || (siteId === null && !inFile.has(host))))
        faults.push({ path: own, message: `there is no site ${text}.` });
      else if (grants.some((one) => one.email === email && one.host === host))
        faults.push({ path: own, message: `${email} has a role there already.` });
      else grants.push({ email, role: entry.role, host, siteId, path: own });
    }
  }
  return grants;
}

function readAccount(planning: Planning, { name, password }: MemberEntry, email: string, entryPath: Path): Account | null {
  if (password === undefined) return null;
  const path = [...entryPath, "password"];
  if (!planning.isReference(path)) planning.faults.push({ path, message: mustBeReference });
  check(
    planning,
    () => path,
    () => checkNewPassword(password),
  );
  return { name: name ?? email.slice(0, email.indexOf("@")), password };
}

const placeOf = (host: string | null) => (host === null ? "all sites" : host);

const siteIdAtRun = ({ context }: Planning, host: string | null) => (host === null ? null : findSite(context, host).id);

function additionOf(planning: Planning, email: string, { name, password }: Account, grants: readonly WantedGrant[]): Change {
  const { access, by } = planning.context;
  return {
    kind: "add",
    what: `member ${email}`,
    lines: [
      { name: "password", before: null, after: shownSecret },
      ...grants.map(({ host, role }) => ({
        name: `role on ${placeOf(host)}`,
        before: null,
        after: role,
      })),
    ],
    loss: null,
    async run() {
      const held = grants.map(({ host, role }) => ({ site: siteIdAtRun(planning, host), role }));
      await access.members.add({ email, name, password, grants: held }, by);
      return null;
    },
  };
}

function changeOf(
  planning: Planning,
  { email, role, host, siteId }: WantedGrant,
  member: Member | undefined,
  invitations: readonly Invitation[],
): Change | null {
  const { access, by } = planning.context;
  const isHere = (site: string | null) => (host === null ? site === null : siteId !== null && site === siteId);
  const siteAtRun = () => siteIdAtRun(planning, host);
  const what = `member ${email} on ${placeOf(host)}`;
  if (member) {
    const held = member.grants.find(({ site }) => isHere(site))?.role ?? null;
    if (held === role) return null;
    return {
      kind: held === null ? "add" : "change",
      what,
      lines: [{ name: "role", before: held, after: role }],
      loss: null,
      async run() {
        await access.members.setGrant(operator, member.id, { site: siteAtRun(), role }, by);
        return null;
      },
    };
  }
  const invited = invitations.find((one) => one.email === email && isHere(one.site));
  if (invited?.role === role) return null;
  return {
    kind: invited ? "change" : "add",
    what: `invitation of ${email} to ${placeOf(host)}`,
    lines: [{ name: "role", before: invited?.role ?? null, after: role }],
    loss: null,
    async run() {
      const { link, expiresAt } = await access.invitations.invite(operator, { email, site: siteAtRun(), role }, by);
      const until = new Date(expiresAt).toISOString().slice(0, 10);
      return link === null ? null : `Pass this link on to ${email}. It works once, until ${until}: ${link}`;
    },
  };
}

function removalsOf(
  { context }: Planning,
  wanted: readonly WantedGrant[],
  members: readonly Member[],
  invitations: readonly Invitation[],
): Change[] {
  const { access, by, directory } = context;
  const nameOf = (site: string | null) => placeOf(site === null ? null : (directory.site(site)?.hosts[0] ?? site));
  const isWanted = (email: string, site: string | null) =>
    wanted.some((one) => one.email === email && (site === null ? one.host === null : one.siteId === site));
  const removals: Change[] = [];
  for (const { id, email, grants } of members) {
    if (!wanted.some((one) => one.email === email)) {
      removals.push({
        kind: "remove",
        what: `member ${email}`,
        lines: [],
        loss: `${email} can no longer sign in.`,
        async run() {
          await access.members.remove(id, by);
          return null;
        },
      });
      continue;
    }
    for (const { site, role } of grants)
      if (!isWanted(email, site))
        removals.push({
          kind: "remove",
          what: `role ${role} of ${email} on ${nameOf(site)}`,
          lines: [],
          loss: `${email} loses the role ${role} on ${nameOf(site)}.`,
          async run() {
            await access.members.setGrant(operator, id, { site, role: null }, by);
            return null;
          },
        });
  }
  for (const { id, email, site } of invitations)
    if (!isWanted(email, site))
      removals.push({
        kind: "remove",
        what: `invitation of ${email} to ${nameOf(site)}`,
        lines: [],
        loss: `The invitation of ${email} no longer works.`,
        async run() {
          await access.invitations.withdraw(operator, id, by);
          return null;
        },
      });
  return removals;
}
