import { makeKey } from "../sites/keys.ts";
import type { Site } from "../sites/directory.ts";
import { findKey, findSite } from "../sites/manage.ts";
import { addOwnKey } from "../sites/ownKeys.ts";
import { printResult, readExpiry, readName, siteName, table, timeText, type CliCommand, type CommandContext } from "./context.ts";
import { listItems } from "./lists.ts";

type AddOptions = { test?: boolean; expires?: string; hash?: string; prefix?: string };

export function keyCommands(program: CliCommand): void {
  const key = program.command("key").description("inbound keys, one for each integration");

  key
    .command("add <site> <name>")
    .description("create a key; it is shown once")
    .option("--test", "a test key: its events are sent to platforms in test mode")
    .option("--expires <when>", "a date (2027-01-31) or a time from now (30d, 12h)")
    .option("--hash <sha256>", "add a key of your own by its SHA-256 (64 hex characters) instead of creating one")
    .option("--prefix <text>", "with --hash: the first characters of the key, shown in lists")
    .run(async (context, siteText: string, name: string, options: AddOptions) => {
      const site = findSite(context, siteText);
      const expiresAt = readExpiry(options.expires, context.by.now);
      const wanted = { name: readName("A key", name), mode: options.test ? "test" : "live", expiresAt } as const;
      if (options.hash !== undefined) return addByHash(context, site, { ...wanted, hash: options.hash, prefix: options.prefix });
      const added = await context.call("POST /sites/:site/keys", { params: { site: site.id }, body: wanted });
      const opened = added.openedInbound ? `\n${openedText(site)}` : "";
      context.print(
        added,
        `${added.key}\n\nKey ${added.id}. It is shown only once: keep it on a server, never in browser code.${opened}`,
      );
    });

  key
    .command("generate")
    .description("print a new key and its hash, and store nothing")
    .option("--test", "a test key")
    .action((options: { test?: boolean }, command: CliCommand) => {
      const made = makeKey(options.test ? "test" : "live");
      printResult(command, made, `key     ${made.key}\nhash    ${made.hash}\nprefix  ${made.prefix}`);
    });

  key
    .command("list [site]")
    .description("list the keys of a site, or of all sites")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { value, rows } = await listItems(directory, siteText, (params) => call("GET /sites/:site/keys", { params }));
      const cells = rows.map(({ site, item: one }) => [
        one.id,
        siteName(site),
        one.name,
        `${one.prefix}…`,
        one.state,
        timeText(one.lastUsedAt),
        String(one.uses24h),
        timeText(one.expiresAt),
      ]);
      const head = ["ID", "SITE", "NAME", "KEY", "STATE", "LAST USED", "USES 24H", "EXPIRES"];
      print(value, table(head, cells, "No keys yet. Create one: cleancast key add SITE NAME"));
    });

  key
    .command("remove <id>")
    .description("revoke a key at once; the list keeps it, marked as revoked")
    .run(async ({ directory, call, print }, id: string) => {
      const params = { site: findKey(directory.sites(), id).siteId, key: id };
      const revoked = await call("DELETE /sites/:site/keys/:key", { params });
      print(revoked, `Key ${id} is revoked; running servers refuse it within 2 seconds.`);
    });

  key
    .command("rotate <id>")
    .description("create a new key in place of this one, which stays valid for 24 hours")
    .option("--expires <when>", "when the new key expires; never if left out")
    .run(async (context, id: string, options: { expires?: string }) => {
      const expiresAt = readExpiry(options.expires, context.by.now);
      const site = findSite(context, findKey(context.directory.sites(), id).siteId);
      const params = { site: site.id, key: id };
      const rotated = await context.call("POST /sites/:site/keys/:key/rotate", { params, body: { expiresAt } });
      context.print(
        rotated,
        `${rotated.key}\n\nKey ${rotated.id} of ${site.hosts[0]}. The old key ${id} works until ${timeText(rotated.oldExpiresAt)} UTC.`,
      );
    });
}

const openedText = (site: Site) => `Inbound is now on for ${site.hosts[0]}: this is the site's first key.`;

async function addByHash(context: CommandContext, site: Site, wanted: Parameters<typeof addOwnKey>[2]): Promise<void> {
  const added = await addOwnKey(context, site, wanted, context.by);
  context.print(added, `Key ${added.id} is added by its hash.${added.openedInbound ? ` ${openedText(site)}` : ""}`);
}
