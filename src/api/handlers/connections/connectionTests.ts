// Serves previews, test events and the choices that a platform offers for a setting.

import type { Actor } from "../../../access/actor.ts";
import { countTest, testLimits } from "../../../access/rateCounters.ts";
import type { TokenSet } from "../../../delivery/oauth/oauth2.ts";
import { readSignInTokens } from "../../../delivery/oauth/signIn.ts";
import type { Platform } from "../../../platforms/platform.ts";
import { urlFault } from "../../../delivery/addresses.ts";
import { verifyByTest, verifyConnection } from "../../../delivery/verify.ts";
import { listChoices, readConversion, previewRequest, sampleNow, sendTest } from "../../../delivery/testDelivery.ts";
import { valueSetting } from "../../../platforms/valueRules.ts";
import { previewValues } from "../../../delivery/valuePreview.ts";
import { findConnection, knownPlatform, planConnection, unreadableConnection, type Wanted } from "../../../sites/connect.ts";
import { withChanges } from "../../../sites/connectionSettings.ts";
import type { Connection, Site } from "../../../sites/directory.ts";
import { say } from "../../../kernel/messages/message.ts";
import { Denied, Missing, Refusal } from "../../../kernel/refusal.ts";
import { notFound, type Handlers } from "../../call.ts";
import type { ApiContext } from "../../context.ts";

type ConnectionTestNames =
  | "POST /sites/:site/connections/preview"
  | "POST /sites/:site/connections/:connection/values/preview"
  | "POST /sites/:site/connections/:connection/test"
  | "POST /sites/:site/connections/:connection/verify"
  | "POST /sites/:site/connections/choices";

/** Finds the saved connection that the unsaved settings extend. */
function findSaved(site: Site, platform: Platform, id: string | undefined): Connection | undefined {
  if (id === undefined) return undefined;
  const connection = findConnection([site], id);
  if (connection.platform !== platform.id) throw notFound("connection");
  return connection;
}

export function connectionTestHandlers(context: ApiContext): Handlers<ConnectionTestNames> {
  const { store, sender, tokens, allowPrivate, now } = context;
  const checkAddress = (url: string) => urlFault(allowPrivate, url);

  /** Reads the saved settings with a valid access token. */
  async function freshSettings(saved: Connection, setting: string): Promise<Record<string, string>> {
    const fresh = await tokens.fresh(saved);
    if ("fault" in fresh) throw new Refusal(setting, say("no_access_token", { reason: fresh.error }));
    return fresh.settings;
  }

  return {
    async "POST /sites/:site/connections/preview"({ site, body, actor, by }) {
      const platform = knownPlatform(body.platform);
      const saved = findSaved(site, platform, body.connection);
      const wanted = readChanges(body, await readCallerTokens(context, actor, site, platform.id, body.signIn));
      const planned = planOrFault(() => planConnection(site, platform, saved, wanted, { ...by, checkAddress }));
      if ("fault" in planned) return { fault: planned.fault, skipped: null, naming: null, request: null };
      const conversion = await readConversion(store, site, body, by.now);
      const { skipped, naming, request } = previewRequest(planned, conversion, by.now);
      // Only the origin of a saved address is shown: its path may hold a token. The caller knows a typed one.
      const isTyped = platform.settings.some(({ name, address }) => address && body.settings[name]);
      if (!request || !platform.customerAddress || isTyped) return { fault: null, skipped, naming, request };
      const url = `${new URL(request.url).origin}/…`;
      return { fault: null, skipped, naming, request: { ...request, url } };
    },

    async "POST /sites/:site/connections/:connection/values/preview"({ site, params, body }) {
      const connection = findConnection([site], params.connection);
      if (connection.unreadable) throw unreadableConnection(connection.id);
      const changes = Object.entries(body.values).map(([name, rule]) => [valueSetting(name), rule] as const);
      const settings = withChanges(knownPlatform(connection.platform), connection.settings, Object.fromEntries(changes));
      return previewValues(store, { ...connection, settings });
    },

    async "POST /sites/:site/connections/:connection/test"({ site, params, body, actor, by }) {
      const connection = findConnection([site], params.connection);
      await countTest(store, actor, testLimits("connection", site.id), now());
      const began = performance.now();
      const sample = sampleNow(body.name, by.now);
      const { skipped, reading, log, request } = await sendTest(context, connection, sample, by.now);
      if (reading?.kind === "accepted") await verifyByTest(context, connection);
      return {
        skipped,
        outcome: reading?.kind ?? null,
        error: reading && "error" in reading ? reading.error : null,
        ...log,
        request,
        durationMs: Math.round(performance.now() - began),
      };
    },

    async "POST /sites/:site/connections/:connection/verify"({ site, params, actor }) {
      const connection = findConnection([site], params.connection);
      await countTest(store, actor, testLimits("connection", site.id), now());
      return { verification: await verifyConnection(context, connection) };
    },

    async "POST /sites/:site/connections/choices"({ site, body, actor, by }) {
      const platform = knownPlatform(body.platform);
      const saved = findSaved(site, platform, body.connection);
      const signedIn = await readCallerTokens(context, actor, site, platform.id, body.signIn);
      const given = { ...body.settings, ...signedIn };
      // With a token in the request there is no need to renew the saved one.
      const known = !saved ? {} : given.access_token ? saved.settings : await freshSettings(saved, body.setting);
      const settings = withChanges(platform, known, given);
      return { items: await listChoices(sender, platform.id, body.setting, settings, by.now) };
    },
  };
}

/** Returns a refusal as a value: settings that are still being typed are no error. */
function planOrFault(plan: () => Connection): Connection | { fault: { field: string; message: string } } {
  try {
    return plan();
  } catch (error) {
    if (!(error instanceof Refusal) || error instanceof Missing) throw error;
    return { fault: { field: error.field, message: error.said } };
  }
}

type Changes = { settings: Record<string, string>; events?: string[] | null | undefined };
type SignInTokens = TokenSet | Record<string, never>;

/** Reads the tokens of a sign-in, which only the person who began it may use. */
export async function readCallerTokens(
  { store, now }: Pick<ApiContext, "store" | "now">,
  actor: Actor | null,
  site: Site,
  platform: string,
  signIn: string | undefined,
): Promise<SignInTokens> {
  if (signIn === undefined) return {};
  if (!actor || actor.kind === "API key") throw new Denied("forbidden", say("sign_in_of_person"), undefined, "signIn");
  const wanted = { siteId: site.id, platform, id: signIn, requestedBy: actor.kind === "user" ? actor.id : null };
  return readSignInTokens(store, wanted, now()).catch((error: unknown) => {
    // Its own refusals name the argument of the command line.
    if (actor.kind === "operator") throw error;
    if (error instanceof Missing) throw new Missing("signIn", error.said);
    throw error instanceof Refusal ? new Refusal("signIn", error.said) : error;
  });
}

/** Reads the settings of a request. Tokens of a sign-in replace those that were sent along. */
export function readChanges({ settings, events }: Changes, tokens: SignInTokens): Wanted {
  if (events?.length === 0) throw new Refusal("events", say("event_needed"));
  return { settings: { ...settings, ...tokens }, events };
}
