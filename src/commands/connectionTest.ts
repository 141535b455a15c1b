import type { Command } from "commander";
import { openSender } from "../delivery/send.ts";
import { tokensOfSignIn } from "../delivery/oauth/signIn.ts";
import { openTokens } from "../delivery/oauth/tokens.ts";
import { choicesFor, conversionFor, previewRequest, sampleNow, sendTest } from "../delivery/testDelivery.ts";
import { shortId } from "../kernel/ids.ts";
import { findConnection } from "../sites/connect.ts";
import { findSite } from "../sites/manage.ts";
import { atDesk, pairsOf, print, table, type Desk } from "./context.ts";

type About = { event?: string; name: string };

/** Under `connection`. */
export function tryOutCommands(connection: Command): void {
  connection
    .command("preview <id>")
    .description("the exact request for a sample or a past event, without sending it")
    .option("--event <id>", "a past event")
    .option("--name <event>", "a sample event of this name", "purchase")
    .action((id: string, about: About, command: Command) =>
      atDesk(async (desk) => {
        const { store, directory, by } = desk;
        const found = findConnection(directory.sites(), id);
        const conversion = await conversionFor(store, findSite(desk, found.siteId), about, by.now);
        const preview = previewRequest(found, conversion, by.now);
        const { request, skipped } = preview;
        const text = request
          ? [
              `${request.method} ${request.url}`,
              ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
              "",
              JSON.stringify(request.body, null, 2),
            ].join("\n")
          : `It would be skipped: ${skipped}`;
        print(command, preview, text);
      }),
    );

  connection
    .command("test <id>")
    .description("send a sample event in the platform's own test mode, and show its answer")
    .option("--name <event>", "the sample's event name", "purchase")
    .action((id: string, { name }: { name: string }, command: Command) =>
      atDesk(async (desk) => {
        const found = findConnection(desk.directory.sites(), id);
        const { request: _request, ...tested } = await withSender(desk, (parts) =>
          sendTest(parts, found, sampleNow(name, desk.by.now), desk.by.now),
        );
        const { skipped, reading, log } = tested;
        const outcome = skipped
          ? `Not sent: ${skipped}`
          : `${found.platform} said: ${reading?.outcome}${reading && "error" in reading ? `: ${reading.error}` : ""}`;
        const answer = log.httpStatus === null ? "" : `\nHTTP ${log.httpStatus}\n${log.response ?? ""}`;
        print(command, tested, `${outcome}${answer}`);
        if (reading?.outcome !== "accepted") process.exitCode = 1;
      }),
    );

  connection
    .command("choices <site> <platform> <setting> [name=value...]")
    .description(
      "what the platform offers for a setting, such as its accounts or pixels; sign_in=ID uses a sign-in",
    )
    .action(
      (
        siteText: string,
        platform: string,
        setting: string,
        words: string[],
        _options: unknown,
        command: Command,
      ) =>
        atDesk(async (desk) => {
          const site = findSite(desk, siteText);
          const { sign_in: signIn, ...given } = pairsOf(words);
          const known = site.connections.find((one) => one.platform === platform);
          const signedIn = signIn
            ? await tokensOfSignIn(
                desk.store,
                { siteId: site.id, platform, id: signIn, asker: null },
                desk.by.now,
              )
            : {};
          const choices = await withSender(desk, async ({ sender, tokens }) => {
            const current = known && (await tokens.fresh(known));
            const settings = current && "settings" in current ? current.settings : {};
            return choicesFor(sender, platform, setting, { ...settings, ...signedIn, ...given }, desk.by.now);
          });
          const rows = choices.map(({ value, label }) => [value, label]);
          print(
            command,
            { choices },
            table([setting.toUpperCase(), "NAME"], rows, "The platform offers nothing."),
          );
        }),
    );
}

type Parts = Parameters<typeof sendTest>[0];

async function withSender<T>(
  { store, directory, config }: Desk,
  work: (parts: Parts) => Promise<T>,
): Promise<T> {
  const sender = openSender({ ...config, allow: config.allowPrivate, origins: config.platformOrigins });
  const renewalMs = config.attemptMs + 2000;
  const tokens = openTokens({ store, directory, sender, owner: shortId(), now: Date.now, renewalMs });
  try {
    return await work({ sender, tokens });
  } finally {
    await sender.close();
  }
}
