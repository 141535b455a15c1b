import { urlFault } from "../delivery/addresses.ts";
import { readTag, tagLines, tagScripts } from "../identity/tagScript.ts";
import { hasSettings } from "../sites/directory.ts";
import { addSite, findSite, changeSiteSettings } from "../sites/manage.ts";
import { checkAlertWebhook, describeSettings, settingLabels, settingNotes } from "../sites/settings.ts";
import { findSiteOrOnly, readPairs, table, type CliCommand } from "./context.ts";

export function siteCommands(program: CliCommand): void {
  const site = program.command("site").description("sites: one per customer domain");

  site
    .command("add <host>")
    .description("add a site for a host such as shop.example.com")
    .run(async (context, host: string) => {
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
      const sites = [...directory.sites()].map(({ id, hosts, settings, keys, connections, unreadable }) => ({
        id,
        hosts,
        settings: describeSettings(settings),
        ...(unreadable && { unreadable }),
        keys: keys.filter((key) => key.revokedAt === null).length,
        connections: connections.length,
      }));
      const rows = sites.map((one) => [
        one.id,
        one.hosts.join(", "),
        hasSettings(one) ? (one.settings.inbound ?? "") : "cannot be read",
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
    .command("set <site> <name=value...>")
    .description("change settings of a site")
    .addHelpText(
      "after",
      `\nSettings:\n${settingLabels.map(({ label, help }) => `  ${label.padEnd(20)}${help}`).join("\n")}`,
    )
    .run(async (context, text: string, words: string[]) => {
      const changes = readPairs(words);
      const found = findSite(context, text);
      const { allowPrivate, countryFile, smtp } = context.config;
      checkAlertWebhook(changes, (url) => urlFault(allowPrivate, url));
      const changed = await changeSiteSettings(context, found, changes, context.by);
      const settings = describeSettings(changed);
      const shown = Object.keys(changes).map((label) => `${label}=${settings[label]}`);
      const available = { countries: Boolean(countryFile), mail: smtp !== null };
      const notes = settingNotes(Object.keys(changes), changed, available);
      if (!hasSettings(found))
        notes.push(
          "The other settings could not be read. They have their defaults now, and consent_mode is opt-in.",
        );
      context.print(
        { site: { id: found.id, settings }, notes },
        [`Site ${found.id}: ${shown.join(" ")}`, ...notes].join("\n"),
      );
    });
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
