import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Command } from "commander";
import { readConfig } from "../config.ts";
import { serve } from "../main.ts";
import { noCountryFile } from "../sites/settingNotes.ts";
import { atDesk, print, siteOrOnly, table, timeText, type Desk } from "./desk.ts";

export function operateCommands(program: Command): void {
  program
    .command("serve")
    .description("run the relay")
    .action(async () => {
      let stop: () => void = () => {};
      const asked = new Promise<void>((resolve) => (stop = resolve));
      let signals = 0;
      const onSignal = (signal: string) => {
        // A second signal is for the impatient: what is committed is safe, and the rest is sent after the restart.
        if (++signals > 1) process.exit(130);
        process.stdout.write(`${signal}: finishing what is in flight …\n`);
        stop();
      };
      process.on("SIGINT", onSignal);
      process.on("SIGTERM", onSignal);
      const running = await serve(readConfig(), (text) => process.stdout.write(text));
      await asked;
      await running.stop();
      process.exit(0);
    });

  program
    .command("migrate")
    .description("bring the database schema up to date (serve does it too)")
    .action((_options: unknown, command: Command) =>
      atDesk(async ({ store }) => {
        const { from, to, applied } = store.migrated;
        print(
          command,
          { from, to, applied },
          applied.length ? `Schema ${from} → ${to}: ${applied.join(", ")}.` : `Schema ${to} is up to date.`,
        );
      }),
    );

  program
    .command("audit [site]")
    .description("who changed what, newest first")
    .action((siteText: string | undefined, _options: unknown, command: Command) =>
      atDesk(async ({ store, directory }) => {
        const site = siteOrOnly(directory, siteText);
        const lines = await store.audit.list(site.id, 100);
        const rows = lines.map((line) => [
          timeText(line.at),
          line.actor,
          line.action,
          JSON.stringify(line.detail),
        ]);
        print(
          command,
          { audit: lines },
          table(["WHEN (UTC)", "WHO", "WHAT", "DETAIL"], rows, "Nothing yet."),
        );
      }),
    );

  program
    .command("doctor")
    .description("look for what usually goes wrong")
    .action((_options: unknown, command: Command) =>
      atDesk(async (desk) => {
        const findings = await examine(desk);
        const lines = findings.map(
          ({ ok, what, remedy }) => `${ok ? "ok  " : "FAIL"}  ${what}${remedy ? `\n      ${remedy}` : ""}`,
        );
        print(command, { ok: findings.every(({ ok }) => ok), findings }, lines.join("\n"));
        if (!findings.every(({ ok }) => ok)) process.exitCode = 1;
      }),
    );
}

type Finding = { ok: boolean; what: string; remedy?: string };

async function examine({ store, directory, config, by }: Desk): Promise<Finding[]> {
  const findings: Finding[] = [
    { ok: true, what: `Node ${process.versions.node}` },
    { ok: true, what: `${store.engine} store answers, schema ${await store.schemaVersion()}` },
  ];
  const writable = await access(config.dataFolder, constants.W_OK).then(
    () => true,
    () => false,
  );
  findings.push(
    writable
      ? { ok: true, what: `data folder ${config.dataFolder} is writable` }
      : {
          ok: false,
          what: `data folder ${config.dataFolder} is not writable`,
          remedy: "Give its owner write permission, or set CLEANCAST_DATA.",
        },
  );
  const keyFile = await stat(join(config.dataFolder, "encryption.key")).catch(() => null);
  if (keyFile && (keyFile.mode & 0o077) !== 0) {
    findings.push({
      ok: false,
      what: "encryption.key is readable by others",
      remedy: `chmod 600 ${join(config.dataFolder, "encryption.key")}`,
    });
  }
  const sites = [...directory.sites()];
  if (sites.length === 0)
    findings.push({ ok: false, what: "there is no site", remedy: "cleancast site add shop.example.com" });
  for (const site of sites) {
    const host = site.hosts[0] ?? site.id;
    if (!site.settings.inbound) {
      findings.push({
        ok: false,
        what: `${host}: inbound is off`,
        remedy: `cleancast site set ${host} inbound=on`,
      });
    }
    if (!site.keys.some((key) => key.revokedAt === null && (key.expiresAt ?? by.now + 1) > by.now)) {
      findings.push({ ok: false, what: `${host}: no usable key`, remedy: `cleancast key add ${host} NAME` });
    }
    if (site.connections.length === 0) {
      findings.push({
        ok: false,
        what: `${host}: nothing is connected`,
        remedy: `cleancast connect ${host} PLATFORM name=value …`,
      });
    }
    const { allowCountries, denyCountries } = site.settings;
    if (allowCountries.length + denyCountries.length > 0 && !config.countryFile) {
      findings.push({ ok: false, what: `${host}: rules about countries do nothing`, remedy: noCountryFile });
    }
    for (const connection of site.connections.filter((one) => one.state !== "active")) {
      findings.push({
        ok: false,
        what: `${host}: ${connection.platform} (${connection.id}) ${connection.state}${connection.stateReason ? `: ${connection.stateReason}` : ""}`,
        remedy:
          connection.state === "paused"
            ? `cleancast connection resume ${connection.id}`
            : `cleancast connect ${host} ${connection.platform} … with fresh credentials`,
      });
    }
  }
  for (const siteId of ["", ...sites.map((site) => site.id)]) {
    for (const lockout of await store.keyUse.lockouts(siteId, by.now)) {
      findings.push({
        ok: false,
        what: `${lockout.host}: too many wrong keys; wrong ones get 429 until ${new Date(lockout.lockedUntil).toISOString()}`,
        remedy:
          "A sender may hold an old key: 'cleancast key list' shows which keys are in use. Valid keys pass meanwhile.",
      });
    }
  }
  return findings;
}
