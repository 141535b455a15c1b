import { signInPlatform } from "../../delivery/oauth/signIn.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { knownPlatform } from "../../sites/connect.ts";
import { connectCommand } from "../../sites/connectionHints.ts";
import type { Site } from "../../sites/directory.ts";
import { findSite } from "../../sites/manage.ts";
import { readPairs, siteName, table, timeText, type CliCommand, type CommandContext } from "../context.ts";

export function signInCommands(program: CliCommand): void {
  program
    .command("sign-in <site> <platform>")
    .description("sign in at a platform, for a connection without pasted tokens")
    .option("--no-wait", "print the link and return at once")
    .run(async (context, siteText: string, platform: string, options: { wait: boolean }) => {
      const site = findSite(context, siteText);
      const signIn = await context.call("POST /sites/:site/sign-ins", { params: { site: site.id }, body: { platform } });
      const open = `Open this link within ten minutes, while the relay is running:\n  ${signIn.url}`;
      const next = commandAfterSignIn(site, platform, signIn.id);
      if (!options.wait) return context.print(signIn, `${open}\nThen run: ${next}`);
      process.stderr.write(`${open}\n`);
      await waitForSignIn(context, { site: site.id, signIn: signIn.id });
      context.print(signIn, `Signed in. Now run: ${next}`);
    });

  const app = program
    .command("oauth")
    .description("OAuth apps of this installation at platforms")
    .command("app")
    .description("client ids and secrets of your apps at platforms");

  app
    .command("set <platform> <name=value...>")
    .description("set the app: client_id=… client_secret=@file")
    .runOrCreate(async ({ config, call, print }, platform: string, words: string[]) => {
      const { name } = signInPlatform(platform);
      const { client_id: clientId, client_secret: clientSecret, ...more } = readPairs(words);
      const [unknown] = Object.keys(more);
      if (unknown !== undefined) throw new Refusal(unknown, `${unknown} is not known; give client_id and client_secret.`);
      if (!clientId) throw new Refusal("client_id", "client_id is required: the platform shows it with your app.");
      if (!clientSecret) throw new Refusal("client_secret", "client_secret is required; client_secret=@file reads it.");
      const set = await call("PUT /oauth-apps/:platform", { params: { platform }, body: { clientId, clientSecret } });
      print(set, `Saved. Register this redirect URI at ${name}: ${config.publicUrl}/oauth/callback`);
    });

  app
    .command("list")
    .description("list all apps; secrets are never shown")
    .run(async ({ call, print }) => {
      const listed = await call("GET /oauth-apps", {});
      const rows = listed.items
        .filter(({ updatedAt }) => updatedAt !== null)
        .map((one) => [
          one.platform,
          one.clientId ?? "",
          timeText(one.updatedAt),
          one.readable ? "set" : "cannot be read: set it again",
        ]);
      print(listed, table(["PLATFORM", "CLIENT ID", "SET (UTC)", "SECRET"], rows, "No apps yet."));
    });

  app
    .command("remove <platform>")
    .description("delete an app; its expired access tokens can no longer be renewed")
    .run(async ({ call, print }, platform: string) => {
      print(await call("DELETE /oauth-apps/:platform", { params: { platform } }), "Removed.");
    });
}

/** Tokens go to the connection that the site has; without one, or with several accounts, the account must be named. */
function commandAfterSignIn(site: Site, platformId: string, signInId: string): string {
  const [only, second] = site.connections.filter(({ platform }) => platform === platformId);
  if (only && !second) return `cleancast connection set ${only.id} sign_in=${signInId}`;
  return connectCommand(siteName(site), knownPlatform(platformId), signInId);
}

async function waitForSignIn({ call }: CommandContext, params: { site: string; signIn: string }): Promise<void> {
  for (;;) {
    const { step, error } = await call("GET /sites/:site/sign-ins/:signIn", { params });
    if (step === "done") return;
    if (step === "failed") throw new Refusal("platform", `The sign-in failed: ${error}`);
    if (step === "expired") throw new Refusal("platform", "The sign-in was not completed within ten minutes. Start again.");
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}
