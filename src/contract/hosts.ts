// The hosts of a site.

import { z } from "zod";
import { done, type Route, time } from "./route.ts";
import { site } from "./sites.ts";

/** As sites/hosts.ts says what each means. */
export const hostStates = ["verified", "failing", "unverified", "waiting", "paused"] as const;

const host = z.object({
  host: z.string(),
  /** Only a host that is waiting or paused is not served. */
  state: z.enum(hostStates),
  addedAt: time,
  verifiedAt: time.nullable(),
  /** What showed last that it leads here: the DNS, or a request to it that arrived. */
  verifiedBy: z.enum(["DNS", "a request"]).nullable(),
  checkedAt: time.nullable(),
  failingSince: time.nullable(),
  /** What the last check found wrong; null where nothing, or where nobody has looked yet. */
  problem: z.object({ what: z.string(), whatToDo: z.string() }).nullable(),
});

export const hostRoutes = {
  "GET /sites/:site/hosts": {
    summary: "The hosts of a site, whether each is served, and what the last check found",
    allow: "viewer",
    answer: z.object({ items: z.array(host) }),
  },
  "POST /sites/:site/hosts": {
    summary:
      "Add another host to a site. It is served at once where the role holds on the whole installation, else when it is verified",
    allow: "admin",
    body: z.object({ host: z.string().trim().min(1).max(260) }),
    answer: site,
  },
  "POST /sites/:site/hosts/:host/verify": {
    summary: "Check now whether a host leads here",
    allow: "admin",
    answer: host,
  },
  "POST /sites/:site/hosts/:host/pause": {
    summary: "Answer under this host as under a name that nobody has",
    allow: "admin",
    answer: host,
  },
  "POST /sites/:site/hosts/:host/resume": {
    summary: "Serve a paused host again",
    allow: "admin",
    answer: host,
  },
  "DELETE /sites/:site/hosts/:host": {
    summary: "Remove a host from its site; the last one cannot be removed",
    allow: "admin",
    answer: done,
  },
} satisfies Record<string, Route>;
