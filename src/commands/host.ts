import { createChecker } from "../domains/checker.ts";
import { problemOf } from "../sites/hostProblems.ts";
import { verifyHost } from "../domains/verify.ts";
import type { Host } from "../sites/directory.ts";
import { stateOf } from "../sites/hosts.ts";
import { findSite } from "../sites/manage.ts";
import { addHost, findHost, pauseHost, removeHost, resumeHost } from "../sites/manageHosts.ts";
import { findSites, table, timeText, type CommandContext, type CliCommand } from "./context.ts";

export function hostCommands(program: CliCommand): void {
  const hosts = program.command("host").description("the hosts of sites, where conversions happen");

  hosts
    .command("add <site> <host>")
    .description("add another host to a site; it is served at once")
    .run(async (context, text: string, name: string) => {
      const host = await addHost(context, findSite(context, text), name, {
        ...context.by,
        isTrusted: true,
      });
      context.print(
        { host: toJson(context, host) },
        `${host.host} belongs to site ${host.siteId} and is served. Check that it points to this relay:\n  cleancast host verify ${host.host}`,
      );
    });

  hosts
    .command("list [site]")
    .description("list hosts with their state and the result of the last check")
    .run(async (context, text: string | undefined) => {
      const sites = findSites(context.directory, text);
      const all = sites.flatMap(({ hostRows }) => hostRows).map((host) => toJson(context, host));
      const rows = all.map((one) => [one.host, one.site, one.state, timeText(one.checkedAt), one.problem?.what ?? ""]);
      const head = ["HOST", "SITE", "STATE", "CHECKED (UTC)", "PROBLEM"];
      context.print({ hosts: all }, table(head, rows, "No hosts yet. Add a site: cleancast site add shop.example.com"));
    });

  hosts
    .command("verify <host>")
    .description("check now that a host points to this relay; exit code 1 when it does not")
    .run(async (context, name: string) => {
      const checker = createChecker(context.config);
      try {
        const found = findHost(context.directory.sites(), name);
        const host = await verifyHost({ ...context, checker }, found, context.by, Date.now);
        context.print({ host: toJson(context, host) }, verdictText(context, host));
        if (host.finding !== null) process.exitCode = 1;
      } finally {
        await checker.sender.close();
      }
    });

  hosts
    .command("pause <host>")
    .description("stop serving a host, as if it were unknown")
    .run(async (context, name: string) => {
      const host = findHost(context.directory.sites(), name);
      await pauseHost(context, host, context.by);
      context.print(
        { host: host.host, state: "paused" },
        `${host.host} is paused: no tag, no visits, no certificate. Events with a valid key are still accepted.`,
      );
    });

  hosts
    .command("resume <host>")
    .description("serve a paused host again")
    .run(async (context, name: string) => {
      const paused = findHost(context.directory.sites(), name);
      await resumeHost(context, paused, context.by);
      const { host } = paused;
      const state = stateOf(findHost(context.directory.sites(), host));
      const text = state === "waiting" ? "is served as soon as it is verified" : "is served again";
      context.print({ host, state }, `${host} ${text}.`);
    });

  hosts
    .command("remove <host>")
    .description("remove a host from its site; the last one can only be paused")
    .run(async (context, name: string) => {
      const host = findHost(context.directory.sites(), name);
      await removeHost(context, host, context.by);
      context.print({ host: host.host, removed: true }, `${host.host} is removed from site ${host.siteId}.`);
    });
}

/** The relay's own host name, which other hosts must point to. */
function relayNameOf({ config }: CommandContext): string | null {
  return config.hasUrl ? new URL(config.publicUrl).hostname : null;
}

function toJson(context: CommandContext, host: Host) {
  const { siteId, addedAt, verifiedAt, verifiedBy, checkedAt, failingSince } = host;
  return {
    host: host.host,
    site: siteId,
    state: stateOf(host),
    addedAt,
    verifiedAt,
    verifiedBy,
    checkedAt,
    failingSince,
    problem: problemOf(host.host, host, relayNameOf(context)),
  };
}

function verdictText(context: CommandContext, host: Host): string {
  const { problem } = toJson(context, host);
  const isVerified = host.verifiedAt !== null && host.verifiedAt === host.checkedAt;
  const verified = isVerified ? `${host.host} points to this relay, verified by ${host.verifiedBy}.` : null;
  return [verified, problem && `${problem.what}\n${problem.whatToDo}`].filter(Boolean).join("\n");
}
