// Serves sign-in, password resets, invitations, and the signed-in person's own account.

import { addPushDevice, readPublicKey } from "../../alerts/push/push.ts";
import { countAttempt, testLimits } from "../../access/rateCounters.ts";
import type { Actor, ApiKeyHolder, User } from "../../access/actor.ts";
import type { sessionRoutes } from "../../contract/session.ts";
import type { Handlers } from "../call.ts";
import type { ApiContext } from "../context.ts";
import { say } from "../../kernel/messages/message.ts";
import { Denied, Missing } from "../../kernel/refusal.ts";

/** The router refuses API keys on these routes; without a session the caller must sign in. */
function requireUser(actor: Actor | null): User & Actor {
  if (actor?.kind !== "user") throw new Denied("signed_out", say("sign_in_first"));
  return actor;
}

/** People and the command line manage members and API keys; the router refuses API keys on these routes. */
export function requireHolder(actor: Actor | null): Exclude<Actor, ApiKeyHolder> {
  if (!actor || actor.kind === "API key") throw new Denied("signed_out", say("sign_in_first"));
  return actor;
}

const done = {};

export function sessionHandlers(context: ApiContext): Handlers<keyof typeof sessionRoutes> {
  const { access, version, publicUrl, store, sender, allowPrivate, now } = context;
  return {
    "GET /setup": async () => ({
      needed: await access.needsOwner(),
      passwords: access.hasPasswords,
      singleSignOn: access.providerName,
    }),

    "POST /setup": async ({ request, reply, body }) => {
      reply.header("set-cookie", await access.setUp(request, body));
      return done;
    },

    "GET /session": async ({ actor, request, reply }) => {
      if (actor?.kind !== "user") return { session: null };
      const { id, email, name, twoFactor, grants } = actor;
      const cookies = await access.refreshSession(request);
      if (cookies.length) reply.header("set-cookie", cookies);
      const installation = { version, mail: access.hasMail, url: publicUrl, store: store.engine };
      return { session: { user: { id, email, name, twoFactor }, grants: [...grants], installation } };
    },

    "POST /session": async ({ request, reply, body }) => {
      access.requirePasswords();
      const { step, cookies } = await access.signIn(request, body);
      reply.header("set-cookie", cookies);
      return { step };
    },

    "POST /session/code": async ({ request, reply, body }) => {
      access.requirePasswords();
      reply.header("set-cookie", await access.finishSignIn(request, body.code));
      return done;
    },

    "DELETE /session": async ({ request, reply }) => {
      reply.header("set-cookie", await access.signOut(request));
      return done;
    },

    "GET /sessions": async ({ actor }) => ({ items: await access.account.listSessions(requireUser(actor)) }),

    "DELETE /sessions/:session": async ({ actor, params }) => {
      await access.account.endSession(requireUser(actor), params.session);
      return done;
    },

    "GET /me/devices": async ({ actor }) => {
      const devices = await store.pushDevices.listOf(requireUser(actor).id);
      const items = devices.map(({ id, name, createdAt }) => ({ id, name, createdAt }));
      return { items, publicKey: await readPublicKey(store) };
    },

    "POST /me/devices": async ({ actor, body: { name, ...subscription } }) => {
      const { id } = requireUser(actor);
      await countAttempt(store, testLimits("device", id), now());
      return addPushDevice({ store, sender, publicUrl, now, allow: allowPrivate }, id, { name, subscription });
    },

    "DELETE /me/devices/:device": async ({ actor, params }) => {
      const isRemoved = await store.pushDevices.remove(requireUser(actor).id, params.device);
      if (!isRemoved) throw new Missing("device", say("no_such_device"));
      return done;
    },

    "PATCH /me": async ({ actor, body, by }) => {
      await access.account.rename(requireUser(actor), body.name, by);
      return done;
    },

    "POST /me/password": async ({ actor, request, reply, body, by }) => {
      reply.header("set-cookie", await access.account.changePassword(requireUser(actor), request, body, by));
      return done;
    },

    "POST /me/two-factor": ({ actor, request, body }) =>
      access.account.beginTwoFactor(requireUser(actor), request, body.password),

    "POST /me/two-factor/confirm": async ({ actor, request, reply, body, by }) => {
      reply.header("set-cookie", await access.account.confirmTwoFactor(requireUser(actor), request, body.code, by));
      return done;
    },

    "POST /me/two-factor/end": async ({ actor, request, body, by }) => {
      await access.account.endTwoFactor(requireUser(actor), request, body.password, by);
      return done;
    },

    "POST /password-resets": async ({ request, body }) => {
      access.requirePasswords();
      return access.recovery.requestReset(request, body.email);
    },

    "POST /password-resets/finish": async ({ request, body }) => {
      access.requirePasswords();
      await access.recovery.finishReset(request, body);
      return done;
    },

    "POST /invitations/lookup": ({ request, body }) => access.invitations.lookUp(request, body.token),

    "POST /invitations/accept": async ({ request, reply, body }) => {
      access.requirePasswords();
      reply.header("set-cookie", await access.invitations.accept(request, body));
      return done;
    },
  };
}
