import { InvalidArgumentError, Option } from "commander";
import { operator } from "../access/members.ts";
import { findSite } from "../sites/manage.ts";
import { Missing, Refusal } from "../kernel/refusal.ts";
import { scopes, type Scope } from "../kernel/scopes.ts";
import { readExpiry, table, timeText, type CliCommand } from "./context.ts";
import { confirm } from "./terminal/confirm.ts";
import { withAccess } from "./member.ts";

type AddOptions = { site?: string; scope: Scope[]; expires?: string };

export function apiKeyCommands(program: CliCommand): void {
  const key = program.command("api-key").description("API keys of the management API, for programs");

  key
    .command("add <name>")
    .description("create an API key; it is shown once")
    .addOption(scopeOption())
    .option("--site <site>", "for this site only; for all sites if left out")
    .option("--expires <when>", "a date (2027-01-31) or a time from now (30d, 12h)")
    .runOrCreate(
      withAccess(async (context, { apiKeys }, name: string, options: AddOptions) => {
        const site = options.site === undefined ? null : findSite(context, options.site).id;
        const expiresAt = options.expires === undefined ? null : readExpiry(options.expires, context.by.now);
        const wanted = { name: readName(name), site, scopes: options.scope, expiresAt };
        const added = await apiKeys.add(operator, wanted, context.by);
        context.print(
          { ...added, ...wanted },
          `${added.key}\n\nAPI key ${added.id} (${options.scope.join(", ")}). It is shown only once. Programs send it as a bearer token: docs/reference/management-api.md.`,
        );
      }),
    );

  key
    .command("list")
    .description("list the API keys; the keys themselves are never shown")
    .run(
      withAccess(async ({ directory, print }, access) => {
        const keys = await access.apiKeys.list(operator);
        const where = (site: string | null) => (site === null ? "all sites" : (directory.site(site)?.hosts[0] ?? site));
        const rows = keys.map((one) => [
          one.id,
          one.name,
          `${one.prefix}…`,
          one.scopes.join(", "),
          where(one.site),
          one.revokedAt === null ? "active" : "revoked",
          timeText(one.lastUsedAt),
          timeText(one.expiresAt),
        ]);
        const head = ["ID", "NAME", "KEY", "SCOPES", "SITES", "STATE", "LAST USED", "EXPIRES"];
        print({ keys }, table(head, rows, "No API keys yet. Create one: cleancast api-key add NAME"));
      }),
    );

  key
    .command("revoke <id>")
    .description("revoke an API key, and the inbound keys that it made; they stop working within 2 seconds")
    .option("--keep-inbound-keys", "let the inbound keys that it made work on")
    .option("--yes", "do not ask before inbound keys are revoked with it")
    .run(
      withAccess(async ({ by, print }, { apiKeys }, id: string, options: RevokeOptions) => {
        const known = (await apiKeys.list(operator)).find((one) => one.id === id);
        if (!known) throw new Missing("key", `There is no API key ${id}. 'cleancast api-key list' shows their ids.`);
        const made = known.inboundKeys.map((one) => `${one.name} (${one.id})`).join(", ");
        if (made && !options.keepInboundKeys) {
          const what = `This also revokes the inbound keys that API key ${id} made: ${made}. --keep-inbound-keys keeps them.`;
          await confirm({ what, yes: options.yes });
        }
        const inboundKeys = await apiKeys.revoke(operator, id, options.keepInboundKeys ? "keep" : "revoke", by);
        const text = inboundKeys.length ? ` So are the inbound keys ${inboundKeys.join(", ")}.` : "";
        print({ id, revoked: true, inboundKeys }, `API key ${id} is revoked; running servers refuse it within 2 seconds.${text}`);
      }),
    );
}

function scopeOption(): Option {
  const option = new Option(
    "--scope <scopes>",
    "what it can do, separated by commas: read what a viewer can; write settings; inbound keys; people's data",
  )
    .argParser(readScopes)
    .default(["read"], "read");
  option.argChoices = [...scopes];
  return option;
}

function readScopes(text: string): Scope[] {
  const words = text.split(",").map((word) => word.trim());
  const wrong = words.find((word) => !scopes.includes(word as Scope));
  if (wrong !== undefined) throw new InvalidArgumentError(`"${wrong}" is no scope. Allowed are ${scopes.join(", ")}.`);
  return scopes.filter((scope) => words.includes(scope));
}

type RevokeOptions = { keepInboundKeys?: true; yes?: true };

function readName(text: string): string {
  const name = text.trim();
  if (name && name.length <= 100) return name;
  throw new Refusal("name", "An API key needs a name of at most 100 characters.");
}
