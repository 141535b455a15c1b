import type { Answer } from "../contract/contract.ts";
import type { Host } from "../sites/directory.ts";
import { readHost } from "../sites/hosts.ts";
import { findSite } from "../sites/manage.ts";
import { findHost } from "../sites/manageHosts.ts";
import { siteName, table, timeText, type CommandContext, type CliCommand } from "./context.ts";
import { listItems } from "./lists.ts";

export function hostCommands(program: CliCommand): void {
  const hosts = program.command("host").description("the hosts of sites, where conversions happen");

  hosts
    .command("add <site> <host>")
    .description("add another host to a site; it is served at once")
    .run(async ({ directory, call, print }, text: string, host: string) => {
      const { id } = findSite({ directory }, text);
      const site = await call("POST /sites/:site/hosts", { params: { site: id }, body: { host } });
      const added = readHost(host) ?? host;
      print(
        site,
        `${added} belongs to site ${id} and is served. Check that it points to this relay:\n  cleancast host verify ${added}`,
      );
    });

  hosts
    .command("list [site]")
    .description("list hosts with their state and the result of the last check")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { value, rows } = await listItems(directory, siteText, (params) => call("GET /sites/:site/hosts", { params }));
      const cells = rows.map(({ site, item: one }) => [
        one.host,
        siteName(site),
        one.state,
        timeText(one.checkedAt),
        one.problem?.what ?? "",
      ]);
      const head = ["HOST", "SITE", "STATE", "CHECKED (UTC)", "PROBLEM"];
      print(value, table(head, cells, "No hosts yet. Add a site: cleancast site add shop.example.com"));
    });

  hosts
    .command("verify <host>")
    .description("check now that a host points to this relay; exit code 1 when it does not")
    .run(async (context, name: string) => {
      const host = await context.call("POST /sites/:site/hosts/:host/verify", { params: paramsOf(context, name) });
      context.print(host, verdictText(host));
      if (host.problem !== null) process.exitCode = 1;
    });

  hosts
    .command("pause <host>")
    .description("stop serving a host, as if it were unknown")
    .run(async (context, name: string) => {
      const host = await context.call("POST /sites/:site/hosts/:host/pause", { params: paramsOf(context, name) });
      context.print(
        host,
        `${host.host} is paused: no tag, no visits, no certificate. Events with a valid key are still accepted.`,
      );
    });

  hosts
    .command("resume <host>")
    .description("serve a paused host again")
    .run(async (context, name: string) => {
      const host = await context.call("POST /sites/:site/hosts/:host/resume", { params: paramsOf(context, name) });
      const text = host.state === "waiting" ? "is served as soon as it is verified" : "is served again";
      context.print(host, `${host.host} ${text}.`);
    });

  hosts
    .command("remove <host>")
    .description("remove a host from its site; the last one can only be paused")
    .run(async (context, name: string) => {
      const params = paramsOf(context, name);
      const removed = await context.call("DELETE /sites/:site/hosts/:host", { params });
      context.print(removed, `${params.host} is removed from site ${params.site}.`);
    });
}

function paramsOf({ directory }: CommandContext, name: string): { site: string; host: string } {
  const { siteId, host }: Host = findHost(directory.sites(), name);
  return { site: siteId, host };
}

function verdictText({
  host,
  problem,
  verifiedAt,
  checkedAt,
  verifiedBy,
}: Answer<"POST /sites/:site/hosts/:host/verify">): string {
  const isVerified = verifiedAt !== null && verifiedAt === checkedAt;
  const verified = isVerified ? `${host} points to this relay, verified by ${verifiedBy}.` : null;
  return [verified, problem && `${problem.what}\n${problem.whatToDo}`].filter(Boolean).join("\n");
}
