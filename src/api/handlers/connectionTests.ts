// Trying connections out: previews, test events, and a platform's own lists.

import type { Platform } from "../../platforms/platform.ts";
import { urlFault } from "../../delivery/addresses.ts";
import {
  listChoices,
  readConversion,
  previewRequest,
  sampleNow,
  sendTest,
} from "../../delivery/testDelivery.ts";
import { findConnection, knownPlatform, planConnection } from "../../sites/connect.ts";
import { withChanges } from "../../sites/connectionSettings.ts";
import type { Connection, Site } from "../../sites/directory.ts";
import { Missing, Refusal } from "../../kernel/refusal.ts";
import { notFound, type Handlers } from "../call.ts";
import { countTest } from "../limits.ts";
import type { ApiParts } from "../context.ts";
import { tokensFor, wantedOf } from "./signInTokens.ts";

export type TryOutNames =
  | "POST /sites/:site/connections/preview"
  | "POST /sites/:site/connections/:connection/test"
  | "POST /sites/:site/connections/choices";

/** The saved connection that unsaved settings are laid over, where there is one. */
function savedOf(site: Site, platform: Platform, id: string | undefined): Connection | undefined {
  if (id === undefined) return undefined;
  const connection = findConnection([site], id);
  if (connection.platform !== platform.id) throw notFound("connection");
  return connection;
}

export function tryOutHandlers(parts: ApiParts): Handlers<TryOutNames> {
  const { store, sender, tokens, allowPrivate } = parts;
  const checkAddress = (url: string) => urlFault(allowPrivate, url);

  /** Saved settings with an access token that holds. */
  async function freshSettings(saved: Connection, setting: string): Promise<Record<string, string>> {
    const fresh = await tokens.fresh(saved);
    if ("fault" in fresh) throw new Refusal(setting, `There is no access token: ${fresh.error}.`);
    return fresh.settings;
  }

  return {
    async "POST /sites/:site/connections/preview"({ site, body, actor, by }) {
      const platform = knownPlatform(body.platform);
      const saved = savedOf(site, platform, body.connection);
      const wanted = wantedOf(body, await tokensFor(parts, actor, site, platform.id, body.signIn));
      const planned = planOrFault(() =>
        planConnection(site, platform, saved, wanted, { ...by, checkAddress }),
      );
      if ("fault" in planned) return { fault: planned.fault, skipped: null, request: null };
      const conversion = await readConversion(store, site, body, by.now);
      const { skipped, request } = previewRequest(planned, conversion, by.now);
      // A saved address may hold a token in its path; one that was typed a moment ago is known to who typed it.
      const isTyped = platform.settings.some(({ name, address }) => address && body.settings[name]);
      if (!request || !platform.customerAddress || isTyped) return { fault: null, skipped, request };
      const url = `${new URL(request.url).origin}/…`;
      return { fault: null, skipped, request: { ...request, url } };
    },

    async "POST /sites/:site/connections/:connection/test"({ site, params, body, by }) {
      const connection = findConnection([site], params.connection);
      await countTest(parts, site.id, "connection", 100);
      const began = performance.now();
      const sample = sampleNow(body.name, by.now);
      const { skipped, reading, log, request } = await sendTest(parts, connection, sample, by.now);
      return {
        skipped,
        outcome: reading?.outcome ?? null,
        error: reading && "error" in reading ? reading.error : null,
        ...log,
        request,
        durationMs: Math.round(performance.now() - began),
      };
    },

    async "POST /sites/:site/connections/choices"({ site, body, actor, by }) {
      const platform = knownPlatform(body.platform);
      const saved = savedOf(site, platform, body.connection);
      const signedIn = await tokensFor(parts, actor, site, platform.id, body.signIn);
      const given = { ...body.settings, ...signedIn };
      // Whoever brings another token does not wait for the saved one to be renewed.
      const known = !saved
        ? {}
        : given.access_token
          ? saved.settings
          : await freshSettings(saved, body.setting);
      const settings = withChanges(platform, known, given);
      return { items: await listChoices(sender, platform.id, body.setting, settings, by.now) };
    },
  };
}

/** Settings that are still being typed are no error of the one who types. */
function planOrFault(plan: () => Connection): Connection | { fault: { field: string; message: string } } {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof Refusal) || error instanceof Missing) throw error;
    return { fault: { field: error.field, message: error.message } };
  }
}
