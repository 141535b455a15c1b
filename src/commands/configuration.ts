// The parts that read and write files load on first use: the schema is large, and no other command needs it.

import type { Command } from "commander";
import { describePlan, diffText, lossText, summaryText, unlistedText } from "../configFile/diff.ts";
import type { FileText } from "../configFile/plan.ts";
import { operatorRights, type ConfigurationContext, type Plan } from "../configFile/planning.ts";
import { shortId } from "../kernel/ids.ts";
import { readConfig } from "../installation/config.ts";
import { planForNew, readConfigurationFile } from "../installation/configurationFile.ts";
import { placeOf } from "../installation/installation.ts";
import { withNewInstallation, printResult, type CliCommand, type CommandContext } from "./context.ts";
import { exportDataCommand } from "./database/exportData.ts";
import { exportScheduleCommands } from "./database/exportSchedule.ts";
import { confirm } from "./terminal/confirm.ts";

type ApplyOptions = { prune?: boolean; yes?: boolean; dryRun?: boolean };

export function configurationCommands(program: CliCommand): void {
  program
    .command("apply <file>")
    .description("bring the configuration to what a YAML or JSON file says")
    .option("--dry-run", "show the difference and change nothing")
    .option("--prune", "also remove what is not in the file, where the file has that list")
    .option("--yes", "also where data or access is deleted, without asking")
    .action(async (path: string, options: ApplyOptions, command: Command) => {
      const config = readConfig();
      const file = await readConfigurationFile(config, path);
      const first = await planForNew(config, file, { prune: options.prune === true });
      if (!first || !options.dryRun) return withNewInstallation(command, (context) => run(context, file, options, command));
      if (command.optsWithGlobals().json !== true)
        process.stderr.write(`There is no installation in ${placeOf(config)} yet; apply creates it.\n`);
      printDryRun((...shown) => printResult(command, ...shown), first);
    });

  const exporting = program.command("export").description("write the configuration, or data, to files");

  exporting
    .command("configuration", { isDefault: true })
    .description("write the configuration as a file for 'apply', without secrets")
    .run(async ({ call, print }) => {
      const exported = await call("GET /configuration", {});
      print(exported, exported.text.trimEnd());
    });

  exportDataCommand(exporting);
  exportScheduleCommands(exporting);

  program
    .command("config-schema")
    .description("print the JSON Schema of the configuration file")
    .action(async () => {
      const { toJsonSchema } = await import("../configFile/schema.ts");
      process.stdout.write(`${JSON.stringify(toJsonSchema(), null, 2)}\n`);
    });
}

async function run(context: CommandContext, file: FileText, options: ApplyOptions, command: Command): Promise<void> {
  const { applyFile } = await import("../configFile/apply.ts");
  const { planFile } = await import("../configFile/plan.ts");
  const prune = options.prune === true;
  const target = await configurationContext(context);
  if (options.dryRun) {
    printDryRun(context.print, await planFile(target, file, { prune }));
    return;
  }
  const isJson = command.optsWithGlobals().json === true;
  const { plan, notes } = await applyFile(target, file, {
    prune,
    owner: `command line ${shortId()}`,
    now: Date.now,
    elapsed: () => performance.now(),
    async confirm(planned) {
      if (!isJson) process.stderr.write(`${planText(planned)}\n`);
      const what = lossText(planned);
      if (what) await confirm({ what, yes: options.yes });
    },
  });
  const text = plan.changes.length === 0 ? "Nothing to change." : `Applied: ${summaryText(plan)}`;
  context.print({ ...describePlan(plan), notes }, [text, ...notes].join("\n"));
}

const printDryRun = (print: CommandContext["print"], plan: Plan) =>
  print(describePlan(plan), [planText(plan), ...plan.notes].join("\n"));

const configurationContext = async (context: CommandContext): Promise<ConfigurationContext> => ({
  store: context.store,
  directory: context.directory,
  access: await context.access(),
  allowPrivate: context.config.allowPrivate,
  exportFolder: context.config.exportFolder,
  rights: operatorRights,
  by: context.by,
});

function planText(plan: Plan): string {
  const parts = [diffText(plan), unlistedText(plan), plan.changes.length ? summaryText(plan) : "No differences."];
  return parts.filter(Boolean).join("\n\n");
}
