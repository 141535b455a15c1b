import { urlFault } from "../delivery/addresses.ts";
import { readTag, tagLines, tagScripts } from "../identity/tagScript.ts";
import { countOf } from "../kernel/text.ts";
import { describeConnection } from "../sites/connectionSettings.ts";
import { countContents, deleteSite, type DeletedContents } from "../sites/deleteSite.ts";
import { hasSettings, type Site } from "../sites/directory.ts";
import { stateOf } from "../sites/hosts.ts";
import { describeKeys } from "../sites/keyUses.ts";
import { addSite, findSite, changeSiteSettings } from "../sites/manage.ts";
import { countLosses, type RetentionLoss } from "../sites/retention.ts";
import { checkAlertWebhook, describeSettings, settingLabels, settingNotes } from "../sites/settings.ts";
import { findSiteOrOnly, readPairs, table, timeText, type CliCommand, type CommandContext } from "./context.ts";
import { addSiteMove } from "./database/siteMove.ts";
import { confirm, countText } from "./terminal/confirm.ts";

export function siteCommands(program: CliCommand): void {
  const site = program.command("site").description("sites: one per customer domain");

  site
    .command("add <host>")
    .description("add a site for a host such as shop.example.com")
    .runOrCreate(async (context, host: string) => {
      const { id, hosts } = await addSite(context, host, context.by);
      context.print(
        { site: { id, hosts } },
        `Site ${id} for ${hosts.join(", ")}. Inbound is off until its first key is created:\n  cleancast key add ${hosts[0]} "my CRM"`,
      );
    });

  site
    .command("list")
    .description("list all sites")
    .run(async ({ directory, print }) => {
      const sites = [...directory.sites()].map(({ id, hosts, settings, keys, connections, unreadable, leaving }) => ({
        id,
        hosts,
        settings: describeSettings(settings),
        ...(unreadable && { unreadable }),
        leaving,
        keys: keys.filter((key) => key.revokedAt === null).length,
        connections: connections.length,
      }));
      const rows = sites.map((one) => [
        one.id,
        one.hosts.join(", "),
        inboundText(one),
        String(one.keys),
        String(one.connections),
      ]);
      print(
        { sites },
        table(
          ["ID", "HOSTS", "INBOUND", "KEYS", "CONNECTIONS"],
          rows,
          "No sites yet. Add one: cleancast site add shop.example.com",
        ),
      );
    });

  site
    .command("show [site]")
    .description("show a site: hosts, settings, keys, connections and webhooks")
    .run(async (context, text: string | undefined) => {
      const shown = await describeSite(context, findSiteOrOnly(context.directory, text));
      context.print({ site: shown }, describedText(shown));
    });

  site
    .command("delete <site>")
    .description("delete a site with all its data; its keys stop working at once")
    .option("--yes", "do it without asking")
    .run(async (context, text: string, { yes }: { yes?: boolean }) => {
      const found = findSite(context, text);
      const name = found.hosts[0] ?? found.id;
      const what = `${deletionText(name, await countContents(context, found))} This cannot be undone.`;
      await confirm({ what, yes, answer: name });
      const deleted = await deleteSite(context, found, context.by);
      context.print(
        { id: found.id, hosts: found.hosts, deleted },
        `Site ${found.id} (${name}) is deleted. Running servers refuse its keys within 2 seconds, and its data is removed in the background.`,
      );
    });

  addSiteMove(site);

  site
    .command("set <site> <name=value...>")
    .description("change settings of a site")
    .option("--yes", "also where a shorter keep, keep_events or keep_log deletes data")
    .addHelpText("after", `\nSettings:\n${settingLabels.map(({ label, help }) => `  ${label.padEnd(20)}${help}`).join("\n")}`)
    .run(async (context, text: string, words: string[], { yes }: { yes?: boolean }) => {
      const changes = readPairs(words);
      const found = findSite(context, text);
      const losses = await countLosses(context.store, found, changes, context.by.now);
      if (losses.length > 0) await confirm({ what: lossText(losses, changes), yes });
      const { allowPrivate, countryFile, smtp } = context.config;
      checkAlertWebhook(changes, (url) => urlFault(allowPrivate, url));
      const changed = await changeSiteSettings(context, found, changes, context.by);
      const settings = describeSettings(changed);
      const shown = Object.keys(changes).map((label) => `${label}=${settings[label]}`);
      const available = { countries: Boolean(countryFile), mail: smtp !== null };
      const notes = settingNotes(Object.keys(changes), changed, available);
      if (!hasSettings(found))
        notes.push("The other settings could not be read. They have their defaults now, and consent_mode is opt-in.");
      context.print({ site: { id: found.id, settings }, notes }, [`Site ${found.id}: ${shown.join(" ")}`, ...notes].join("\n"));
    });
}

