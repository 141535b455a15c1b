import { createSignInLink, removeOAuthApp, setOAuthApp, signInPlatform, type SignInRecord } from "../delivery/oauth/signIn.ts";
import { Refusal } from "../kernel/refusal.ts";
import { knownPlatform } from "../sites/connect.ts";
import { connectCommand } from "../sites/connectionHints.ts";
import type { Site } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import { readPairs, table, timeText, type CliCommand, type CommandContext } from "./context.ts";

export function signInCommands(program: CliCommand): void {
  program
    .command("sign-in <site> <platform>")
    .description("sign in at a platform in the browser, for a connection without pasted tokens")
    .option("--no-wait", "print the link and return at once")
    .run(async (context, siteText: string, platform: string, options: { wait: boolean }) => {
      const site = findSite(context, siteText);
      const link = await createSignInLink({ store: context.store, now: Date.now }, site.id, platform, null);
      const url = `${context.config.publicUrl}/oauth/start/${link.linkToken}`;
      const open = `Open this link within ten minutes, while the relay is running:\n  ${url}`;
      const next = commandAfterSignIn(site, platform, link.id);
      if (!options.wait) {
        return context.print({ signIn: { id: link.id, url, expiresAt: link.expiresAt } }, `${open}\nThen run: ${next}`);
      }
      process.stderr.write(`${open}\n`);
      await waitForSignIn(context, site.id, link.id, link.expiresAt);
      context.print({ signIn: { id: link.id, done: true } }, `Signed in. Now run: ${next}`);
    });

  const app = program
    .command("oauth")
    .description("OAuth apps of this installation at platforms")
    .command("app")
    .description("client ids and secrets of your apps at platforms");

  app
    .command("set <platform> <name=value...>")
    .description("set the app: client_id=… client_secret=@file")
    .runOrCreate(async ({ store, config, by, print }, platformId: string, words: string[]) => {
      const platform = signInPlatform(platformId);
      const { client_id: clientId, client_secret: clientSecret, ...more } = readPairs(words);
      const [unknown] = Object.keys(more);
      if (unknown !== undefined) throw new Refusal(unknown, `${unknown} is not known; give client_id and client_secret.`);
      if (!clientId) throw new Refusal("client_id", "client_id is required: the platform shows it with your app.");
      if (!clientSecret) throw new Refusal("client_secret", "client_secret is required; client_secret=@file reads it.");
      await setOAuthApp({ store }, { platform: platformId, clientId, clientSecret }, by);
      const redirectUri = `${config.publicUrl}/oauth/callback`;
      print(
        { app: { platform: platformId, clientId, redirectUri } },
        `Saved. Register this redirect URI at ${platform.name}: ${redirectUri}`,
      );
    });

  app
    .command("list")
    .description("list all apps; secrets are never shown")
    .run(async ({ store, print }) => {
      const apps = await store.platformSignIns.listApps();
      const rows = apps.map((one) => [
        one.platform,
        one.clientId,
        timeText(one.updatedAt),
        one.isReadable ? "set" : "cannot be read: set it again",
      ]);
      print({ apps }, table(["PLATFORM", "CLIENT ID", "SET (UTC)", "SECRET"], rows, "No apps yet."));
    });

  app
    .command("remove <platform>")
    .description("delete an app; its expired access tokens can no longer be renewed")
    .run(async ({ store, by, print }, platform: string) => {
      await removeOAuthApp({ store }, platform, by);
      print({ platform, removed: true }, "Removed.");
    });
}

/** Tokens go to the connection that the site has; without one, or with several accounts, the account must be named. */
function commandAfterSignIn(site: Site, platformId: string, signInId: string): string {
  const [only, second] = site.connections.filter(({ platform }) => platform === platformId);
  if (only && !second) return `cleancast connection set ${only.id} sign_in=${signInId}`;
  return connectCommand(site.hosts[0] ?? site.id, knownPlatform(platformId), signInId);
}

async function waitForSignIn({ store }: CommandContext, siteId: string, id: string, until: number): Promise<void> {
  while (Date.now() < until) {
    const record = (await store.platformSignIns.find(siteId, id))?.record as SignInRecord | undefined;
    if (record?.step === "done") return;
    if (record?.step === "failed") throw new Refusal("platform", `The sign-in failed: ${record.error}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Refusal("platform", "The sign-in was not completed within ten minutes. Start again.");
}
