import type { apiKeyRoutes } from "../../contract/session.ts";
import type { Handlers } from "../call.ts";
import type { ApiParts } from "../context.ts";
import { personOf } from "./session.ts";

export function apiKeyHandlers({ access }: ApiParts): Handlers<keyof typeof apiKeyRoutes> {
  return {
    "GET /api-keys": async ({ actor }) => ({ items: await access.apiKeys.list(personOf(actor)) }),
    "POST /api-keys": ({ actor, body, by }) => access.apiKeys.add(personOf(actor), body, by),
    "DELETE /api-keys/:key": async ({ actor, params, by }) => {
      await access.apiKeys.revoke(personOf(actor), params.key, by);
      return {};
    },
  };
}
