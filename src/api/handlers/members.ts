import type { memberRoutes } from "../../contract/session.ts";
import type { Handlers } from "../call.ts";
import type { ApiParts } from "../context.ts";
import { personOf } from "./session.ts";

export function memberHandlers({ access }: ApiParts): Handlers<keyof typeof memberRoutes> {
  return {
    "GET /members": async ({ actor }) => {
      const me = personOf(actor);
      const members = await access.members.list(me);
      return {
        members: members.map((member) => ({ ...member, isMe: member.id === me.id })),
        invitations: await access.invitations.list(me),
      };
    },

    "POST /members/invitations": ({ actor, body, by }) =>
      access.invitations.invite(personOf(actor), body, by),

    "DELETE /members/invitations/:invitation": async ({ actor, params, by }) => {
      await access.invitations.withdraw(personOf(actor), params.invitation, by);
      return {};
    },

    "PUT /members/:member/grants": async ({ actor, params, body, by }) => {
      await access.members.setGrant(personOf(actor), params.member, body, by);
      return {};
    },

    "DELETE /members/:member": async ({ params, by }) => {
      await access.members.remove(params.member, by);
      return {};
    },

    "POST /members/:member/password-reset": async ({ actor, params, by }) =>
      access.recovery.makeReset(await access.members.find(personOf(actor), params.member), by),
  };
}
