// Writes the present configuration as a configuration file, without secrets: each becomes a reference to a variable.

import { stringify } from "yaml";
import { operator } from "../access/actor.ts";
import { placeText } from "../export/manage.ts";
import { threadShare } from "../kernel/concurrency.ts";
import { platformOf } from "../platforms/index.ts";
import { hasSettings, isUsable, type Connection, type InboundKey, type Site, type Source } from "../sites/directory.ts";
import { describeSettings, withDefaults } from "../sites/settings.ts";
import type { ExportOptions, ExportTarget } from "../store/export/dataExports.ts";
import { fileVersion } from "./schema.ts";
import type { ConfigurationContext } from "./planning.ts";

type Exported = {
  file: Record<string, unknown>;
  /** The file as YAML. */
  body: string;
  /** The variables that the file refers to. */
  variables: string[];
  /** What cannot be read, and is not in the file. */
  left: string[];
};

type ExportContext = Pick<ConfigurationContext, "store" | "directory" | "access" | "rights" | "by">;

type ReferenceTo = (...words: string[]) => string;

export async function exportConfiguration(context: ExportContext): Promise<Exported> {
  const { directory, rights } = context;
  await directory.refresh();
  const variables = new Set<string>();
  const left: string[] = [];
  const referenceTo: ReferenceTo = (...words) => {
    const base = words
      .join("_")
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, "_")
      .replace(/^(?=\d)/, "_");
    let name = base;
    for (let n = 2; variables.has(name); n++) name = `${base}_${n}`;
    variables.add(name);
    return `\${${name}}`;
  };
  const sites: unknown[] = [];
  const rest = threadShare.begin("configuration");
  for (const site of [...directory.sites()].toSorted(byText(hostOfSite))) {
    await rest();
    sites.push(await exportSite(context, site, referenceTo, left));
  }
  const version = Number(fileVersion);
  const members = rights.members ? { members: await exportMembers(context) } : {};
  const lists = Object.entries({ sites, ...members });
  const body = [toText({ version })];
  for (const [name, entries] of lists) body.push(...(await listTexts(name, entries)));
  return { file: { version, sites, ...members }, body: body.join(""), variables: [...variables], left };
}

const toText = (part: Record<string, unknown>) => stringify(part, { lineWidth: 0 });

/** Writes a list of thousands in slices. */
async function listTexts(name: string, entries: readonly unknown[]): Promise<string[]> {
  if (entries.length === 0) return [toText({ [name]: entries })];
  const head = `${name}:\n`;
  const texts = await threadShare.map("configuration", entries, (entry) => toText({ [name]: [entry] }).slice(head.length));
  return [head, ...texts];
}

/** Members and open invitations: the file that invites people lists them in the same way. */
async function exportMembers({ access, directory }: ExportContext) {
  const members = (await access.members.list(operator)).flatMap(({ email, grants }) =>
    grants.map((grant) => ({ email, ...grant })),
  );
  const invitations = (await access.invitations.list(operator)).filter(
    ({ email, site }) => !members.some((one) => one.email === email && one.site === site),
  );
  const hostOf = (site: string) => directory.site(site)?.hosts[0] ?? site;
  return [...members, ...invitations]
    .map(({ email, role, site }) => ({ email, role, ...(site !== null && { sites: [hostOf(site)] }) }))
    .toSorted(byText(({ email, sites = [] }) => `${email} ${sites.join()}`));
}

export function toYaml({ body, variables, left }: Exported): string {
  const head = [
    "Configuration of Cleancast, written by 'cleancast export configuration'. Apply it with 'cleancast apply FILE'.",
    ...(variables.length ? [`It needs these variables: ${variables.join(", ")}.`] : []),
    ...left.map((what) => `Left out, because it cannot be read: ${what}.`),
  ];
  return `${head.map((line) => `# ${line}\n`).join("")}${body}`;
}

/** Exports are sorted, so that two of one configuration are equal. */
const byText =
  <T>(textOf: (one: T) => string) =>
  (one: T, other: T) =>
    textOf(one) < textOf(other) ? -1 : 1;

const hostOfSite = ({ hosts, id }: Pick<Site, "hosts" | "id">) => hosts[0] ?? id;

/** Keeps a text from being read as a reference. */
// A function, because `$$` in a replacement text stands for one dollar sign.
const literal = (text: string) => text.replaceAll("${", () => "$${").replace(/^@/, "@@");

