import type { Command } from "commander";
import { readTag, tagLines, tagScripts } from "../identity/tagScript.ts";
import { atDesk, print, siteOrOnly } from "./context.ts";

export function tagCommands(program: Command): void {
  program
    .command("tag [site]")
    .description("the lines that install the browser tag on a site's pages")
    .action((siteText: string | undefined, _options: unknown, command: Command) =>
      atDesk(async ({ directory }) => {
        const site = siteOrOnly(directory, siteText);
        const script = tagScripts(readTag())(site);
        const { hash, integrity, gzip } = script;
        const { follows, pinned } = tagLines(script);
        print(
          command,
          { site: site.id, follows, pinned, hash, integrity, gzipBytes: gzip.length },
          `On every page, in <head> (${gzip.length} bytes gzip):\n\n  ${follows}\n\n` +
            `The same, pinned to this very content; change it after an upgrade or a change of the consent mode:\n\n  ${pinned}`,
        );
      }),
    );
}