function inboundText(site: Pick<Site, "unreadable" | "leaving"> & { settings: Record<string, string> }): string {
  if (site.leaving) return site.leaving.state === "moved" ? "moved" : "read-only";
  return hasSettings(site) ? (site.settings["inbound"] ?? "") : "cannot be read";
}

/** Everything about a site that is not secret. */
async function describeSite({ store, by }: CommandContext, site: Site) {
  const { id, name, createdAt, settings, hostRows, connections, leaving } = site;
  const webhooks = await store.webhooks.list(id);
  return {
    id,
    name,
    createdAt,
    hosts: hostRows.map((host) => ({ host: host.host, state: stateOf(host) })),
    settings: describeSettings(settings),
    keys: (await describeKeys(store, site, by.now)).filter(({ state }) => state !== "revoked"),
    connections: connections.map(describeConnection),
    webhooks: webhooks.map(({ id: webhookId, origin, state, stateReason }) => ({
      id: webhookId,
      url: `${origin}/…`,
      state,
      stateReason,
    })),
    lastEventAt: await store.health.lastEventAt(id),
    leaving,
  };
}

function describedText(site: Awaited<ReturnType<typeof describeSite>>): string {
  const { id, createdAt, hosts, settings, keys, connections, webhooks, lastEventAt, leaving } = site;
  const list = (title: string, lines: readonly string[]) => [
    "",
    title,
    ...(lines.length > 0 ? lines : ["none"]).map((line) => `  ${line}`),
  ];
  const reason = (text: string | null) => (text === null ? "" : `: ${text}`);
  return [
    `Site ${id}, created ${timeText(createdAt)} UTC, last event ${timeText(lastEventAt)}`,
    ...(leaving
      ? [leaving.state === "moved" ? `Moved to ${leaving.peer}` : `Read-only: it is being moved to ${leaving.peer}`]
      : []),
    ...list(
      "Hosts",
      hosts.map((one) => `${one.host}  ${one.state}`),
    ),
    ...list(
      "Keys",
      keys.map((one) => `${one.id}  ${one.prefix}…  ${one.state}  last used ${timeText(one.lastUsedAt)}  ${one.name}`),
    ),
    ...list(
      "Connections",
      connections.map((one) => `${one.id}  ${one.platform}  ${one.state}${reason(one.stateReason)}`),
    ),
    ...list(
      "Webhooks",
      webhooks.map((one) => `${one.id}  ${one.url}  ${one.state}${reason(one.stateReason)}`),
    ),
    ...list(
      "Settings",
      Object.entries(settings).map(([name, value]) => `${name}=${value}`),
    ),
  ].join("\n");
}

function deletionText(name: string, contents: DeletedContents): string {
  const { hosts, keys, connections, webhooks, events, identities, visitors } = contents;
  const counts = [
    countOf(hosts, "host"),
    countOf(keys, "key"),
    countOf(connections, "connection"),
    countOf(webhooks, "webhook"),
    `${countText(events)} ${events === 1 ? "event" : "events"}`,
    `${countText(identities)} identity ${identities === 1 ? "record" : "records"}`,
  ];
  return `This deletes the site ${name} with ${counts.join(", ")} and ${countText(visitors)} ${visitors === 1 ? "visitor" : "visitors"}.`;
}

function lossText(losses: readonly RetentionLoss[], changes: Record<string, string>): string {
  const parts = losses.map(({ label, count, what }) => `${label}=${changes[label]} deletes ${countText(count)} ${what}`);
  return `${parts.join("; ")}. This cannot be undone.`;
}

export function tagCommands(program: CliCommand): void {
  program
    .command("tag [site]")
    .description("print the HTML that installs the browser tag on a site's pages")
    .run(async ({ directory, print }, siteText: string | undefined) => {
      const site = findSiteOrOnly(directory, siteText);
      const script = tagScripts(readTag())(site);
      const { hash, integrity, gzip } = script;
      const { follows, pinned } = tagLines(script);
      print(
        { site: site.id, follows, pinned, hash, integrity, gzipBytes: gzip.length },
        `Add this to the <head> of every page (${gzip.length} bytes gzip):\n\n  ${follows}\n\n` +
          `Or pin it to exactly this content, and replace it after an upgrade or a change of the consent mode:\n\n  ${pinned}`,
      );
    });
}
