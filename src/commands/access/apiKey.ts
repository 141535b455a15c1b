import { InvalidArgumentError, Option } from "commander";
import { findSite } from "../../sites/manage.ts";
import { Missing } from "../../kernel/refusal.ts";
import { scopes, type Scope } from "../../kernel/scopes.ts";
import { readExpiry, readName, table, timeText, whereText, type CliCommand } from "../context.ts";
import { confirm } from "../terminal/confirm.ts";

type AddOptions = { site?: string; scope: Scope[]; expires?: string };

export function apiKeyCommands(program: CliCommand): void {
  const key = program.command("api-key").description("API keys of the management API, for programs");

  key
    .command("add <name>")
    .description("create an API key; it is shown once")
    .addOption(scopeOption())
    .option("--site <site>", "for this site only; for all sites if left out")
    .option("--expires <when>", "a date (2027-01-31) or a time from now (30d, 12h)")
    .runOrCreate(async (context, name: string, options: AddOptions) => {
      const site = options.site === undefined ? null : findSite(context, options.site).id;
      const expiresAt = readExpiry(options.expires, context.by.now);
      const wanted = { name: readName("An API key", name), site, scopes: options.scope, expiresAt };
      const added = await context.call("POST /api-keys", { body: wanted });
      context.print(
        added,
        `${added.key}\n\nAPI key ${added.id} (${options.scope.join(", ")}). It is shown only once. Programs send it as a bearer token: docs/reference/management-api.md.`,
      );
    });

  key
    .command("list")
    .description("list the API keys; the keys themselves are never shown")
    .run(async ({ directory, call, print }) => {
      const listed = await call("GET /api-keys", {});
      const rows = listed.items.map((one) => [
        one.id,
        one.name,
        `${one.prefix}…`,
        one.scopes.join(", "),
        whereText(directory, one.site),
        one.revokedAt === null ? "active" : "revoked",
        timeText(one.lastUsedAt),
        timeText(one.expiresAt),
      ]);
      const head = ["ID", "NAME", "KEY", "SCOPES", "SITES", "STATE", "LAST USED", "EXPIRES"];
      print(listed, table(head, rows, "No API keys yet. Create one: cleancast api-key add NAME"));
    });

  key
    .command("remove <id>")
    .description("revoke an API key, and the inbound keys that it made")
    .option("--keep-inbound-keys", "let the inbound keys that it made work on")
    .option("--yes", "do not ask before inbound keys are revoked with it")
    .run(async ({ call, print }, id: string, options: RevokeOptions) => {
      const known = (await call("GET /api-keys", {})).items.find((one) => one.id === id);
      if (!known) throw new Missing("key", `There is no API key ${id}. 'cleancast api-key list' shows their ids.`);
      const made = known.inboundKeys.map((one) => `${one.name} (${one.id})`).join(", ");
      if (made && !options.keepInboundKeys) {
        const what = `This also revokes the inbound keys that API key ${id} made: ${made}. --keep-inbound-keys keeps them.`;
        await confirm({ what, yes: options.yes });
      }
      const query = { inboundKeys: options.keepInboundKeys ? "keep" : "revoke" } as const;
      const revoked = await call("DELETE /api-keys/:key", { params: { key: id }, query });
      const text = revoked.inboundKeys.length ? ` So are the inbound keys ${revoked.inboundKeys.join(", ")}.` : "";
      print(revoked, `API key ${id} is revoked; running servers refuse it within 2 seconds.${text}`);
    });
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
