// Sites, their settings, tag and inbound keys.

import { z } from "zod";
import { count, done, id, moment, name, page, paging, roles, type Route, time } from "./route.ts";

const host = z.string().trim().min(1).max(260);

export const checklistSteps = ["domain", "tag", "key", "platform", "conversion"] as const;

export const site = z.object({
  id,
  name: z.string(),
  hosts: z.array(z.string()),
  createdAt: time,
  /** IANA name; days of charts and times are shown in it. */
  timeZone: z.string(),
  inbound: z.boolean(),
  /** What the caller may do here. */
  role: z.enum(roles),
});

const health = z.object({
  conversions24h: count,
  /** Bots' visits and filtered events. */
  removed24h: count,
  lastEventAt: time.nullable(),
  openAlerts: count,
  connections: z.object({ active: count, paused: count, needsReconnection: count }),
  waiting: count,
});

const setting = z.object({
  name: z.string(),
  help: z.string(),
  value: z.string(),
  default: z.string(),
});

const inboundKey = z.object({
  id,
  name: z.string(),
  mode: z.enum(["live", "test"]),
  prefix: z.string(),
  state: z.enum(["active", "expired", "revoked"]),
  createdAt: time,
  lastUsedAt: time.nullable(),
  uses24h: count,
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
});

export const siteRoutes = {
  "GET /sites": {
    summary: "The sites that one may see, with their health",
    allow: "signed in",
    answer: z.object({ items: z.array(site.extend({ health })) }),
  },
  "POST /sites": {
    summary: "Add a site for a host such as shop.example.com",
    allow: "admin",
    body: z.object({ host }),
    answer: site,
  },
  "GET /sites/:site": {
    summary: "One site",
    allow: "viewer",
    answer: site.extend({ health }),
  },
  "PATCH /sites/:site": {
    summary: "Rename a site",
    allow: "admin",
    body: z.object({ name }),
    answer: site,
  },
  "GET /sites/:site/settings": {
    summary: "Every setting, as `cleancast site set` writes it",
    allow: "viewer",
    answer: z.object({ items: z.array(setting) }),
  },
  "PATCH /sites/:site/settings": {
    summary: "Change settings; `notes` says what does not work yet, and why",
    allow: "admin",
    body: z.object({ settings: z.record(z.string().max(100), z.string().max(200_000)) }),
    answer: z.object({ items: z.array(setting), notes: z.array(z.string()) }),
  },
  "POST /sites/:site/settings/copy": {
    summary: "Take settings over from another site that one may see",
    allow: "admin",
    body: z.object({ from: id, names: z.array(z.string().max(100)).min(1).max(100) }),
    answer: z.object({ items: z.array(setting), notes: z.array(z.string()) }),
  },
  "GET /sites/:site/checklist": {
    summary: "How far a new site is: domain, tag seen, key, platform, first conversion",
    allow: "viewer",
    answer: z.object({
      steps: z.array(
        z.object({ step: z.enum(checklistSteps), done: z.boolean(), detail: z.string().nullable() }),
      ),
    }),
  },
  "GET /sites/:site/tag": {
    summary: "The lines that install the tag, and whether it was seen",
    allow: "viewer",
    answer: z.object({
      follows: z.string(),
      pinned: z.string(),
      gzipBytes: count,
      visits24h: count,
      lastHourWithVisits: time.nullable(),
    }),
  },
  "GET /sites/:site/keys": {
    summary: "Inbound keys",
    allow: "viewer",
    answer: z.object({ items: z.array(inboundKey) }),
  },
  "POST /sites/:site/keys": {
    summary: "Make an inbound key; it is shown once. The first key of a site switches its inbound webhook on",
    allow: "admin",
    body: z.object({
      name,
      mode: z.enum(["live", "test"]).default("live"),
      expiresAt: moment.nullable().default(null),
    }),
    answer: z.object({ id, key: z.string(), openedInbound: z.boolean() }),
  },
  "POST /sites/:site/keys/:key/rotate": {
    summary: "A new key in place of this one, which lives 24 hours more",
    allow: "admin",
    body: z.object({ expiresAt: moment.nullable().default(null) }),
    answer: z.object({ id, key: z.string(), oldExpiresAt: time }),
  },
  "DELETE /sites/:site/keys/:key": { summary: "Revoke a key at once", allow: "admin", answer: done },
  "GET /sites/:site/refused-calls": {
    summary:
      "Inbound calls that were refused, newest first, and hosts that are locked after too many wrong keys",
    allow: "viewer",
    query: z.object(paging),
    answer: page(
      z.object({
        id,
        at: time,
        status: z.number().int(),
        error: z.string(),
        host: z.string(),
        /** The key that was used, where it is one of the site's. */
        key: z.object({ id, name: z.string() }).nullable(),
        address: z.string().nullable(),
      }),
    ).extend({ lockouts: z.array(z.object({ host: z.string(), startedAt: time, lockedUntil: time })) }),
  },
  "GET /sites/:site/refused-calls.csv": {
    summary: "The same calls as a table",
    allow: "viewer",
    answer: "csv",
  },
} satisfies Record<string, Route>;
