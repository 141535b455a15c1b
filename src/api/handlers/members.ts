// Serves members, their invitations, and API keys.

import type { apiKeyRoutes } from "../../contract/apiKeys.ts";
import type { memberRoutes } from "../../contract/members.ts";
import type { Handlers } from "../call.ts";
import type { ApiContext } from "../context.ts";
import { requireHolder } from "./session.ts";

export function memberHandlers({ access }: ApiContext): Handlers<keyof typeof memberRoutes> {
  return {
    "GET /members": async ({ actor }) => {
      const me = requireHolder(actor);
      const members = await access.members.list(me);
      return {
        members: members.map((member) => ({ ...member, isMe: me.kind === "user" && member.id === me.id })),
        invitations: await access.invitations.list(me),
      };
    },

    "POST /members/invitations": ({ actor, body, by }) => access.invitations.invite(requireHolder(actor), body, by),

    "DELETE /members/invitations/:invitation": async ({ actor, params, by }) => {
      await access.invitations.withdraw(requireHolder(actor), params.invitation, by);
      return {};
    },

    "PUT /members/:member/grants": async ({ actor, params, body, by }) => {
      await access.members.setGrant(requireHolder(actor), params.member, body, by);
      return {};
    },

    "DELETE /members/:member": async ({ params, by }) => {
      await access.members.remove(params.member, by);
      return {};
    },

    "POST /members/:member/password-reset": async ({ actor, params, by }) =>
      access.recovery.createReset(await access.members.find(requireHolder(actor), params.member), by),
  };
}

export function apiKeyHandlers({ access }: ApiContext): Handlers<keyof typeof apiKeyRoutes> {
  return {
    "GET /api-keys": async ({ actor }) => ({ items: await access.apiKeys.list(requireHolder(actor)) }),
    "POST /api-keys": ({ actor, body, by }) => access.apiKeys.add(requireHolder(actor), body, by),
    "DELETE /api-keys/:key": async ({ actor, params, query, by }) => ({
      inboundKeys: await access.apiKeys.revoke(requireHolder(actor), params.key, query.inboundKeys, by),
    }),
  };
}
