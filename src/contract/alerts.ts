// Alerts and the audit log.

import { z } from "zod";
import { alertKinds } from "../kernel/event.ts";
import { id, page, paging, type Route, time } from "./route.ts";

const alert = z.object({
  kind: z.enum(alertKinds),
  subject: z.string(),
  /** Of the connection that it is about. */
  platform: z.string().nullable(),
  title: z.string(),
  text: z.string(),
  whatToDo: z.string(),
  beganAt: time,
  endedAt: time.nullable(),
  notifiedAt: time.nullable(),
  failed: z.array(z.object({ channel: z.string(), error: z.string() })),
});

const auditLine = z.object({
  id,
  at: time,
  actor: z.string(),
  action: z.string(),
  detail: z.record(z.string(), z.unknown()),
});

export const alertRoutes = {
  "GET /sites/:site/alerts": {
    summary: "What needs a person, and what did in the last 90 days",
    allow: "viewer",
    answer: z.object({ open: z.array(alert), over: z.array(alert), mail: z.boolean() }),
  },
  "POST /sites/:site/alerts/test": {
    summary: "Send a test message to the site's alert addresses",
    allow: "admin",
    answer: z.object({
      channels: z.array(
        z.object({ channel: z.string(), to: z.string(), ok: z.boolean(), error: z.string().nullable() }),
      ),
    }),
  },
  "GET /sites/:site/audit": {
    summary: "Who changed what on a site, newest first",
    allow: "viewer",
    query: z.object(paging),
    answer: page(auditLine),
  },
  "GET /sites/:site/audit.csv": {
    summary: "The same lines as a table",
    allow: "viewer",
    answer: "csv",
  },
  "GET /audit": {
    summary: "Who changed what of the installation, newest first",
    allow: "owner",
    query: z.object(paging),
    answer: page(auditLine),
  },
  "GET /audit.csv": {
    summary: "The same lines as a table",
    allow: "owner",
    answer: "csv",
  },
} satisfies Record<string, Route>;
