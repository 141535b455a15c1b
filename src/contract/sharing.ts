// Declares the routes of shared links, and of the weekly report.

import { z } from "zod";
import { defaultLinkDays, linkScopes, maxLinkDays } from "../kernel/scopes.ts";
import { done, id, moment, name, type Route, time } from "./route.ts";

const link = z
  .object({
    id,
    scope: z.enum(linkScopes).describe("`report`: the funnel with its numbers and causes. `wall`: today, for a screen."),
    name,
    hasPassword: z.boolean(),
    createdBy: z.string(),
    createdAt: time,
    expiresAt: time,
    openedAt: time.nullable().describe("When it was last used, to about ten minutes; null if it never was."),
    revokedAt: time.nullable(),
  })
  .meta({ id: "SharedLink" });

export const sharingRoutes = {
  "GET /sites/:site/shared-links": {
    summary: "List the links through which people without an account read this site",
    allow: "viewer",
    answer: z.object({ items: z.array(link).describe("The newest first; the links themselves are never shown again.") }),
  },
  "POST /sites/:site/shared-links": {
    summary: "Share the report or the wall of a site; the link is shown once",
    allow: "admin",
    body: z.object({
      scope: z.enum(linkScopes),
      name: name.describe("For whom the link is."),
      expiresAt: moment
        .optional()
        .describe(
          `At most ${maxLinkDays} days from now. Default: ${defaultLinkDays.report} days for a report, ${defaultLinkDays.wall} for a wall.`,
        ),
      password: z.string().min(1).max(200).optional().describe("Readers must know it too."),
    }),
    answer: z.object({ link, url: z.string().describe("The link. Shown only this once.") }),
  },
  "DELETE /sites/:site/shared-links/:link": {
    summary: "Revoke a shared link; it stops working within 2 seconds",
    allow: "admin",
    answer: done,
  },
  "GET /sites/:site/weekly-report": {
    summary: "Show when the weekly report is sent, and what became of the last one",
    allow: "viewer",
    answer: z.object({
      nextAt: time.nullable().describe("Null where it is off, and for the first minute after it was turned on."),
      lastAt: time.nullable(),
      channels: z.array(
        z.object({
          channel: z.string(),
          state: z
            .enum(["sending", "sent", "failed"])
            .describe("`sending` that stays: the node stopped in between, and the message is not repeated."),
          at: time,
          error: z.string().nullable(),
        }),
      ),
      mail: z.boolean().describe("True if this installation can send email."),
    }),
  },
  "POST /sites/:site/weekly-report/send": {
    summary: "Send the weekly report to the recipients of alerts now",
    allow: "admin",
    answer: z.object({
      channels: z.array(z.object({ channel: z.string(), to: z.string(), ok: z.boolean(), error: z.string().nullable() })),
    }),
  },
} satisfies Record<string, Route>;
