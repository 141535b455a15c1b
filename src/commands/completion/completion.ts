import { Argument } from "commander";
import type { CliCommand } from "../context.ts";
import { listCompleted } from "./commandTree.ts";
import { completionScript, shells, type Shell } from "./scripts.ts";

export function completionCommands(program: CliCommand): void {
  program
    .command("completion")
    .description("print a script that completes commands in a shell")
    .addArgument(new Argument("<shell>").choices(shells))
    .action((shell: Shell) => void process.stdout.write(completionScript(shell, listCompleted(program))));
}
