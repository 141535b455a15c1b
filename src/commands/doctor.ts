import type { Command } from "commander";
import { readConfig } from "../installation/config.ts";
import { runDoctor } from "../doctor/doctor.ts";
import { levels, type Finding, type Level } from "../doctor/finding.ts";
import { openInstallation } from "../installation/installation.ts";
import { print } from "./context.ts";

const marks: Record<Level, string> = { ok: "ok", note: "note", warning: "warn", error: "FAIL" };

export function doctorCommands(program: Command): void {
  program
    .command("doctor")
    .description("look for what usually goes wrong")
    .option("--offline", "ask no names, certificates or mail servers")
    .action(async ({ offline }: { offline?: boolean }, command: Command) => {
      const config = readConfig();
      const findings = await runDoctor({
        config,
        now: Date.now(),
        open: () => openInstallation(config),
        network: !offline,
      });
      const isWell = findings.every(({ level }) => level !== "error");
      print(command, { ok: isWell, findings }, textOf(findings));
      if (!isWell) process.exitCode = 1;
    });
}

/** The worst stands last, where it is read. */
function textOf(findings: readonly Finding[]): string {
  const sorted = findings.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
  const lines = sorted.map(
    ({ level, what, remedy }) => `${marks[level].padEnd(4)}  ${what}${remedy ? `\n      ${remedy}` : ""}`,
  );
  const count = (level: Level) => findings.filter((one) => one.level === level).length;
  return [
    ...lines,
    "",
    `${count("error")} errors, ${count("warning")} warnings, ${count("note")} notes.`,
  ].join("\n");
}
