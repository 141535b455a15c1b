// Sites, their settings, tag, inbound keys and rejected requests.

import { z } from "zod";
import { count, done, expiresAt, id, mode, moment, name, page, paging, role, type Route, time } from "./route.ts";

const host = z.string().trim().min(1).max(260);

const checklistSteps = ["domain", "tag", "key", "platform", "conversion"] as const;

export const site = z
  .object({
    id,
    name: z.string(),
    hosts: z.array(z.string()),
    createdAt: time,
    timeZone: z.string().describe("IANA name, such as Europe/Berlin. Charts use its days."),
    inbound: z.boolean().describe("True if /__cc/inbound accepts events."),
    role: role.describe("The caller's role on this site."),
    isReadable: z
      .boolean()
      .describe("False where the stored settings are damaged: nothing is accepted until they are set again."),
    leaving: z
      .object({ state: z.enum(["locked", "moved"]), peer: z.string() })
      .nullable()
      .describe("The installation to which the site is moved. `locked` while it is, and read-only here."),
  })
  .meta({ id: "Site" });

const health = z.object({
  keys: count.describe("Inbound keys that are not revoked."),
  connections: z.object({ active: count, paused: count, needsReconnection: count }),
  figures: z
    .object({
      conversions24h: count.describe("Conversions in the current hour and the 23 before it."),
      removed24h: count.describe("Bot visits and events filtered as bots, in the same 24 hours."),
      lastEventAt: time.nullable(),
      openAlerts: count,
      waiting: count.describe("Queued and parked deliveries."),
    })
    .nullable()
    .describe("Null while the machine of the database that has the site's rows does not answer (Citus)."),
});

const setting = z.object({
  name: z.string(),
  help: z.string(),
  value: z.string(),
  default: z.string(),
});

const contents = z.object({
  hosts: count,
  keys: count.describe("Keys that are not revoked."),
  connections: count,
  webhooks: count,
  events: count.describe("At most 1,000,000 are counted, as of identity records and visitors."),
  identities: count,
  visitors: count,
});

const inboundKey = z.object({
  id,
  name: z.string(),
  mode,
  prefix: z.string().describe("The first characters of the key."),
  state: z.enum(["active", "expired", "revoked"]),
  createdAt: time,
  lastUsedAt: time.nullable(),
  uses24h: count.describe("Number of uses in the last 24 hours."),
  expiresAt,
  revokedAt: time.nullable(),
});
const newExpiry = moment.nullable().default(null).describe("Null for a key that never expires.");
const shownKey = z.string().describe("The key. Shown only this once.");
const changedSettings = z.object({
  items: z.array(setting),
  notes: z.array(z.string()).describe("Settings that have no effect yet, and why."),
});

