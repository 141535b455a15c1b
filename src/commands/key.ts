import type { Command } from "commander";
import { describeKeys } from "../sites/keyUses.ts";
import { Refusal } from "../kernel/refusal.ts";
import { addKey, findKey, findSite, revokeKey, rotateKey } from "../sites/manage.ts";
import { withContext, print, table, timeText } from "./context.ts";

const hourMs = 3_600_000;

export function keyCommands(program: Command): void {
  const key = program
    .command("key")
    .description("inbound keys: one per integration, so that each can be revoked alone");

  key
    .command("add <site> <name>")
    .description("make a key; it is shown once")
    .option("--test", "a test key: platforms get its events in their test mode")
    .option("--expires <when>", "a date (2027-01-31) or a time from now (30d, 12h)")
    .action(
      (siteText: string, name: string, options: { test?: boolean; expires?: string }, command: Command) =>
        withContext(async (desk) => {
          const site = findSite(desk, siteText);
          const expiresAt = options.expires === undefined ? null : readExpiry(options.expires, desk.by.now);
          const made = await addKey(
            desk,
            site,
            { name, mode: options.test ? "test" : "live", expiresAt },
            desk.by,
          );
          const opened = made.openedInbound
            ? `\nInbound is now on for ${site.hosts[0]}: this is the site's first key.`
            : "";
          print(
            command,
            { id: made.id, key: made.key, ...(made.openedInbound ? { inbound: "on" } : {}) },
            `${made.key}\n\nKey ${made.id}. It is shown only this once; keep it on a server, never in browser code.${opened}`,
          );
        }),
    );

  key
    .command("list [site]")
    .description("the keys of a site, or of all")
    .action((siteText: string | undefined, _options: unknown, command: Command) =>
      withContext(async ({ store, directory, by }) => {
        const sites = siteText === undefined ? [...directory.sites()] : [findSite({ directory }, siteText)];
        const keys = [];
        for (const site of sites) {
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
        print(command, { keys }, table(head, rows, "No key yet. Make one: cleancast key add SITE NAME"));
      }),
    );

  key
    .command("revoke <id>")
    .description("end a key at once")
    .action((id: string, _options: unknown, command: Command) =>
      withContext(async (desk) => {
        await revokeKey(desk, findKey(desk.directory.sites(), id), desk.by);
        print(
          command,
          { id, revoked: true },
          `Key ${id} is revoked; running servers refuse it within 2 seconds.`,
        );
      }),
    );

  key
    .command("rotate <id>")
    .description("make a new key in place of this one, which lives 24 hours more")
    .option("--expires <when>", "when the new key ends; never if left out")
    .action((id: string, options: { expires?: string }, command: Command) =>
      withContext(async (desk) => {
        const expiresAt = options.expires === undefined ? null : readExpiry(options.expires, desk.by.now);
        const old = findKey(desk.directory.sites(), id);
        const made = await rotateKey(desk, old, expiresAt, desk.by);
        const site = findSite(desk, old.siteId);
        print(
          command,
          { id: made.id, key: made.key, old: { id, expiresAt: made.oldExpiresAt } },
          `${made.key}\n\nKey ${made.id} of ${site.hosts[0]}. The old key ${id} works until ${timeText(made.oldExpiresAt)} UTC.`,
        );
      }),
    );
}

const units: Record<string, number> = { m: 60_000, h: hourMs, d: 24 * hourMs };

function readExpiry(text: string, now: number): number {
  const relative = /^(\d{1,5})([mhd])$/.exec(text);
  const at = relative ? now + Number(relative[1]) * (units[relative[2] ?? ""] ?? 0) : Date.parse(text);
  if (Number.isNaN(at))
    throw new Refusal(
      "expires",
      `--expires "${text}" is neither a date like 2027-01-31 nor a time like 30d.`,
    );
  return at;
}
