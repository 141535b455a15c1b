// Serves the hosts of a site.

import { may } from "../../access/actor.ts";
import type { hostRoutes } from "../../contract/hosts.ts";
import type { Answer } from "../../contract/contract.ts";
import { problemOf } from "../../sites/hostProblems.ts";
import { verifyHost } from "../../domains/verify.ts";
import type { Host } from "../../sites/directory.ts";
import { stateOf } from "../../sites/hosts.ts";
import { findSite } from "../../sites/manage.ts";
import { addHost, findHost, pauseHost, removeHost, resumeHost } from "../../sites/manageHosts.ts";
import type { Handlers } from "../call.ts";
import { requireRelayName, refuseDashboardHost } from "../dashboardHost.ts";
import type { ApiContext } from "../context.ts";
import { describeSite } from "./siteHealth.ts";
import { say } from "../../kernel/messages/message.ts";
import { Denied } from "../../kernel/refusal.ts";

type Described = Answer<"GET /sites/:site/hosts">["items"][number];

/** Within this time after a check its result is returned again: each check calls a server that is not ours. */
const minIntervalMs = 3000;

export function hostHandlers(context: ApiContext): Handlers<keyof typeof hostRoutes> {
  const { directory, checker, now } = context;

  function describe(host: Host): Described {
    const { addedAt, verifiedAt, checkedAt, failingSince } = host;
    return {
      host: host.host,
      state: stateOf(host),
      addedAt,
      verifiedAt,
      verifiedBy: host.verifiedBy as Described["verifiedBy"],
      checkedAt,
      failingSince,
      problem: problemOf(host.host, host, checker.relay?.host ?? null),
    };
  }

  const reload = (host: Host) => describe(findHost(directory.sites(), host.host));

  return {
    async "GET /sites/:site/hosts"({ site }) {
      return { items: site.hostRows.map(describe) };
    },

    async "POST /sites/:site/hosts"({ site, body, actor, by, host }) {
      refuseDashboardHost(body.host, host, context.publicUrl);
      // Without this check an admin of one site could claim a name that another customer is about to add.
      const isTrusted = actor !== null && may(actor, "admin", null);
      if (!isTrusted) requireRelayName(checker.relay);
      await addHost(context, site, body.host, { ...by, isTrusted });
      return describeSite(findSite(context, site.id), actor);
    },

    async "POST /sites/:site/hosts/:host/verify"({ site, params, actor, by }) {
      const host = findHost([site], params.host);
      // A check in the future was made while the clock ran ahead.
      const sinceMs = host.checkedAt === null ? Infinity : now() - host.checkedAt;
      if (actor?.kind !== "operator" && sinceMs >= 0 && sinceMs < minIntervalMs) return describe(host);
      const checked = checker.limit.run(host, () => verifyHost(context, host, by, now));
      if (!checked) throw new Denied("too_many", say("hosts_being_checked"), 5);
      return describe(await checked);
    },

    async "POST /sites/:site/hosts/:host/pause"({ site, params, by }) {
      const host = findHost([site], params.host);
      if (host.pausedAt === null) await pauseHost(context, host, by);
      return reload(host);
    },

    async "POST /sites/:site/hosts/:host/resume"({ site, params, by }) {
      const host = findHost([site], params.host);
      if (host.pausedAt !== null) await resumeHost(context, host, by);
      return reload(host);
    },

    async "DELETE /sites/:site/hosts/:host"({ site, params, by }) {
      await removeHost(context, findHost([site], params.host), by);
      return {};
    },
  };
}
