// Plans the changes of sites, their hosts and settings.

import { urlFault } from "../delivery/addresses.ts";
import { Denied } from "../kernel/refusal.ts";
import { didYouMean, findNearest } from "../kernel/text.ts";
import { countContents, deleteSite } from "../sites/deleteSite.ts";
import type { Site } from "../sites/directory.ts";
import { isVerified, readHost } from "../sites/hosts.ts";
import { addSite, changeSiteSettings, findSite, readFreeHost, renameSite, requireHere } from "../sites/manage.ts";
import { addHost, findHost, maxHosts, removeHost } from "../sites/manageHosts.ts";
import { countLosses } from "../sites/retention.ts";
import { checkAlertWebhook } from "../sites/settingNeeds.ts";
import { SettingFault } from "../sites/settingForms.ts";
import { auditedChanges, choicesOf, describeSettings, readSettings, withDefaults, type SiteSettings } from "../sites/settings.ts";
import { fieldText, type FileFault, type Path } from "./document.ts";
import { valueAt } from "./issues.ts";
import {
  check,
  hasManyFaults,
  isSameSecret,
  reconcile,
  type Change,
  type ChangedLine,
  type PlannedSite,
  type Planning,
} from "./planning.ts";
import { planConnections } from "./planConnections.ts";
import { planDataExport } from "./planDataExport.ts";
import { planKeys } from "./planKeys.ts";
import { planSources } from "./planSources.ts";
import { planWebhooks } from "./planWebhooks.ts";
import type { ConfigurationFile, SiteEntry } from "./schema.ts";

type Name = { host: string; path: Path };

type WantedSite = { planned: PlannedSite; entry: SiteEntry; names: readonly Name[] };

export async function planSites(planning: Planning, { sites }: ConfigurationFile): Promise<Change[]> {
  const { context } = planning;
  if (!sites) return [];
  const hosts = new Set<string>();
  const keys = new Set<string>();
  const wanted: [string, WantedSite][] = [];
  for (const [i, entry] of sites.entries()) {
    if (hasManyFaults(planning)) break;
    const path: Path = ["sites", i];
    const names = await readHosts(planning, entry, path, hosts);
    const planned = findPlanned(planning, names, path);
    wanted.push([planned.site?.id ?? planned.host, { planned, entry, names }]);
  }
  return reconcile(planning, {
    wanted,
    existing: Array.from(context.directory.sites(), (site) => [site.id, site]),
    plan: (one) => planSite(planning, one, keys),
    remove(site) {
      const what = `site ${site.hosts[0] ?? site.id}`;
      return {
        what,
        async loss() {
          if (!context.rights.siteDeletion)
            throw new Denied("forbidden", `Only an owner of the whole installation can delete the ${what}.`);
          const { events, identities } = await countContents(context, site);
          return `Deletes ${what} with ${events.toLocaleString("en-US")} events and ${identities.toLocaleString("en-US")} identity records.`;
        },
        run: () => deleteSite(context, site, context.by),
      };
    },
  });
}

/** Reads the hosts of a site. A host can be in the file once. */
async function readHosts({ faults, rest }: Planning, entry: SiteEntry, path: Path, known: Set<string>): Promise<Name[]> {
  const names: Name[] = [];
  for (const [i, text] of entry.hosts.entries()) {
    await rest();
    const own = [...path, "hosts", i];
    const host = readHost(text);
    if (!host) faults.push({ path: own, message: `is not a host name; write it like shop.example.com.` });
    else if (known.has(host)) faults.push({ path: own, message: `${host} is in the file twice.` });
    else {
      known.add(host);
      names.push({ host, path: own });
    }
  }
  return names;
}

function findPlanned({ context, faults }: Planning, names: readonly Name[], path: Path): PlannedSite {
  // Sites are listed in the order in which they were added, so those of a file keep its order.
  const by = { ...context.by, now: context.by.now + Number(path.at(-1)) };
  const owners = new Map<string, Name>();
  for (const name of names) {
    const row = context.directory.host(name.host);
    if (row && isVerified(row) && !owners.has(row.siteId)) owners.set(row.siteId, name);
  }
  const [owner, second] = [...owners];
  if (second) faults.push({ path: second[1].path, message: `${second[1].host} belongs to another site already.` });
  const site = owner ? (context.directory.site(owner[0]) ?? null) : null;
  const host = owner?.[1].host ?? names[0]?.host ?? fieldText(path);
  const isUnidentified = names.length === 0 || context.isOffline === true;
  return { site, isUnidentified, host, path, by };
}

