import type { Command } from "commander";
import { removeOAuthApp, setOAuthApp, signInPlatform } from "../delivery/oauth/oauthApps.ts";
import { askSignIn, type SignInRecord } from "../delivery/oauth/signIn.ts";
import { Refusal } from "../kernel/refusal.ts";
import { findSite } from "../sites/manage.ts";
import { atDesk, pairsOf, print, table, timeText, type Desk } from "./context.ts";

export function signInCommands(program: Command): void {
  program
    .command("sign-in <site> <platform>")
    .description("sign in at a platform in the browser, for a connection without pasted tokens")
    .option("--no-wait", "print the link and return at once")
    .action((siteText: string, platform: string, options: { wait: boolean }, command: Command) =>
      atDesk(async (desk) => {
        const site = findSite(desk, siteText);
        const asked = await askSignIn({ store: desk.store, now: Date.now }, site.id, platform, null);
        const url = `${desk.config.publicUrl}/oauth/start/${asked.ticket}`;
        const next = `cleancast connect ${siteText} ${platform} sign_in=${asked.id} name=value …`;
        if (!options.wait) {
          return print(
            command,
            { signIn: { id: asked.id, url, expiresAt: asked.expiresAt } },
            `Open this within ten minutes, with the relay running:\n  ${url}\nThen: ${next}`,
          );
        }
        process.stderr.write(`Open this within ten minutes, with the relay running:\n  ${url}\n`);
        await finished(desk, site.id, asked.id, asked.expiresAt);
        print(command, { signIn: { id: asked.id, done: true } }, `Signed in. Now: ${next}`);
      }),
    );

  const app = program
    .command("oauth")
    .description("this installation's registrations at platforms")
    .command("app")
    .description("client ids and secrets that platforms gave you");

  app
    .command("set <platform> <name=value...>")
    .description("client_id=… client_secret=@file")
    .action((platformId: string, words: string[], _options: unknown, command: Command) =>
      atDesk(async ({ store, config, by }) => {
        const platform = signInPlatform(platformId);
        const { client_id: clientId, client_secret: clientSecret, ...more } = pairsOf(words);
        const [odd] = Object.keys(more);
        if (odd !== undefined)
          throw new Refusal(odd, `${odd} is not known; give client_id and client_secret.`);
        if (!clientId)
          throw new Refusal("client_id", "client_id is required: the platform shows it with your app.");
        if (!clientSecret)
          throw new Refusal("client_secret", "client_secret is required; client_secret=@file reads it.");
        await setOAuthApp({ store }, { platform: platformId, clientId, clientSecret }, by);
        const redirect = `${config.publicUrl}/oauth/callback`;
        print(
          command,
          { app: { platform: platformId, clientId, redirectUri: redirect } },
          `Set. Register this redirect address at ${platform.name}: ${redirect}`,
        );
      }),
    );

  app
    .command("list")
    .description("all registrations; secrets are never shown")
    .action((_options: unknown, command: Command) =>
      atDesk(async ({ store }) => {
        const apps = await store.platformSignIns.listApps();
        const rows = apps.map((one) => [one.platform, one.clientId, timeText(one.updatedAt)]);
        print(command, { apps }, table(["PLATFORM", "CLIENT ID", "SET (UTC)"], rows, "No app is set."));
      }),
    );

  app
    .command("remove <platform>")
    .description("forget a registration; access tokens that end can then not be renewed")
    .action((platform: string, _options: unknown, command: Command) =>
      atDesk(async ({ store, by }) => {
        await removeOAuthApp({ store }, platform, by);
        print(command, { platform, removed: true }, `Removed.`);
      }),
    );
}

async function finished({ store }: Desk, siteId: string, id: string, until: number): Promise<void> {
  while (Date.now() < until) {
    const record = (await store.platformSignIns.find(siteId, id))?.record as SignInRecord | undefined;
    if (record?.step === "done") return;
    if (record?.step === "failed") throw new Refusal("platform", `The sign-in failed: ${record.error}`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Refusal("platform", "Nobody signed in within ten minutes. Begin again.");
}
