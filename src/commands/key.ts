import { describeKeys } from "../sites/keyUses.ts";
import { Refusal } from "../kernel/refusal.ts";
import { addKey, findKey, findSite, revokeKey, rotateKey } from "../sites/manage.ts";
import { findSites, readDuration, table, timeText, type CliCommand } from "./context.ts";

export function keyCommands(program: CliCommand): void {
  const key = program
    .command("key")
    .description("inbound keys: one per integration, so that each can be revoked separately");

  key
    .command("add <site> <name>")
    .description("create a key; it is shown once")
    .option("--test", "a test key: its events are sent to platforms in test mode")
    .option("--expires <when>", "a date (2027-01-31) or a time from now (30d, 12h)")
    .run(async (context, siteText: string, name: string, options: { test?: boolean; expires?: string }) => {
      const site = findSite(context, siteText);
      const expiresAt = options.expires === undefined ? null : readExpiry(options.expires, context.by.now);
      const added = await addKey(
        context,
        site,
        { name, mode: options.test ? "test" : "live", expiresAt },
        context.by,
      );
      const opened = added.openedInbound
        ? `\nInbound is now on for ${site.hosts[0]}: this is the site's first key.`
        : "";
      context.print(
        { id: added.id, key: added.key, ...(added.openedInbound ? { inbound: "on" } : {}) },
        `${added.key}\n\nKey ${added.id}. It is shown only once: keep it on a server, never in browser code.${opened}`,
      );
    });

  key
    .command("list [site]")
    .description("list the keys of a site, or of all sites")
    .run(async ({ store, directory, by, print }, siteText: string | undefined) => {
      const keys = [];
      for (const site of findSites(directory, siteText)) {
        for (const one of await describeKeys(store, site, by.now)) keys.push({ site: site.id, ...one });
      }
      const rows = keys.map((one) => [
        one.id,
        one.site,
        one.name,
        `${one.prefix}…`,
        one.state,
        timeText(one.lastUsedAt),
        String(one.uses24h),
        timeText(one.expiresAt),
      ]);
      const head = ["ID", "SITE", "NAME", "KEY", "STATE", "LAST USED", "USES 24H", "EXPIRES"];
      print({ keys }, table(head, rows, "No keys yet. Create one: cleancast key add SITE NAME"));
    });

  key
    .command("revoke <id>")
    .description("revoke a key at once")
    .run(async (context, id: string) => {
      await revokeKey(context, findKey(context.directory.sites(), id), context.by);
      context.print(
        { id, revoked: true },
        `Key ${id} is revoked; running servers refuse it within 2 seconds.`,
      );
    });

  key
    .command("rotate <id>")
    .description("create a new key in place of this one, which stays valid for 24 hours")
    .option("--expires <when>", "when the new key expires; never if left out")
    .run(async (context, id: string, options: { expires?: string }) => {
      const expiresAt = options.expires === undefined ? null : readExpiry(options.expires, context.by.now);
      const old = findKey(context.directory.sites(), id);
      const rotated = await rotateKey(context, old, expiresAt, context.by);
      const site = findSite(context, old.siteId);
      context.print(
        { id: rotated.id, key: rotated.key, old: { id, expiresAt: rotated.oldExpiresAt } },
        `${rotated.key}\n\nKey ${rotated.id} of ${site.hosts[0]}. The old key ${id} works until ${timeText(rotated.oldExpiresAt)} UTC.`,
      );
    });
}

function readExpiry(text: string, now: number): number {
  const fromNow = readDuration(text);
  const at = fromNow === null ? Date.parse(text) : now + fromNow;
  if (Number.isNaN(at))
    throw new Refusal(
      "expires",
      `--expires "${text}" is neither a date like 2027-01-31 nor a time like 30d.`,
    );
  return at;
}