/** What a site that may exist lacks in the file, it may have already. */
async function planSite(planning: Planning, wanted: WantedSite, keys: Set<string>): Promise<Change[]> {
  const { planned, entry } = wanted;
  if (!planned.isUnidentified) {
    const changes = await planParts(planning, wanted, keys);
    const { site, path } = planned;
    if (site && changes.length > 0) check(planning, path, () => requireHere(site));
    return changes;
  }
  const faults: FileFault[] = [];
  const changes = await planParts({ ...planning, faults }, wanted, keys);
  const isInFile = ({ path }: FileFault) => valueAt(entry, path.slice(planned.path.length)) !== undefined;
  planning.faults.push(...faults.filter(isInFile));
  return changes;
}

/** `keys` collects the keys of the whole file. */
async function planParts(planning: Planning, { planned, entry, names }: WantedSite, keys: Set<string>): Promise<Change[]> {
  const { context } = planning;
  const { site, host, by } = planned;
  const { name = site?.name ?? host } = entry;
  const changes: Change[] = [];
  if (!site) changes.push({ kind: "add", what: `site ${host}`, run: () => addSite(context, host, by) });
  if (name !== (site?.name ?? host))
    changes.push({
      kind: site ? "change" : "add",
      what: `name of ${host}`,
      lines: [{ name: "name", before: site?.name ?? null, after: name }],
      run: () => renameSite(context, findSite(context, host), name, context.by),
    });
  changes.push(...(await planHosts(planning, planned, names)));
  const inboundKeys = entry.keys ? await planKeys(planning, planned, entry.keys, keys) : [];
  const addsKeys = inboundKeys.some(({ kind }) => kind === "add");
  changes.push(...inboundKeys, ...(await planSettings(planning, planned, entry, addsKeys)));
  if (entry.connections) changes.push(...(await planConnections(planning, planned, entry.connections)));
  if (entry.sources) changes.push(...(await planSources(planning, planned, entry.sources)));
  if (entry.webhooks) changes.push(...(await planWebhooks(planning, planned, entry.webhooks)));
  if (entry.data_export) changes.push(...(await planDataExport(planning, planned, entry.data_export)));
  return changes;
}

function planHosts(
  planning: Planning,
  { site, host: siteHost, path: sitePath, by }: PlannedSite,
  names: readonly Name[],
): Promise<Change[]> {
  const { context } = planning;
  const { directory } = context;
  const nameOf = (host: string) => `host ${host} of ${siteHost}`;
  return reconcile(planning, {
    limit: { max: maxHosts, path: [...sitePath, "hosts"] },
    wanted: names.map((one) => [one.host, one]),
    existing: (site?.hosts ?? []).map((host) => [host, host]),
    plan({ host, path }) {
      if (site && directory.host(host)?.siteId === site.id) return [];
      const isFree = check(planning, path, () => {
        context.checkHost?.(host);
        return readFreeHost(directory, host, { now: by.now, isTrusted: true });
      });
      // The first host of a new site is added with it.
      if (!isFree || (host === siteHost && !site)) return [];
      const rights = { ...by, now: by.now + Number(path.at(-1)), isTrusted: true };
      return [{ kind: "add", what: nameOf(host), run: () => addHost(context, findSite(context, siteHost), host, rights) }];
    },
    remove: (host) => ({
      what: nameOf(host),
      loss: () => `Requests to ${host} are no longer answered.`,
      run: () => removeHost(context, findHost(directory.sites(), host), by),
    }),
  });
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
  if (given.length === 0) return [];
  const before = site?.settings ?? withDefaults({});
  const changes: Record<string, string> = {};
  const lines: ChangedLine[] = [];
  for (const [label, text] of given) {
    await planning.rest();
    const own = [...path, "settings", label];
    const read = readSettings({ [label]: text });
    if (read instanceof SettingFault) {
      const message = read.message.replace(`${label} `, "");
      faults.push({ path: own, message: [message, didYouMean(findNearest(text, choicesOf(label)))].filter(Boolean).join(" ") });
      continue;
    }
    const checkAddress = (url: string) => urlFault(context.allowPrivate, url);
    check(planning, own, () => checkAlertWebhook({ [label]: text }, checkAddress, label));
    const isDamaged = site?.unreadable !== undefined;
    // The first key of a site turns inbound on, so a file that says `off` has to say it after the key.
    const isReset = label === "inbound" && addsKeys;
    if (isSame(before, read) && !isDamaged && !isReset) continue;
    changes[label] = text;
    if (!isSame(before, read) || isDamaged) lines.push(lineOf(site, label, text, read));
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
      run: () => changeSiteSettings(context, findSite(context, host), changes, context.by),
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
function lineOf(site: Site | null, label: string, text: string, read: Partial<SiteSettings>): ChangedLine {
  const [name] = Object.keys(read) as [keyof SiteSettings];
  const shown = (value: string, settings: Partial<SiteSettings>) => auditedChanges({ [label]: value }, settings)[label] ?? null;
  const before = site && shown(describeSettings(site.settings)[label] ?? "", { [name]: site.settings[name] });
  return { name: label, before, after: shown(text, read) };
}
