// Plans the changes of sites, their hosts and settings.

import { urlFault } from "../delivery/addresses.ts";
import { Denied } from "../kernel/refusal.ts";
import { countContents, deleteSite } from "../sites/deleteSite.ts";
import type { Site } from "../sites/directory.ts";
import { isProven, readHost } from "../sites/hosts.ts";
import { addSite, changeSiteSettings, findSite, readFreeHost, renameSite } from "../sites/manage.ts";
import { addHost, findHost, removeHost } from "../sites/manageHosts.ts";
import { countLosses } from "../sites/retention.ts";
import { SettingFault } from "../sites/settingForms.ts";
import {
  auditedChanges,
  checkAlertWebhook,
  describeSettings,
  readSettings,
  withDefaults,
  type SiteSettings,
} from "../sites/settings.ts";
import type { Path } from "./document.ts";
import {
  check,
  isSameSecret,
  type Change,
  type ChangedLine,
  type Planning,
  type PlannedChanges,
  type PlannedSite,
} from "./planning.ts";
import { planConnections } from "./planConnections.ts";
import { planKeys } from "./planKeys.ts";
import { planWebhooks } from "./planWebhooks.ts";
import type { ConfigurationFile, SiteEntry } from "./schema.ts";

export async function planSites(planning: Planning, { sites }: ConfigurationFile): Promise<PlannedChanges> {
  const { context, prune, unlisted } = planning;
  const changes: PlannedChanges = { added: [], removed: [] };
  if (!sites) return changes;
  const hosts = new Map<string, Path>();
  const keys = new Set<string>();
  const listed = new Set<string>();
  for (const [i, entry] of sites.entries()) {
    const path: Path = ["sites", i];
    const names = readHosts(planning, entry, path, hosts);
    const planned = findPlanned(planning, names, path);
    if (!planned) continue;
    if (planned.site) listed.add(planned.site.id);
    const { added, removed } = await planSite(planning, planned, entry, names, keys);
    changes.added.push(...added);
    changes.removed.push(...removed);
  }
  for (const site of context.directory.sites()) {
    if (listed.has(site.id)) continue;
    const name = `site ${site.hosts[0] ?? site.id}`;
    if (!prune) unlisted.push(name);
    else if (!context.rights.siteDeletion)
      throw new Denied("forbidden", `Only an owner of the whole installation can delete the ${name}.`);
    else changes.removed.push(await siteRemoval(planning, site, name));
  }
  return changes;
}

async function siteRemoval({ context }: Planning, site: Site, what: string): Promise<Change> {
  const { events, identities } = await countContents(context, site);
  return {
    kind: "remove",
    what,
    lines: [],
    loss: `Deletes ${what} with ${events.toLocaleString("en-US")} events and ${identities.toLocaleString("en-US")} identity records.`,
    async run() {
      await deleteSite(context, site, context.by);
      return null;
    },
  };
}

/** Reads the hosts of a site. A host can be in the file once. */
function readHosts({ faults }: Planning, entry: SiteEntry, path: Path, known: Map<string, Path>): { host: string; path: Path }[] {
  return entry.hosts.flatMap((text, i) => {
    const own = [...path, "hosts", i];
    const host = readHost(text);
    if (!host) faults.push({ path: own, message: `is not a host name; write it like shop.example.com.` });
    else if (known.has(host)) faults.push({ path: own, message: `${host} is in the file twice.` });
    else {
      known.set(host, own);
      return [{ host, path: own }];
    }
    return [];
  });
}

function findPlanned(
  { context, faults }: Planning,
  names: readonly { host: string; path: Path }[],
  path: Path,
): PlannedSite | null {
  const [first] = names;
  if (!first) return null;
  const owners = new Map<string, { host: string; path: Path }>();
  for (const name of names) {
    const row = context.directory.host(name.host);
    if (row && isProven(row) && !owners.has(row.siteId)) owners.set(row.siteId, name);
  }
  const [owner, second] = [...owners];
  if (second) {
    faults.push({ path: second[1].path, message: `${second[1].host} belongs to another site already.` });
    return null;
  }
  const site = owner ? (context.directory.site(owner[0]) ?? null) : null;
  // Sites are listed in the order in which they were added, so those of a file keep its order.
  const by = { ...context.by, now: context.by.now + Number(path.at(-1)) };
  return { site, host: owner?.[1].host ?? first.host, path, by };
}

