// Declares the routes of API keys.

import { z } from "zod";
import { scopes } from "../kernel/scopes.ts";
import { siteOrAll } from "./members.ts";
import { count, expiresAt, id, moment, name, type Route, time } from "./route.ts";

const granted = z
  .array(z.enum(scopes))
  .min(1, "choose at least one scope")
  .max(scopes.length)
  .describe(
    "`read`: see everything that a viewer can. `write`: change settings, connections and webhooks, and send again. `keys`: create, rotate and revoke inbound keys. `people`: find, export and erase people's data, and record their consent. None includes another.",
  );

export const apiKeyRoutes = {
  "GET /api-keys": {
    summary: "List API keys of the sites that you own",
    allow: "signed in",
    apiKeys: false,
    answer: z.object({
      items: z.array(
        z.object({
          id,
          name,
          prefix: z.string().describe("The first characters of the key."),
          site: siteOrAll,
          scopes: granted,
          createdBy: z.string(),
          createdAt: time,
          lastUsedAt: time.nullable(),
          uses24h: count.describe("Number of uses in the last 24 hours."),
          expiresAt,
          revokedAt: time.nullable(),
          inboundKeys: z
            .array(z.object({ site: id, id, name: z.string() }))
            .describe("The usable inbound keys that were created with this key."),
        }),
      ),
    }),
  },
  "POST /api-keys": {
    summary: "Create an API key for one site or for all sites; it is shown once",
    allow: "signed in",
    apiKeys: false,
    body: z.object({
      name,
      site: siteOrAll,
      scopes: granted,
      expiresAt: moment.nullable().default(null).describe("Null for a key that never expires."),
    }),
    answer: z.object({ id, key: z.string().describe("The key. Shown only this once.") }),
  },
  "DELETE /api-keys/:key": {
    summary: "Revoke an API key, and the inbound keys that were created with it; they stop working within 2 seconds",
    allow: "signed in",
    apiKeys: false,
    query: z.object({
      inboundKeys: z
        .enum(["revoke", "keep"])
        .default("revoke")
        .describe("`keep` leaves the inbound keys valid that were created with this key."),
    }),
    answer: z.object({ inboundKeys: z.array(id).describe("The inbound keys that were revoked.") }),
  },
} satisfies Record<string, Route>;
