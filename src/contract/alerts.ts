// Declares the routes of alerts and the audit log.

import { z } from "zod";
import { alertKinds } from "../kernel/event.ts";
import { id, page, paging, period, type Route, time } from "./route.ts";

const alert = z.object({
  kind: z.enum(alertKinds),
  subject: z.string().describe("The connection, webhook or host that the alert is about; empty for the whole site."),
  platform: z.string().nullable().describe("The platform of the connection that the alert is about."),
  title: z.string(),
  text: z.string(),
  whatToDo: z.string().describe("The recommended next step."),
  command: z.string().describe("The next step on the command line of the server."),
  beganAt: time,
  endedAt: time.nullable(),
  notifiedAt: time.nullable(),
  failed: z
    .array(z.object({ channel: z.string(), error: z.string() }))
    .describe("Channels on which the alert could not be sent."),
});

const auditLine = z.object({
  id,
  at: time,
  actor: z.string().describe("An email, an API key, the command line, or the relay itself."),
  action: z.string(),
  detail: z.record(z.string(), z.unknown()),
});

export const alertRoutes = {
  "GET /sites/:site/alerts": {
    summary: "List open alerts, and those that ended in the last 90 days",
    allow: "viewer",
    answer: z.object({
      open: z.array(alert),
      over: z.array(alert),
      mail: z.boolean().describe("True if this installation can send email."),
    }),
    tool: { name: "list_alerts", description: "Shows known problems of the site, each with the recommended next step." },
  },
  "POST /sites/:site/alerts/test": {
    summary: "Send a test alert to the site's alert recipients",
    allow: "admin",
    answer: z.object({
      channels: z.array(z.object({ channel: z.string(), to: z.string(), ok: z.boolean(), error: z.string().nullable() })),
    }),
  },
  "GET /sites/:site/audit": {
    summary: "List changes to a site, newest first",
    allow: "viewer",
    query: z.object({ ...paging, ...period }),
    answer: page(auditLine),
  },
  "GET /sites/:site/audit.csv": {
    summary: "Export changes to a site as CSV",
    allow: "viewer",
    answer: "csv",
  },
  "GET /audit": {
    summary: "List changes to the installation, newest first",
    allow: "owner",
    apiKeys: false,
    query: z.object({ ...paging, ...period }),
    answer: page(auditLine),
  },
  "GET /audit.csv": {
    summary: "Export changes to the installation as CSV",
    allow: "owner",
    apiKeys: false,
    answer: "csv",
  },
} satisfies Record<string, Route>;
