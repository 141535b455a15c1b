// Serves members, their invitations, and API keys.

import type { apiKeyRoutes, memberRoutes } from "../../contract/session.ts";
import type { Handlers } from "../call.ts";
import type { ApiContext } from "../context.ts";
import { requireUser } from "./session.ts";

export function memberHandlers({ access }: ApiContext): Handlers<keyof typeof memberRoutes> {
  return {
    "GET /members": async ({ actor }) => {
      const me = requireUser(actor);
      const members = await access.members.list(me);
      return {
        members: members.map((member) => ({ ...member, isMe: member.id === me.id })),
        invitations: await access.invitations.list(me),
      };
    },

    "POST /members/invitations": ({ actor, body, by }) => access.invitations.invite(requireUser(actor), body, by),

    "DELETE /members/invitations/:invitation": async ({ actor, params, by }) => {
      await access.invitations.withdraw(requireUser(actor), params.invitation, by);
      return {};
    },

    "PUT /members/:member/grants": async ({ actor, params, body, by }) => {
      await access.members.setGrant(requireUser(actor), params.member, body, by);
      return {};
    },

    "DELETE /members/:member": async ({ params, by }) => {
      await access.members.remove(params.member, by);
      return {};
    },

    "POST /members/:member/password-reset": async ({ actor, params, by }) =>
      access.recovery.createReset(await access.members.find(requireUser(actor), params.member), by),
  };
}

export function apiKeyHandlers({ access }: ApiContext): Handlers<keyof typeof apiKeyRoutes> {
  return {
    "GET /api-keys": async ({ actor }) => ({ items: await access.apiKeys.list(requireUser(actor)) }),
    "POST /api-keys": ({ actor, body, by }) => access.apiKeys.add(requireUser(actor), body, by),
    "DELETE /api-keys/:key": async ({ actor, params, query, by }) => ({
      inboundKeys: await access.apiKeys.revoke(requireUser(actor), params.key, query.inboundKeys, by),
    }),
  };
}
