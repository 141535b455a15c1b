// The installation's registrations at platforms: what lets people sign in there.

import { platformOf, platforms } from "../../platforms/index.ts";
import { Refusal, type By } from "../../kernel/refusal.ts";
import { change } from "../../sites/manage.ts";
import type { OAuthApp } from "../../store/sites/platformSignIns.ts";
import type { Store } from "../../store/store.ts";
import { hasOAuth, type PlatformWithOAuth } from "./oauth2.ts";

type Desk = { store: Pick<Store, "platformSignIns" | "audit"> };

export const platformsWithSignIn = () => platforms.filter(hasOAuth);

export function signInPlatform(id: string): PlatformWithOAuth {
  const platform = platformOf(id);
  if (hasOAuth(platform)) return platform;
  const known = platformsWithSignIn().map((one) => one.id);
  throw new Refusal("platform", `${id} has no sign-in. Those that do: ${known.join(", ")}.`);
}

export async function setOAuthApp({ store }: Desk, app: OAuthApp, by: By): Promise<void> {
  const { id: platform } = signInPlatform(app.platform);
  await store.platformSignIns.saveApp(app, by.now);
  await store.audit.add(change("", "oauth app set", { platform }, by));
}

export async function removeOAuthApp({ store }: Desk, platform: string, by: By): Promise<void> {
  if (!(await store.platformSignIns.removeApp(platform)))
    throw new Refusal("platform", `No app is set for ${platform}.`);
  await store.audit.add(change("", "oauth app removed", { platform }, by));
}
