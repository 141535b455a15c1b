import type { Command } from "commander";
import { runDoctor } from "../doctor/doctor.ts";
import { levels, type Finding, type Level } from "../doctor/finding.ts";
import { readConfig } from "../installation/config.ts";
import { openInstallation } from "../installation/installation.ts";
import { countOf } from "../kernel/text.ts";
import { print } from "./context.ts";

const marks: Record<Level, string> = { ok: "ok", note: "note", warning: "warn", error: "FAIL" };

export function doctorCommands(program: Command): void {
  program
    .command("doctor")
    .description("check the installation for common mistakes")
    .option("--offline", "skip DNS, certificates and mail servers")
    .action(async ({ offline }: { offline?: boolean }, command: Command) => {
      const config = readConfig();
      const findings = await runDoctor({
        config,
        now: Date.now(),
        open: () => openInstallation(config),
        network: !offline,
      });
      const ok = findings.every(({ level }) => level !== "error");
      print(command, { ok, findings }, toText(findings));
      if (!ok) process.exitCode = 1;
    });
}

/** Puts the worst findings last, where they are read. */
function toText(findings: readonly Finding[]): string {
  const sorted = findings.toSorted((a, b) => levels.indexOf(a.level) - levels.indexOf(b.level));
  const lines = sorted.map(
    ({ level, what, remedy }) => `${marks[level].padEnd(4)}  ${what}${remedy ? `\n      ${remedy}` : ""}`,
  );
  const count = (level: Level) => countOf(findings.filter((one) => one.level === level).length, level);
  return [...lines, "", `${count("error")}, ${count("warning")}, ${count("note")}.`].join("\n");
}