async function exportSite({ store, rights, by }: ExportContext, site: Site, referenceTo: ReferenceTo, left: string[]) {
  const host = hostOfSite(site);
  if (!hasSettings(site)) left.push(`the settings of ${host}`);
  const readable = site.connections
    .filter(({ unreadable }) => unreadable === undefined)
    .toSorted(byText(({ platform, account }) => `${platform} ${account}`));
  const keys = site.keys.filter((key) => isUsable(key, by.now)).toSorted(byText(({ name, hash }) => `${name} ${hash}`));
  for (const { id, unreadable } of site.connections) if (unreadable) left.push(`connection ${id} of ${host}`);
  for (const { id, unreadable } of site.sources) if (unreadable) left.push(`source ${id} of ${host}`);
  const webhooks = await store.webhooks.listWithSecrets(site.id);
  for (const { id, origin } of await store.webhooks.list(site.id)) if (origin === null) left.push(`webhook ${id} of ${host}`);
  const dataExport = await store.dataExports.find(site.id);
  if (dataExport && !dataExport.target) left.push(`the data export of ${host}`);
  return {
    hosts: site.hosts,
    name: literal(site.name),
    settings: exportSettings(site, () => referenceTo(host, "alert_webhook")),
    ...(rights.keys && { keys: keys.map(exportKey) }),
    connections: readable.map((one) => exportConnection(one, host, referenceTo)),
    sources: site.sources
      .filter(({ unreadable }) => unreadable === undefined)
      .toSorted(byText(({ name }) => name))
      .map((one) => exportSource(one, host, referenceTo)),
    webhooks: webhooks.toSorted(byText(({ url }) => url)).map(({ sendEmpty, state }) => ({
      url: referenceTo(host, "webhook_url"),
      secret: referenceTo(host, "webhook_secret"),
      send_empty: sendEmpty,
      disabled: state === "disabled",
    })),
    ...(dataExport?.target && {
      data_export: exportDataExport(dataExport.target, dataExport.options, () => referenceTo(host, "export_secret")),
    }),
  };
}

function exportDataExport(target: ExportTarget, options: ExportOptions, secret: () => string) {
  const to = literal(placeText(target));
  if (target.kind === "folder") return { to, ...options };
  const { endpoint, region, keyId } = target;
  return { to, endpoint: literal(endpoint), region, key_id: literal(keyId), secret: secret(), ...options };
}

/** Only settings that differ from the defaults. */
function exportSettings(site: Site, reference: () => string): Record<string, string> {
  if (!hasSettings(site)) return {};
  const defaults = describeSettings(withDefaults({}));
  const own = Object.entries(describeSettings(site.settings)).filter(([label, text]) => text !== defaults[label]);
  return Object.fromEntries(own.map(([label, text]) => [label, label === "alert_webhook" ? reference() : literal(text)]));
}

function exportKey({ name, mode, hash, expiresAt }: InboundKey) {
  const expires = expiresAt === null ? {} : { expires: new Date(expiresAt).toISOString() };
  return { name: literal(name), hash, mode, ...expires };
}

function exportSource({ kind, name, settings, secrets, state }: Source, host: string, referenceTo: ReferenceTo) {
  const open = Object.entries(settings).map(([setting, value]) => [setting, literal(value)]);
  const hidden = Object.keys(secrets).map((setting) => [setting, referenceTo(host, name, setting)]);
  return { kind, name: literal(name), settings: Object.fromEntries([...open, ...hidden]), paused: state === "paused" };
}

function exportConnection(connection: Connection, host: string, referenceTo: ReferenceTo) {
  const { platform: id, settings, events, state } = connection;
  const declared = platformOf(id)?.settings ?? [];
  const parts: Record<"settings" | "event" | "map" | "value", Record<string, string>> = {
    settings: {},
    event: {},
    map: {},
    value: {},
  };
  for (const [name, value] of Object.entries(settings)) {
    const [kind = "", ...rest] = name.split(".");
    const setting = declared.find((one) => one.name === name);
    if (setting) {
      const isHidden = setting.secret || setting.address;
      parts.settings[name] = isHidden ? referenceTo(host, id, name) : literal(value);
    } else if (kind === "event" || kind === "map" || kind === "value") parts[kind][rest.join(".")] = literal(value);
  }
  return {
    platform: id,
    settings: parts.settings,
    events: events?.map(literal) ?? "all",
    ...(Object.keys(parts.event).length > 0 && { event_names: parts.event }),
    ...(Object.keys(parts.map).length > 0 && { fields: parts.map }),
    ...(Object.keys(parts.value).length > 0 && { values: parts.value }),
    paused: state === "paused",
  };
}
