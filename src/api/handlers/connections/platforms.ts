// Serves platforms, sign-in at a platform, and the installation's OAuth apps, whose secrets can be set but never read.

import type { Actor } from "../../../access/actor.ts";
import type { Answer } from "../../../contract/contract.ts";
import {
  createSignInLink,
  findSignIn,
  listSignInPlatforms,
  removeOAuthApp,
  setOAuthApp,
} from "../../../delivery/oauth/signIn.ts";
import { platforms } from "../../../platforms/index.ts";
import type { EventNames, Platform } from "../../../platforms/platform.ts";
import { consentText, testModeText } from "../../../platforms/shared/skips.ts";
import { connectCommand } from "../../../sites/connectionHints.ts";
import { knownPlatform } from "../../../sites/connect.ts";
import { notFound, type Handlers } from "../../call.ts";
import type { ApiContext } from "../../context.ts";
import { requireHolder } from "../session.ts";

type Names = "GET /platforms" | "GET /platforms/names" | "POST /sites/:site/sign-ins" | "GET /sites/:site/sign-ins/:signIn";
type Described = Answer<"GET /platforms">["items"][number];

/** Constant but for `signIn.ready`, which depends on the installation. */
const described: readonly Described[] = platforms.map(describe);

function describe(platform: Platform): Described {
  const { id, name, description, docs, settings, pickers, guide, maxAgeDays, quota } = platform;
  return {
    id,
    name,
    description,
    docsUrl: docs?.url ?? null,
    docsChecked: docs?.checked ?? null,
    settings: settings.map((setting) => {
      const picker = pickers?.find((one) => one.setting === setting.name);
      return {
        name: setting.name,
        label: setting.label,
        help: setting.help,
        required: setting.required ?? false,
        secret: setting.secret ?? false,
        address: setting.address ?? false,
        signing: setting.signing ?? false,
        testCode: setting.testCode ?? false,
        multiline: setting.multiline ?? false,
        default: setting.default ?? null,
        values: setting.choices ? [...setting.choices] : null,
        choices: picker ? { needs: [...picker.needs] } : null,
      };
    }),
    connect: connectCommand("SITE", platform),
    requires: (platform.requires ?? []).map((names) => [...names]),
    signIn: platform.oauth ? { ready: false, isOptional: platform.oauth.isForReading ?? false } : null,
    clickIds: [...(platform.ids ?? [])],
    events: platform.events ? describeEvents(platform.events) : null,
    fields: (platform.fields ?? []).map((field) => ({
      name: field.name,
      help: field.help,
      type: field.type,
    })),
    // Null where the limit depends on the event; the guide explains it.
    maxAgeDays: typeof maxAgeDays === "number" ? maxAgeDays : null,
    batch: platform.batch,
    lanes: platform.lanes,
    quota: quota ? { requests: quota.requests, seconds: quota.seconds } : null,
    guide: guide
      ? {
          credentials: [...guide.credentials],
          sends: guide.sends.map(([field, from]) => ({ field, from })),
          notSent: [...guide.notSent],
          consent: consentText(platform),
          testMode: testModeText(platform),
          limits: [...guide.limits],
        }
      : null,
  };
}

function describeEvents(names: EventNames): Described["events"] {
  const { standard, others, customNames: rules, several = false, defaultSetting = null, choices } = names;
  return {
    standard: { ...standard },
    others: others === "not sent" ? null : typeof others === "string" ? others : others.name,
    customNames: {
      maxLength: rules?.maxLength ?? null,
      form: rules?.form ?? null,
      reserved: [...(rules?.reserved ?? [])],
      reservedPrefixes: [...(rules?.reservedPrefixes ?? [])],
    },
    several,
    defaultSetting,
    choices: choices ? [...choices] : null,
  };
}

/** Without an installation there are no apps. */
export function describePlatforms(apps: readonly { platform: string; isReadable: boolean }[]): Described[] {
  const ready = new Set(apps.filter(({ isReadable }) => isReadable).map(({ platform }) => platform));
  return described.map((one) => (one.signIn ? { ...one, signIn: { ...one.signIn, ready: ready.has(one.id) } } : one));
}

/** A sign-in belongs to the person who began it; null for the command line. */
function requesterOf(actor: Actor | null): string | null {
  const holder = requireHolder(actor);
  return holder.kind === "user" ? holder.id : null;
}

export function platformHandlers({ store, publicUrl, now }: ApiContext): Handlers<Names> {
  return {
    async "GET /platforms"() {
      return { items: describePlatforms(await store.platformSignIns.listApps()) };
    },

    async "GET /platforms/names"() {
      return { items: described.map(({ id, name }) => ({ id, name })) };
    },

    async "POST /sites/:site/sign-ins"({ site, body, actor }) {
      const { id: platform } = knownPlatform(body.platform);
      const { id, linkToken, expiresAt } = await createSignInLink({ store, now }, site.id, platform, requesterOf(actor));
      return { id, url: `${publicUrl}/oauth/start/${linkToken}`, expiresAt };
    },

    async "GET /sites/:site/sign-ins/:signIn"({ site, params, actor }) {
      const signIn = await findSignIn(store, {
        siteId: site.id,
        id: params.signIn,
        requestedBy: requesterOf(actor),
      });
      if (!signIn) throw notFound("sign-in");
      const { record, expiresAt } = signIn;
      return {
        step: expiresAt > now() ? record.step : "expired",
        error: record.step === "failed" ? record.error : null,
      };
    },
  };
}

type OAuthAppNames = "GET /oauth-apps" | "PUT /oauth-apps/:platform" | "DELETE /oauth-apps/:platform";

export function oauthAppHandlers({ store, publicUrl }: ApiContext): Handlers<OAuthAppNames> {
  return {
    async "GET /oauth-apps"() {
      const apps = new Map((await store.platformSignIns.listApps()).map((app) => [app.platform, app]));
      return {
        redirectUri: `${publicUrl}/oauth/callback`,
        items: listSignInPlatforms().map(({ id }) => ({
          platform: id,
          clientId: apps.get(id)?.clientId ?? null,
          updatedAt: apps.get(id)?.updatedAt ?? null,
          readable: apps.get(id)?.isReadable ?? true,
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
