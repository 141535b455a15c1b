// The installation's registrations at platforms. Their secrets go in and never come out.

import { listSignInPlatforms, removeOAuthApp, setOAuthApp } from "../../delivery/oauth/signIn.ts";
import { knownPlatform } from "../../sites/connect.ts";
import type { Handlers } from "../call.ts";
import type { ApiParts } from "../context.ts";

type Names = "GET /oauth-apps" | "PUT /oauth-apps/:platform" | "DELETE /oauth-apps/:platform";

export function oauthAppHandlers({ store, publicUrl }: ApiParts): Handlers<Names> {
  return {
    async "GET /oauth-apps"() {
      const apps = new Map((await store.platformSignIns.listApps()).map((app) => [app.platform, app]));
      return {
        redirectUri: `${publicUrl}/oauth/callback`,
        items: listSignInPlatforms().map(({ id }) => ({
          platform: id,
          clientId: apps.get(id)?.clientId ?? null,
          updatedAt: apps.get(id)?.updatedAt ?? null,
        })),
      };
    },

    async "PUT /oauth-apps/:platform"({ params, body, by }) {
      const { id: platform } = knownPlatform(params.platform);
      await setOAuthApp({ store }, { platform, ...body }, by);
      return {};
    },

    async "DELETE /oauth-apps/:platform"({ params, by }) {
      const { id: platform } = knownPlatform(params.platform);
      await removeOAuthApp({ store }, platform, by);
      return {};
    },
  };
}
