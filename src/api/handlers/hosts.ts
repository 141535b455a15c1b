// The hosts of a site.

import { may } from "../../access/actor.ts";
import type { hostRoutes } from "../../contract/hosts.ts";
import type { Answer } from "../../contract/contract.ts";
import { problemOf } from "../../sites/hostProblems.ts";
import { verifyHost } from "../../domains/verify.ts";
import type { Host } from "../../sites/directory.ts";
import { stateOf } from "../../sites/hosts.ts";
import { findSite } from "../../sites/manage.ts";
import { addHost, findHost, pauseHost, removeHost, resumeHost } from "../../sites/manageHosts.ts";
import { type Handlers } from "../call.ts";
import { checkKnowsItself, checkNotHome } from "../dashboardHost.ts";
import type { ApiParts } from "../context.ts";
import { describeSite } from "./siteHealth.ts";
import { Denied } from "../../kernel/refusal.ts";

type Described = Answer<"GET /sites/:site/hosts">["items"][number];

/** Who asks again within this time gets the same answer: a check calls somebody else's server. */
const restMs = 3000;

export function hostHandlers(parts: ApiParts): Handlers<keyof typeof hostRoutes> {
  const { directory, checker, now } = parts;

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

  const again = (host: Host) => describe(findHost(directory.sites(), host.host));

  return {
    async "GET /sites/:site/hosts"({ site }) {
      return { items: site.hostRows.map(describe) };
    },

    async "POST /sites/:site/hosts"({ site, body, actor, by, request }) {
      checkNotHome(body.host, request.raw, parts.publicUrl);
      // Somebody of one site could otherwise take a name that another customer is about to add.
      const isVouched = actor !== null && may(actor, "admin", null);
      if (!isVouched) checkKnowsItself(checker.relay);
      await addHost(parts, site, body.host, { ...by, isVouched });
      return describeSite(findSite(parts, site.id), actor);
    },

    async "POST /sites/:site/hosts/:host/verify"({ site, params, by }) {
      const host = findHost([site], params.host);
      if (host.checkedAt !== null && host.checkedAt > now() - restMs) return describe(host);
      const checked = checker.limit.run(host, () => verifyHost(parts, host, by, now));
      if (!checked)
        throw new Denied("too_many", "Other hosts of this site are being checked. Wait a moment.", 5);
      return describe(await checked);
    },

    async "POST /sites/:site/hosts/:host/pause"({ site, params, by }) {
      const host = findHost([site], params.host);
      if (host.pausedAt === null) await pauseHost(parts, host, by);
      return again(host);
    },

    async "POST /sites/:site/hosts/:host/resume"({ site, params, by }) {
      const host = findHost([site], params.host);
      if (host.pausedAt !== null) await resumeHost(parts, host, by);
      return again(host);
    },

    async "DELETE /sites/:site/hosts/:host"({ site, params, by }) {
      await removeHost(parts, findHost([site], params.host), by);
      return {};
    },
  };
}
