// Platforms as the dashboard draws them, and signing in there.

import type { Answer } from "../../contract/contract.ts";
import { createSignInLink, findSignIn } from "../../delivery/oauth/signIn.ts";
import { platforms } from "../../platforms/index.ts";
import type { EventNames, Platform } from "../../platforms/platform.ts";
import { knownPlatform } from "../../sites/connect.ts";
import type { Actor } from "../../access/actor.ts";
import { notFound, type Handlers } from "../call.ts";
import type { ApiParts } from "../context.ts";
import { Denied } from "../../kernel/refusal.ts";

type Names = "GET /platforms" | "POST /sites/:site/sign-ins" | "GET /sites/:site/sign-ins/:signIn";
type Described = Answer<"GET /platforms">["items"][number];

/** Everything but whether sign-in is ready: that is the installation's, the rest never changes. */
const described: readonly Described[] = platforms.map(describe);

function describe(platform: Platform): Described {
  const { id, name, description, docs, settings, pickers, guide, maxAgeDays } = platform;
  return {
    id,
    name,
    description,
    docsUrl: docs?.url ?? null,
    settings: settings.map((setting) => {
      const picker = pickers?.find((one) => one.setting === setting.name);
      return {
        name: setting.name,
        label: setting.label,
        help: setting.help,
        required: setting.required ?? false,
        secret: setting.secret ?? false,
        address: setting.address ?? false,
        default: setting.default ?? null,
        choices: picker ? { needs: [...picker.needs] } : null,
      };
    }),
    requires: (platform.requires ?? []).map((names) => [...names]),
    signIn: platform.oauth ? { ready: false } : null,
    clickIds: [...(platform.ids ?? [])],
    events: platform.events ? describeEvents(platform.events) : null,
    fields: (platform.fields ?? []).map((field) => ({
      name: field.name,
      help: field.help,
      type: field.type,
    })),
    // Where it depends on the event, the guide says how.
    maxAgeDays: typeof maxAgeDays === "number" ? maxAgeDays : null,
    batch: platform.batch,
    guide: guide
      ? {
          credentials: [...guide.credentials],
          sends: guide.sends.map(([field, from]) => ({ field, from })),
          notSent: [...guide.notSent],
          consent: guide.consent,
          testMode: guide.testMode,
          limits: [...guide.limits],
        }
      : null,
  };
}

function describeEvents({ standard, others, choices }: EventNames): Described["events"] {
  return {
    standard: { ...standard },
    others: others === "not sent" ? null : typeof others === "string" ? others : others.name,
    choices: choices ? [...choices] : null,
  };
}

/** The router lets no API key in here. */
function userOf(actor: Actor | null): string {
  if (actor?.kind !== "user") throw new Denied("forbidden", "A person has to sign in.");
  return actor.id;
}

export function platformHandlers({ store, publicUrl, now }: ApiParts): Handlers<Names> {
  return {
    async "GET /platforms"() {
      const ready = new Set((await store.platformSignIns.listApps()).map(({ platform }) => platform));
      return {
        items: described.map((one) => (one.signIn ? { ...one, signIn: { ready: ready.has(one.id) } } : one)),
      };
    },

    async "POST /sites/:site/sign-ins"({ site, body, actor }) {
      const { id: platform } = knownPlatform(body.platform);
      const { id, linkToken, expiresAt } = await createSignInLink(
        { store, now },
        site.id,
        platform,
        userOf(actor),
      );
      return { id, url: `${publicUrl}/oauth/start/${linkToken}`, expiresAt };
    },

    async "GET /sites/:site/sign-ins/:signIn"({ site, params, actor }) {
      const signIn = await findSignIn(store, {
        siteId: site.id,
        id: params.signIn,
        requestedBy: userOf(actor),
      });
      if (!signIn) throw notFound("sign-in");
      const { record, expiresAt } = signIn;
      return {
        step: expiresAt > now() ? record.step : "over",
        error: record.step === "failed" ? record.error : null,
      };
    },
  };
}
