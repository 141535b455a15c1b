import type { Command } from "commander";
import { readConfig } from "../installation/config.ts";
import { serve } from "../main.ts";
import { withContext, print, findSiteOrOnly, table, timeText } from "./context.ts";
import { untilAskedToStop } from "./stopSignals.ts";

export function operateCommands(program: Command): void {
  program
    .command("serve")
    .description("run the relay")
    .action(async () => {
      // What is committed is safe, and the rest is sent after the restart.
      const asked = untilAskedToStop(
        process,
        () => performance.now(),
        () => process.exit(130),
      );
      const running = await serve(readConfig(), (text) => process.stdout.write(text));
      process.stdout.write(`${await asked}: finishing what is in flight …\n`);
      await running.stop();
      process.exit(0);
    });

  program
    .command("migrate")
    .description("bring the database schema up to date (serve does it too)")
    .action((_options: unknown, command: Command) =>
      withContext(async ({ store }) => {
        const { from, to, applied } = store.migrated;
        print(
          command,
          { from, to, applied },
          from > to
            ? `Schema ${from} is of a newer version. This one knows schema ${to}, and can work with it.`
            : applied.length
              ? `Schema ${from} → ${to}: ${applied.join(", ")}.`
              : `Schema ${to} is up to date.`,
        );
      }),
    );

  program
    .command("audit [site]")
    .description("who changed what, newest first")
    .action((siteText: string | undefined, _options: unknown, command: Command) =>
      withContext(async ({ store, directory }) => {
        const site = findSiteOrOnly(directory, siteText);
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
}