export const siteRoutes = {
  "GET /sites": {
    summary: "List the sites that you have access to, with their health",
    allow: "signed in",
    answer: z.object({ items: z.array(site.extend({ health })) }),
    tool: {
      name: "list_sites",
      description:
        "Start here: other tools take a site's id or host. `health` shows open alerts and deliveries that wait; its `figures` are null while the site's database machine is down.",
    },
  },
  "POST /sites": {
    summary: "Create a site for a host such as shop.example.com",
    allow: "admin",
    body: z.object({ host }),
    answer: site,
  },
  "GET /sites/:site": {
    summary: "Get a site",
    allow: "viewer",
    answer: site.extend({ health }),
  },
  "PATCH /sites/:site": {
    summary: "Rename a site",
    allow: "admin",
    body: z.object({ name }),
    answer: site,
  },
  "GET /sites/:site/contents": {
    summary: "Count what deleting the site would delete",
    allow: "owner",
    apiKeys: false,
    answer: contents,
  },
  "DELETE /sites/:site": {
    summary:
      "Delete a site. Its keys, connections and webhooks end at once, its data is deleted in the background. This cannot be undone",
    allow: "owner",
    apiKeys: false,
    query: z.object({
      confirm: z.string().max(260).optional().describe("The first host of the site, to confirm the deletion."),
    }),
    answer: contents,
  },
  "GET /sites/:site/settings": {
    summary: "List all settings, in the form that `cleancast site set` accepts",
    allow: "viewer",
    answer: z.object({ items: z.array(setting) }),
  },
  "PATCH /sites/:site/settings": {
    summary: "Change settings; those that are not named stay the same",
    allow: "admin",
    body: z.object({ settings: z.record(z.string().max(100), z.string().max(200_000)) }),
    answer: changedSettings,
  },
  "POST /sites/:site/settings/copy": {
    summary: "Copy settings from another site that you have access to",
    allow: "admin",
    body: z.object({ from: id, names: z.array(z.string().max(100)).min(1).max(100) }),
    answer: changedSettings,
  },
  "GET /sites/:site/checklist": {
    summary: "Get the set-up checklist: domain, tag, key, platform, first conversion",
    allow: "viewer",
    answer: z.object({
      steps: z.array(
        z.object({
          step: z.enum(checklistSteps),
          done: z.boolean(),
          detail: z.string().nullable().describe("What was found, or what is missing."),
        }),
      ),
    }),
  },
  "GET /sites/:site/tag": {
    summary: "Get the HTML that installs the tag, and the number of visits",
    allow: "viewer",
    answer: z.object({
      follows: z.string().describe("Always loads the current version of the tag."),
      pinned: z.string().describe("Loads exactly this version; replace it after an upgrade."),
      hash: z.string().describe("Of this version, as in its address."),
      integrity: z.string().describe("Of this version, as browsers check it."),
      gzipBytes: count.describe("Size of the tag, compressed."),
      visits24h: count,
      lastHourWithVisits: time.nullable(),
      seen: z
        .object({ at: time, pages: count.describe("In the last 24 hours, up to 100.") })
        .nullable()
        .describe("The newest visit that this node received since it started, and on how many pages the tag was seen."),
    }),
  },
  "GET /sites/:site/keys": {
    summary: "List inbound keys",
    allow: "viewer",
    scopes: ["read", "keys"],
    answer: z.object({ items: z.array(inboundKey) }),
  },
  "POST /sites/:site/keys": {
    summary: "Create an inbound key; it is shown once. The first key of a site turns its inbound endpoint on",
    allow: "admin",
    scopes: ["keys"],
    body: z.object({ name, mode: mode.default("live"), expiresAt: newExpiry }),
    answer: z.object({
      id,
      key: shownKey,
      openedInbound: z.boolean().describe("True if this was the first key and turned the endpoint on."),
    }),
  },
  "POST /sites/:site/keys/:key/rotate": {
    summary: "Replace a key; the old one stays valid for 24 hours",
    allow: "admin",
    scopes: ["keys"],
    body: z.object({ expiresAt: newExpiry }),
    answer: z.object({ id, key: shownKey, oldExpiresAt: time }),
  },
  "DELETE /sites/:site/keys/:key": {
    summary: "Revoke a key, with immediate effect",
    allow: "admin",
    scopes: ["keys"],
    answer: done,
  },
  "GET /sites/:site/rejected-requests": {
    summary: "List refused inbound calls, newest first, and hosts that are locked after too many wrong keys",
    allow: "viewer",
    query: z.object(paging),
    answer: page(
      z.object({
        id,
        at: time,
        status: z.number().int(),
        error: z.string(),
        host: z.string(),
        key: z.object({ id, name: z.string() }).nullable().describe("The key that was used, if it belongs to the site."),
        address: z.string().nullable().describe("The caller's IP address, shortened to its network."),
      }),
    ).extend({ lockouts: z.array(z.object({ host: z.string(), startedAt: time, lockedUntil: time })) }),
    tool: {
      name: "list_rejected_requests",
      description: "Use it when find_events does not find an order: the sender's request may have been refused, with this error.",
    },
  },
  "GET /sites/:site/rejected-requests.csv": {
    summary: "Export refused inbound calls as CSV",
    allow: "viewer",
    answer: "csv",
  },
} satisfies Record<string, Route>;
