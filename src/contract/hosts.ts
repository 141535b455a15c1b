// Declares the routes of a site's hosts.

import { z } from "zod";
import { done, type Route, time } from "./route.ts";
import { site } from "./sites.ts";

/**
 * paused: answered like an unknown host. waiting: not served until a check finds that it leads here. unverified: served
 * because an operator added it. failing: it was verified, and the last check found a problem.
 */
const hostStates = ["verified", "failing", "unverified", "waiting", "paused"] as const;
export type HostState = (typeof hostStates)[number];

const host = z.object({
  host: z.string(),
  state: z.enum(hostStates).describe("All but waiting and paused hosts are served."),
  addedAt: time,
  verifiedAt: time.nullable(),
  verifiedBy: z
    .enum(["DNS", "a request"])
    .nullable()
    .describe("The last proof that the host points here: its DNS records, or a request that arrived."),
  checkedAt: time.nullable(),
  failingSince: time.nullable().describe("Time of the first of the current series of failed checks."),
  problem: z
    .object({ what: z.string(), whatToDo: z.string() })
    .nullable()
    .describe("The problem that the last check found; null if there is none, or before the first check."),
});

export const hostRoutes = {
  "GET /sites/:site/hosts": {
    summary: "List the hosts of a site, with their state and the result of the last check",
    allow: "viewer",
    answer: z.object({ items: z.array(host) }),
  },
  "POST /sites/:site/hosts": {
    summary:
      "Add a host to a site. With the role admin on the whole installation it is served at once, otherwise after verification",
    allow: "admin",
    body: z.object({ host: z.string().trim().min(1).max(260) }),
    answer: site,
  },
  "POST /sites/:site/hosts/:host/verify": {
    summary: "Check now whether a host points here",
    allow: "admin",
    answer: host,
  },
  "POST /sites/:site/hosts/:host/pause": {
    summary: "Stop serving a host; requests to it are answered as for an unknown host",
    allow: "admin",
    answer: host,
  },
  "POST /sites/:site/hosts/:host/resume": {
    summary: "Serve a paused host again",
    allow: "admin",
    answer: host,
  },
  "DELETE /sites/:site/hosts/:host": {
    summary: "Remove a host from its site; the last host cannot be removed",
    allow: "admin",
    answer: done,
  },
} satisfies Record<string, Route>;
