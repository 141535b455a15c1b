import type { Command } from "commander";
import { urlFault } from "../delivery/addresses.ts";
import { addSite, findSite, setSite } from "../sites/manage.ts";
import { checkAlertWebhook, settingNotes } from "../sites/settingNotes.ts";
import { describeSettings, settingLabels } from "../sites/settings.ts";
import { withContext, readPairs, print, table } from "./context.ts";

export function siteCommands(program: Command): void {
  const site = program.command("site").description("sites: one per customer domain");

  site
    .command("add <host>")
    .description("add a site for a host such as shop.example.com")
    .action((host: string, _options: unknown, command: Command) =>
      withContext(async (desk) => {
        const { id, hosts } = await addSite(desk, host, desk.by);
        print(
          command,
          { site: { id, hosts } },
          `Site ${id} for ${hosts.join(", ")}. Inbound is off; its first key switches it on:\n  cleancast key add ${hosts[0]} "my CRM"`,
        );
      }),
    );

  site
    .command("list")
    .description("all sites")
    .action((_options: unknown, command: Command) =>
      withContext(async ({ directory }) => {
        const sites = [...directory.sites()].map(({ id, hosts, settings, keys, connections }) => ({
          id,
          hosts,
          settings: describeSettings(settings),
          keys: keys.filter((key) => key.revokedAt === null).length,
          connections: connections.length,
        }));
        const rows = sites.map((one) => [
          one.id,
          one.hosts.join(", "),
          one.settings.inbound ?? "",
          String(one.keys),
          String(one.connections),
        ]);
        print(
          command,
          { sites },
          table(
            ["ID", "HOSTS", "INBOUND", "KEYS", "CONNECTIONS"],
            rows,
            "No site yet. Add one: cleancast site add shop.example.com",
          ),
        );
      }),
    );

  site
    .command("set <site> <name=value...>")
    .description("change settings of a site")
    .addHelpText(
      "after",
      `\nSettings:\n${settingLabels.map(({ label, help }) => `  ${label.padEnd(18)}${help}`).join("\n")}`,
    )
    .action((text: string, words: string[], _options: unknown, command: Command) =>
      withContext(async (desk) => {
        const changes = readPairs(words);
        const found = findSite(desk, text);
        const { allowPrivate, countryFile, smtp } = desk.config;
        checkAlertWebhook(changes, (url) => urlFault(allowPrivate, url));
        const changed = await setSite(desk, found, changes, desk.by);
        const settings = describeSettings(changed);
        const shown = Object.keys(changes).map((label) => `${label}=${settings[label]}`);
        const means = { countries: Boolean(countryFile), mail: smtp !== null };
        const notes = settingNotes(Object.keys(changes), changed, means);
        print(
          command,
          { site: { id: found.id, settings }, notes },
          [`Site ${found.id}: ${shown.join(" ")}`, ...notes].join("\n"),
        );
      }),
    );
}
