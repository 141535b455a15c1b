import { Argument } from "commander";
import { given } from "../../http/given.ts";
import { linkScopes, type LinkScope } from "../../kernel/scopes.ts";
import { findSite } from "../../sites/manage.ts";
import { findSiteOrOnly, readExpiry, readName, readValue, table, timeText, type CliCommand } from "../context.ts";

type AddOptions = { expires?: string; password?: string };

export function shareCommands(program: CliCommand): void {
  const share = program.command("share").description("links to the report of a site for people without an account");

  share
    .command("add <site>")
    .addArgument(
      new Argument("<scope>", "what they see: the report of the funnel, or the wall of today").choices([...linkScopes]),
    )
    .argument("<name>", "for whom the link is")
    .description("create a link; it is shown once")
    .option("--expires <when>", "a date (2027-01-31) or a time from now (30d); default: 30d, for a wall 365d")
    .option("--password <password>", "readers must know it too; @file reads it from a file")
    .run(async ({ directory, call, by, print }, siteText: string, scope: LinkScope, name: string, options: AddOptions) => {
      const { id: site } = findSite({ directory }, siteText);
      const expiresAt = readExpiry(options.expires, by.now) ?? undefined;
      const password = options.password === undefined ? undefined : readValue(options.password);
      const body = { scope, name: readName("A link", name), ...given({ expiresAt, password }) };
      const added = await call("POST /sites/:site/shared-links", { params: { site }, body });
      print(
        added,
        `${added.url}\n\nLink ${added.link.id}. It is shown only once, and works until ${timeText(added.link.expiresAt)} UTC. Everybody who has it can read the ${scope}.`,
      );
    });

  share
    .command("list [site]")
    .description("list the links; the links themselves are never shown again")
    .run(async ({ directory, call, by, print }, siteText: string | undefined) => {
      const { id: site } = findSiteOrOnly(directory, siteText);
      const listed = await call("GET /sites/:site/shared-links", { params: { site } });
      const rows = listed.items.map((one) => [
        one.id,
        one.scope,
        one.name,
        one.revokedAt !== null ? "revoked" : one.expiresAt <= by.now ? "expired" : "active",
        one.hasPassword ? "yes" : "no",
        timeText(one.openedAt),
        timeText(one.expiresAt),
      ]);
      const head = ["ID", "SCOPE", "NAME", "STATE", "PASSWORD", "LAST OPENED", "EXPIRES"];
      print(listed, table(head, rows, "No links yet. Create one: cleancast share add SITE report NAME"));
    });

  share
    .command("remove <site> <id>")
    .description("revoke a link; it stops working within 2 seconds")
    .run(async ({ directory, call, print }, siteText: string, id: string) => {
      const { id: site } = findSite({ directory }, siteText);
      const answer = await call("DELETE /sites/:site/shared-links/:link", { params: { site, link: id } });
      print(answer, `Link ${id} is revoked; running servers refuse it within 2 seconds.`);
    });

  share
    .command("send [site]")
    .description("send the weekly report to the recipients of alerts now")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { id: site } = findSiteOrOnly(directory, siteText);
      const sent = await call("POST /sites/:site/weekly-report/send", { params: { site } });
      const lines = sent.channels.map(({ channel, to, ok, error }) => `${channel} to ${to}: ${ok ? "sent" : `failed: ${error}`}`);
      print(sent, lines.join("\n"));
    });
}
