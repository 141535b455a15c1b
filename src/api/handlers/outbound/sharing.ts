// Serves shared links and the weekly report.

import { countTest, testLimits } from "../../../access/rateCounters.ts";
import type { Answer } from "../../../contract/contract.ts";
import type { sharingRoutes } from "../../../contract/sharing.ts";
import { addLink, revokeLink } from "../../../sharing/links.ts";
import { sendWeeklyNow } from "../../../sharing/weekly.ts";
import type { SharedLink } from "../../../store/sharing/sharedLinks.ts";
import type { Handlers } from "../../call.ts";
import type { ApiContext } from "../../context.ts";

type Described = Answer<"POST /sites/:site/shared-links">["link"];

export function sharingHandlers(context: ApiContext): Handlers<keyof typeof sharingRoutes> {
  const { store, mailer, sender, publicUrl } = context;
  return {
    async "GET /sites/:site/shared-links"({ site }) {
      return { items: (await store.sharedLinks.list(site.id)).map(describe) };
    },

    async "POST /sites/:site/shared-links"({ site, body, by }) {
      const { link, url } = await addLink(store, site, body, { ...by, origin: publicUrl });
      return { link: describe(link), url };
    },

    async "DELETE /sites/:site/shared-links/:link"({ site, params, by }) {
      await revokeLink(store, site.id, params.link, by);
      return {};
    },

    async "GET /sites/:site/weekly-report"({ site }) {
      const found = await store.weeklyReports.find(site.id);
      const isOn = site.settings.weeklyReport !== null;
      return {
        nextAt: (isOn && found?.nextAt) || null,
        lastAt: found?.dueAt || null,
        channels: Object.entries(found?.results ?? {}).map(([channel, { state, at, error }]) => ({ channel, state, at, error })),
        mail: mailer !== null,
      };
    },

    async "POST /sites/:site/weekly-report/send"({ site, actor, by }) {
      await countTest(store, actor, testLimits("alert", site.id), by.now);
      return { channels: await sendWeeklyNow(store, site, { mailer, sender, publicUrl }, by.now) };
    },
  };
}

function describe({ hash: _hash, password, siteId: _site, ...link }: SharedLink): Described {
  return { ...link, hasPassword: password !== null };
}
