import type { Answer } from "../contract/contract.ts";
import type { FileText } from "../configFile/plan.ts";
import { levels, type Finding, type Level } from "../doctor/finding.ts";
import { describeUnknown, readConfig, type Config } from "../installation/config.ts";
import { loadInstallation } from "../installation/installation.ts";
import { countOf } from "../kernel/text.ts";
import { waitForStopSignal } from "../server/stopSignal.ts";
import { printResult, siteName, table, timeText, type CliCommand } from "./context.ts";
import {
  listPage,
  moreText,
  readPaging,
  readPeriod,
  selectSites,
  withPaging,
  withPeriod,
  type PagingOptions,
  type PeriodOptions,
} from "./lists.ts";

export function operateCommands(program: CliCommand): void {
  program
    .command("serve")
    .description("run the relay")
    .option("--config <file>", "apply this configuration file before the first request")
    .action(async (options: { config?: string }) => {
      const stopSignal = waitForStopSignal(
        process,
        () => performance.now(),
        // Committed events are safe; their deliveries are sent after the restart.
        () => process.exit(130),
      );
      const config = readConfig();
      for (const { what, remedy } of config.unknownVariables.map(describeUnknown))
        process.stderr.write(`Warning: ${what}. ${remedy}\n`);
      // `serve | head` ends when its output has no reader any more. bin/cleancast.mjs keeps the error from ending the process.
      const outputClosed = Promise.withResolvers<string>();
      const onClosed = () => outputClosed.resolve("output closed");
      process.stdout.once("error", onClosed);
      const file = options.config === undefined ? undefined : await readFor(config, options.config);
      const { serve } = await import("../main.ts");
      const running = await serve(config, (text) => process.stdout.write(text), onClosed, file);
      const reason = await Promise.race([stopSignal, outputClosed.promise]);
      process.stdout.write(`${reason}: finishing requests in flight …\n`);
      await running.stop();
      process.exit(0);
    });

  program
    .command("migrate")
    .description("bring the database schema to this version; serve does it too")
    .runOrCreate(async ({ store, print }) => {
      const { from, to, applied } = store.migrated;
      print(
        { from, to, applied },
        from > to
          ? `Schema ${from} belongs to a newer version. This version knows schema ${to}, and is compatible with it.`
          : applied.length
            ? `Schema ${from} → ${to}: ${applied.join(", ")}.`
            : `Schema ${to} is up to date.`,
      );
    });

  program
    .command("doctor")
    .description("check the installation for common mistakes")
    .option("--offline", "skip DNS, certificates, mail servers and the OpenID provider")
    .action(async ({ offline }: { offline?: boolean }, command: CliCommand) => {
      const config = readConfig();
      const { runDoctor } = await import("../doctor/doctor.ts");
      const findings = await runDoctor({
        config,
        now: Date.now(),
        open: () => loadInstallation(config),
        network: !offline,
      });
      const ok = findings.every(({ level }) => level !== "error");
      printResult(command, { ok, findings }, toText(findings));
      if (!ok) process.exitCode = 1;
    });
}

export function auditCommand(program: CliCommand): void {
  withPaging(withPeriod(program.command("audit [site]"), "changes"), "changes", "100")
    .description("show who changed what, newest first")
    .option("--installation", "changes of the installation: members, API keys, deleted sites, encryption keys")
    .run(async ({ directory, call, by, print }, siteText: string | undefined, options: AuditOptions) => {
      const period = readPeriod(options, by.now);
      const head = ["TIME (UTC)", "SITE", "ACTOR", "ACTION", "DETAIL"];
      const cells = (place: string, { at, actor, action, detail }: AuditLine) => [
        timeText(at),
        place,
        actor,
        action,
        JSON.stringify(detail),
      ];
      if (options.installation) {
        const listed = await call("GET /audit", { query: { ...readPaging(options), ...period } });
        const lines = listed.items.map((line) => cells("–", line));
        return print(listed, table(head, lines, "No changes.") + moreText(listed));
      }
      const { value, rows, next } = await listPage(
        selectSites(directory, siteText),
        readPaging(options),
        (params, paging) => call("GET /sites/:site/audit", { params, query: { ...period, ...paging } }),
        ({ id }) => id,
      );
      const lines = rows.map(({ site, item }) => cells(siteName(site), item));
      print(value, table(head, lines, "No changes.") + moreText({ next }));
    });
}

/** Reads a configuration file, and checks it before anything is created. */
async function readFor(config: Config, path: string): Promise<FileText> {
  const { planForNew, readConfigurationFile } = await import("../installation/configurationFile.ts");
  const file = await readConfigurationFile(config, path);
  await planForNew(config, file, { prune: false });
  return file;
}

type AuditLine = Answer<"GET /audit">["items"][number];
type AuditOptions = PagingOptions & PeriodOptions & { installation?: boolean };

const marks: Record<Level, string> = { ok: "ok", note: "note", warning: "warn", error: "FAIL" };

/** Puts the worst findings last, where they are read. */
function toText(findings: readonly Finding[]): string {
  const sorted = findings.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
  const lines = sorted.map(({ level, what, remedy }) => `${marks[level].padEnd(4)}  ${what}${remedy ? `\n      ${remedy}` : ""}`);
  const count = (level: Level) => countOf(findings.filter((one) => one.level === level).length, level);
  return [...lines, "", `${count("error")}, ${count("warning")}, ${count("note")}.`].join("\n");
}
