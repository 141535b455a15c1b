import type { Answer } from "../contract/contract.ts";
import { countOf } from "../kernel/text.ts";
import { findSite } from "../sites/manage.ts";
import { countLosses, type RetentionLoss } from "../sites/retention.ts";
import { settingLabels } from "../sites/settings.ts";
import { findSiteOrOnly, readPairs, table, timeText, type CliCommand, type CommandContext } from "./context.ts";
import { addSiteMove } from "./database/siteMove.ts";
import { confirm, countText } from "./terminal/confirm.ts";

export function siteCommands(program: CliCommand): void {
  const site = program.command("site").description("sites: one per customer domain");

  site
    .command("add <host>")
    .description("add a site for a host such as shop.example.com")
    .runOrCreate(async ({ call, print }, host: string) => {
      const added = await call("POST /sites", { body: { host } });
      const { id, hosts } = added;
      print(
        added,
        `Site ${id} for ${hosts.join(", ")}. Inbound is off until its first key is created:\n  cleancast key add ${hosts[0]} "my CRM"`,
      );
    });

  site
    .command("list")
    .description("list all sites")
    .run(async ({ call, print }) => {
      const listed = await call("GET /sites", {});
      const rows = listed.items.map((one) => [
        one.id,
        one.hosts.join(", "),
        inboundText(one),
        String(one.health.keys),
        String(sumOf(one.health.connections)),
      ]);
      const head = ["ID", "HOSTS", "INBOUND", "KEYS", "CONNECTIONS"];
      print(listed, table(head, rows, "No sites yet. Add one: cleancast site add shop.example.com"));
    });

  site
    .command("show [site]")
    .description("show a site: hosts, settings, keys, connections and webhooks")
    .run(async (context, text: string | undefined) => {
      const shown = await readSite(context, findSiteOrOnly(context.directory, text).id);
      context.print(shown, describedText(shown));
    });

  site
    .command("remove <site>")
    .description("remove a site with all its data; its keys stop working at once")
    .option("--yes", "do it without asking")
    .run(async ({ directory, call, print }, text: string, { yes }: { yes?: boolean }) => {
      const { id, hosts } = findSite({ directory }, text);
      const name = hosts[0] ?? id;
      const contents = await call("GET /sites/:site/contents", { params: { site: id } });
      await confirm({ what: `${deletionText(name, contents)} This cannot be undone.`, yes, answer: name });
      const deleted = await call("DELETE /sites/:site", { params: { site: id }, query: { confirm: name } });
      print(
        deleted,
        `Site ${id} (${name}) is removed. Running servers refuse its keys within 2 seconds, and its data is removed in the background.`,
      );
    });

  addSiteMove(site);

  site
    .command("set <site> <name=value...>")
    .description("change settings of a site")
    .option("--yes", "also where a shorter keep, keep_events or keep_log deletes data")
    .addHelpText("after", `\nSettings:\n${settingLabels.map(({ label, help }) => `  ${label.padEnd(20)}${help}`).join("\n")}`)
    .run(async (context, text: string, words: string[], { yes }: { yes?: boolean }) => {
      const settings = readPairs(words);
      const found = findSite(context, text);
      const losses = await countLosses(context.store, found, settings, context.by.now);
      if (losses.length > 0) await confirm({ what: lossText(losses, settings), yes });
      const changed = await context.call("PATCH /sites/:site/settings", { params: { site: found.id }, body: { settings } });
      const shown = changed.items.filter(({ name }) => name in settings).map(({ name, value }) => `${name}=${value}`);
      context.print(changed, [`Site ${found.id}: ${shown.join(" ")}`, ...changed.notes].join("\n"));
    });
}

const sumOf = (counts: Record<string, number>) => Object.values(counts).reduce((sum, count) => sum + count, 0);

type Listed = Answer<"GET /sites">["items"][number];

function inboundText({ leaving, isReadable, inbound, health }: Listed): string {
  if (health.figures === null) return "no answer";
  if (leaving) return leaving.state === "moved" ? "moved" : "read-only";
  return isReadable ? (inbound ? "on" : "off") : "cannot be read";
}

type Shown = Awaited<ReturnType<typeof readSite>>;

/** Everything about a site that is not secret. */
async function readSite({ call }: CommandContext, id: string) {
  const params = { site: id };
  return {
    site: await call("GET /sites/:site", { params }),
    hosts: await call("GET /sites/:site/hosts", { params }),
    keys: await call("GET /sites/:site/keys", { params }),
    connections: await call("GET /sites/:site/connections", { params }),
    webhooks: await call("GET /sites/:site/webhooks", { params }),
    settings: await call("GET /sites/:site/settings", { params }),
  };
}

function describedText({ site, hosts, keys, connections, webhooks, settings }: Shown): string {
  const list = (title: string, lines: readonly string[]) => [
    "",
    title,
    ...(lines.length > 0 ? lines : ["none"]).map((line) => `  ${line}`),
  ];
  const reason = (text: string | null) => (text === null ? "" : `: ${text}`);
  const { id, createdAt, leaving, health } = site;
  const lastEvent = health.figures
    ? timeText(health.figures.lastEventAt)
    : "unknown: its machine of the database does not answer";
  return [
    `Site ${id}, created ${timeText(createdAt)} UTC, last event ${lastEvent}`,
    ...(leaving
      ? [leaving.state === "moved" ? `Moved to ${leaving.peer}` : `Read-only: it is being moved to ${leaving.peer}`]
      : []),
    ...list(
      "Hosts",
      hosts.items.map((one) => `${one.host}  ${one.state}`),
    ),
    ...list(
      "Keys",
      keys.items
        .filter(({ state }) => state !== "revoked")
        .map((one) => `${one.id}  ${one.prefix}…  ${one.state}  last used ${timeText(one.lastUsedAt)}  ${one.name}`),
    ),
    ...list(
      "Connections",
      connections.items.map((one) => `${one.id}  ${one.platform}  ${one.state}${reason(one.stateReason)}`),
    ),
    ...list(
      "Webhooks",
      webhooks.items.map((one) => `${one.id}  ${one.url}  ${one.state}${reason(one.stateReason)}`),
    ),
    ...list(
      "Settings",
      settings.items.map(({ name, value }) => `${name}=${value}`),
    ),
  ].join("\n");
}

function deletionText(name: string, contents: Answer<"GET /sites/:site/contents">): string {
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
    .description("print the HTML that installs the browser tag")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { id } = findSiteOrOnly(directory, siteText);
      const tag = await call("GET /sites/:site/tag", { params: { site: id } });
      print(
        tag,
        `Add this to the <head> of every page (${tag.gzipBytes} bytes gzip):\n\n  ${tag.follows}\n\n` +
          `Or pin it to exactly this content, and replace it after an upgrade or a change of the consent mode:\n\n  ${tag.pinned}`,
      );
    });
}