async function planSite(
  planning: Planning,
  planned: PlannedSite,
  entry: SiteEntry,
  names: readonly { host: string; path: Path }[],
  keys: Set<string>,
): Promise<PlannedChanges> {
  const { context } = planning;
  const { site, host, by } = planned;
  const added: Change[] = [];
  if (!site)
    added.push({
      kind: "add",
      what: `site ${host}`,
      lines: [],
      loss: null,
      async run() {
        await addSite(context, host, by);
        return null;
      },
    });
  if (entry.name !== undefined && entry.name !== (site?.name ?? host)) {
    const name = entry.name;
    added.push({
      kind: site ? "change" : "add",
      what: `name of ${host}`,
      lines: [{ name: "name", before: site?.name ?? null, after: name }],
      loss: null,
      async run() {
        await renameSite(context, findSite(context, host), name, context.by);
        return null;
      },
    });
  }
  const hosts = planHosts(planning, planned, names);
  const inboundKeys = planKeys(planning, planned, entry.keys, keys);
  const settings = await planSettings(planning, planned, entry, inboundKeys.added.length > 0);
  const connections = await planConnections(planning, planned, entry.connections);
  const webhooks = await planWebhooks(planning, planned, entry.webhooks);
  const parts = [hosts, inboundKeys, { added: settings, removed: [] }, connections, webhooks];
  return {
    added: [...added, ...parts.flatMap((one) => one.added)],
    removed: parts.flatMap((one) => one.removed),
  };
}

function planHosts(
  planning: Planning,
  { site, host: siteHost, by }: PlannedSite,
  names: readonly { host: string; path: Path }[],
): PlannedChanges {
  const { context, prune, unlisted } = planning;
  const { directory } = context;
  const rights = { now: by.now, isTrusted: true };
  const added = names
    .filter(({ host }) => directory.host(host)?.siteId !== site?.id || !site)
    .flatMap(({ host, path }): Change[] => {
      if (
        !check(
          planning,
          () => path,
          () => {
            context.checkHost?.(host);
            return readFreeHost(directory, host, rights);
          },
        )
      )
        return [];
      if (host === siteHost && !site) return [];
      return [
        {
          kind: "add",
          what: `host ${host} of ${siteHost}`,
          lines: [],
          loss: null,
          async run() {
            const now = by.now + Number(path.at(-1));
            await addHost(context, findSite(context, siteHost), host, { ...by, now, isTrusted: true });
            return null;
          },
        },
      ];
    });
  const removed: Change[] = [];
  for (const host of site?.hosts ?? []) {
    if (names.some((one) => one.host === host)) continue;
    const what = `host ${host} of ${siteHost}`;
    if (!prune) unlisted.push(what);
    else
      removed.push({
        kind: "remove",
        what,
        lines: [],
        loss: `Requests to ${host} are no longer answered.`,
        async run() {
          await removeHost(context, findHost(directory.sites(), host), by);
          return null;
        },
      });
  }
  return { added, removed };
}

async function planSettings(
  planning: Planning,
  planned: PlannedSite,
  { settings }: SiteEntry,
  addsKeys: boolean,
): Promise<Change[]> {
  const { context, faults } = planning;
  const { site, host, path } = planned;
  const given = Object.entries(settings ?? {}).flatMap(([label, text]) => (text === undefined ? [] : [[label, text] as const]));
  const before = site?.settings ?? withDefaults({});
  const changes: Record<string, string> = {};
  const lines: ChangedLine[] = [];
  for (const [label, text] of given) {
    const own = [...path, "settings", label];
    const read = readSettings({ [label]: text });
    if (read instanceof SettingFault) {
      faults.push({ path: own, message: read.message.replace(`${label} `, "") });
      continue;
    }
    const checkAddress = (url: string) => urlFault(context.allowPrivate, url);
    check(
      planning,
      () => own,
      () => checkAlertWebhook({ [label]: text }, checkAddress, label),
    );
    const isDamaged = site?.unreadable !== undefined;
    // The first key of a site turns inbound on, so a file that says `off` has to say it after the key.
    const isReset = label === "inbound" && addsKeys;
    if (isSame(before, read) && !isDamaged && !isReset) continue;
    changes[label] = text;
    if (!isSame(before, read) || isDamaged) lines.push(lineOf(label, text, before, read, site !== null));
  }
  if (Object.keys(changes).length === 0) return [];
  const losses = site ? await countLosses(context.store, site, changes, context.by.now) : [];
  const loss = losses.map(({ label, count, what }) => `${label} deletes ${count.toLocaleString("en-US")} ${what}.`);
  return [
    {
      kind: site ? "change" : "add",
      what: `settings of ${host}`,
      lines,
      loss: loss.length > 0 ? loss.join(" ") : null,
      async run() {
        await changeSiteSettings(context, findSite(context, host), changes, context.by);
        return null;
      },
    },
  ];
}

function isSame(before: SiteSettings, read: Partial<SiteSettings>): boolean {
  const text = (value: unknown) => JSON.stringify(Array.isArray(value) ? value.toSorted() : value);
  return Object.entries(read).every(([name, value]) =>
    // One of the settings is an address that may contain a token.
    isSameSecret(text(before[name as keyof SiteSettings]), text(value)),
  );
}

/** Shows a setting as the audit log does: people are counted, and addresses are shown by their origin. */
function lineOf(label: string, text: string, before: SiteSettings, read: Partial<SiteSettings>, exists: boolean): ChangedLine {
  const [name] = Object.keys(read) as [keyof SiteSettings];
  const present = describeSettings(before)[label] ?? "";
  return {
    name: label,
    before: exists ? (auditedChanges({ [label]: present }, { [name]: before[name] })[label] ?? null) : null,
    after: auditedChanges({ [label]: text }, read)[label] ?? null,
  };
}
