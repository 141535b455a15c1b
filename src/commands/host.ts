import type { Command } from "commander";
import { openChecker } from "../domains/checker.ts";
import { problemOf } from "../sites/hostProblems.ts";
import { verifyHost } from "../domains/verify.ts";
import type { Host } from "../sites/directory.ts";
import { stateOf } from "../sites/hosts.ts";
import { findSite } from "../sites/manage.ts";
import { addHost, findHost, pauseHost, removeHost, resumeHost } from "../sites/manageHosts.ts";
import { withContext, print, table, timeText, type CommandContext } from "./context.ts";

export function hostCommands(program: Command): void {
  const hosts = program.command("host").description("the hosts of sites: where people convert");

  hosts
    .command("add <site> <host>")
    .description("add another host to a site; it is served at once")
    .action((text: string, name: string, _options: unknown, command: Command) =>
      withContext(async (desk) => {
        const host = await addHost(desk, findSite(desk, text), name, { ...desk.by, isVouched: true });
        print(
          command,
          { host: described(desk, host) },
          `${host.host} belongs to site ${host.siteId} and is served. See whether it leads here:\n  cleancast host verify ${host.host}`,
        );
      }),
    );

  hosts
    .command("list [site]")
    .description("hosts, whether each is served, and what the last check found")
    .action((text: string | undefined, _options: unknown, command: Command) =>
      withContext(async (desk) => {
        const sites = text === undefined ? [...desk.directory.sites()] : [findSite(desk, text)];
        const all = sites.flatMap(({ hostRows }) => hostRows).map((host) => described(desk, host));
        const rows = all.map((one) => [
          one.host,
          one.site,
          one.state,
          timeText(one.checkedAt),
          one.problem?.what ?? "",
        ]);
        const head = ["HOST", "SITE", "STATE", "CHECKED (UTC)", "FOUND"];
        print(command, { hosts: all }, table(head, rows, "No host yet: cleancast site add shop.example.com"));
      }),
    );

  hosts
    .command("verify <host>")
    .description("check now whether a host leads here; exit code 1 when it does not")
    .action((name: string, _options: unknown, command: Command) =>
      withContext(async (desk) => {
        const checker = openChecker(desk.config);
        try {
          const found = findHost(desk.directory.sites(), name);
          const host = await verifyHost({ ...desk, checker }, found, desk.by, Date.now);
          print(command, { host: described(desk, host) }, verdict(desk, host));
          if (host.finding !== null) process.exitCode = 1;
        } finally {
          await checker.sender.close();
        }
      }),
    );

  hosts
    .command("pause <host>")
    .description("answer under this host as under a name that nobody has")
    .action((name: string, _options: unknown, command: Command) =>
      withContext(async (desk) => {
        const host = findHost(desk.directory.sites(), name);
        await pauseHost(desk, host, desk.by);
        print(
          command,
          { host: host.host, state: "paused" },
          `${host.host} is paused: no tag, no visits, no certificate. Events with a valid key are still taken.`,
        );
      }),
    );

  hosts
    .command("resume <host>")
    .description("serve a paused host again")
    .action((name: string, _options: unknown, command: Command) =>
      withContext(async (desk) => {
        const { host } = findHost(desk.directory.sites(), name);
        await resumeHost(desk, findHost(desk.directory.sites(), name), desk.by);
        const state = stateOf(findHost(desk.directory.sites(), name));
        const text = state === "waiting" ? "waits until it is verified" : "is served again";
        print(command, { host, state }, `${host} ${text}.`);
      }),
    );

  hosts
    .command("remove <host>")
    .description("take a host away from its site; the last one can only be paused")
    .action((name: string, _options: unknown, command: Command) =>
      withContext(async (desk) => {
        const host = findHost(desk.directory.sites(), name);
        await removeHost(desk, host, desk.by);
        print(command, { host: host.host, removed: true }, `${host.host} is gone from site ${host.siteId}.`);
      }),
    );
}

/** The name that others lead to; as a check knows it. */
function relayName({ config }: CommandContext): string | null {
  return config.hasUrl ? new URL(config.publicUrl).hostname : null;
}

function described(desk: CommandContext, host: Host) {
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
    problem: problemOf(host.host, host, relayName(desk)),
  };
}

function verdict(desk: CommandContext, host: Host): string {
  const { problem } = described(desk, host);
  const isVerified = host.verifiedAt !== null && host.verifiedAt === host.checkedAt;
  const leads = isVerified ? `${host.host} leads here, by ${host.verifiedBy}.` : null;
  return [leads, problem && `${problem.what}\n${problem.whatToDo}`].filter(Boolean).join("\n");
}
