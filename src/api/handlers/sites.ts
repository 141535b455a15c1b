// Sites: their names, settings, tag, and how far a new one is.

import { hourMs } from "../../kernel/time.ts";
import { roleOn } from "../../access/actor.ts";
import type { siteRoutes } from "../../contract/sites.ts";
import { urlFault } from "../../delivery/addresses.ts";
import { tagLines, tagScripts } from "../../identity/tagScript.ts";
import type { Site } from "../../sites/directory.ts";
import { Refusal } from "../../kernel/refusal.ts";
import { addSite, copySettings, renameSite, setSite } from "../../sites/manage.ts";
import { SettingFault } from "../../sites/settingForms.ts";
import {
  checkAlertWebhook,
  describeSettings,
  readSettings,
  settingLabels,
  settingNotes,
  type SiteSettings,
  withDefaults,
} from "../../sites/settings.ts";
import { openStatistics } from "../../statistics/read.ts";
import { notFound, type Handlers } from "../call.ts";
import { checklistOf } from "./checklist.ts";
import { checkNotHome } from "../dashboardHost.ts";
import type { ApiParts } from "../context.ts";
import { describeSite, healthOf, healthOfAll } from "./siteHealth.ts";

type Names = Exclude<keyof typeof siteRoutes, `${string}/keys${string}` | `${string}/refused-calls${string}`>;

const defaults = describeSettings(withDefaults({}));

function settingItems(settings: SiteSettings) {
  const values = describeSettings(settings);
  return settingLabels.map(({ label, help }) => ({
    name: label,
    help,
    value: values[label] ?? "",
    default: defaults[label] ?? "",
  }));
}

/** The command line says "setting" of any of them; a form wants to know which. */
function checkEach(changes: Record<string, string>): void {
  for (const [label, text] of Object.entries(changes)) {
    const read = readSettings({ [label]: text });
    if (read instanceof SettingFault) throw new Refusal(label, read.message);
  }
}

export function siteHandlers(given: ApiParts): Handlers<Names> {
  const parts = { ...given, statistics: openStatistics(given.store, given.now) };
  const { store, directory, allowPrivate, countryOf, mailer, now } = parts;
  const desk = { store, directory };
  const scriptOf = tagScripts(parts.tag);

  const changed = (settings: SiteSettings, labels: readonly string[]) => ({
    items: settingItems(settings),
    notes: settingNotes(labels, settings, { countries: countryOf !== null, mail: mailer !== null }),
  });

  return {
    async "GET /sites"({ actor }) {
      const sites = [...directory.sites()].filter(({ id }) => actor && roleOn(actor, id) !== null);
      const health = await healthOfAll(parts, sites);
      return {
        items: sites.flatMap((site) => {
          const its = health.get(site.id);
          return its ? [{ ...describeSite(site, actor), health: its }] : [];
        }),
      };
    },

    async "POST /sites"({ body, actor, by, request }) {
      checkNotHome(body.host, request.raw, given.publicUrl);
      return describeSite(await addSite(desk, body.host, by), actor);
    },

    async "GET /sites/:site"({ site, actor }) {
      return { ...describeSite(site, actor), health: await healthOf(parts, site) };
    },

    async "PATCH /sites/:site"({ site, body, actor, by }) {
      return describeSite(await renameSite(desk, site, body.name, by), actor);
    },

    async "GET /sites/:site/settings"({ site }) {
      return { items: settingItems(site.settings) };
    },

    async "PATCH /sites/:site/settings"({ site, body, by }) {
      checkEach(body.settings);
      checkAlertWebhook(body.settings, (url) => urlFault(allowPrivate, url), "alert_webhook");
      const labels = Object.keys(body.settings);
      return changed(labels.length ? await setSite(desk, site, body.settings, by) : site.settings, labels);
    },

    async "POST /sites/:site/settings/copy"({ site, body, actor, by }) {
      const from: Site | undefined = directory.site(body.from);
      if (!from || !actor || roleOn(actor, from.id) === null) throw notFound("site");
      return changed(await copySettings(desk, site, from, body.names, by), body.names);
    },

    async "GET /sites/:site/checklist"({ site }) {
      return { steps: await checklistOf(store, site, now()) };
    },

    async "GET /sites/:site/tag"({ site }) {
      const script = scriptOf(site);
      const hour = Math.floor(now() / hourMs);
      const [counts, last] = await Promise.all([
        store.traffic.listCounts(site.id, hour - 23, hour + 1),
        store.health.lastVisitHour(site.id),
      ]);
      return {
        ...tagLines(script),
        gzipBytes: script.gzip.length,
        visits24h: counts.reduce((sum, { visits }) => sum + visits, 0),
        lastHourWithVisits: last === null ? null : last * hourMs,
      };
    },
  };
}
