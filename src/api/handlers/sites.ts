// Serves sites: list, settings, tag and checklist.

import { hourMs } from "../../kernel/time.ts";
import { roleOn } from "../../access/actor.ts";
import type { Answer } from "../../contract/contract.ts";
import type { siteRoutes } from "../../contract/sites.ts";
import { urlFault } from "../../delivery/addresses.ts";
import { tagLines, tagScripts } from "../../identity/tagScript.ts";
import { countContents, deleteSite } from "../../sites/deleteSite.ts";
import { hasSettings, isUsable, type Site } from "../../sites/directory.ts";
import { namesNoSite, stateOf } from "../../sites/hosts.ts";
import { say } from "../../kernel/messages/message.ts";
import { Refusal, refuseFields } from "../../kernel/refusal.ts";
import { addSite, copySettings, renameSite, changeSiteSettings } from "../../sites/manage.ts";
import { SettingFault } from "../../sites/settingForms.ts";
import { describeSettings, readSettings, settingLabels, type SiteSettings, withDefaults } from "../../sites/settings.ts";
import { checkAlertWebhook, settingNotes } from "../../sites/settingNeeds.ts";
import { createStatistics } from "../../statistics/read.ts";
import type { Store } from "../../store/store.ts";
import { notFound, type Handlers } from "../call.ts";
import { refuseDashboardHost } from "../dashboardHost.ts";
import type { ApiContext } from "../context.ts";
import { describeSite, readHealth, readHealthOfAll } from "./siteHealth.ts";

type Names = Exclude<keyof typeof siteRoutes, `${string}/keys${string}` | `${string}/rejected-requests${string}`>;

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

/** Names the settings that are wrong: a form marks their fields. */
function checkEach(changes: Record<string, string>): void {
  const faults = Object.entries(changes).flatMap(([label, text]) => {
    const read = readSettings({ [label]: text });
    return read instanceof SettingFault ? [new Refusal(label, read.said)] : [];
  });
  refuseFields(faults);
}

export function siteHandlers(given: ApiContext): Handlers<Names> {
  const context = { ...given, statistics: createStatistics(given.store, given.now) };
  const { store, directory, allowPrivate, countryOf, mailer, now } = context;
  let scriptOf: ReturnType<typeof tagScripts> | null = null;

  const toAnswer = (settings: SiteSettings, labels: readonly string[]) => ({
    items: settingItems(settings),
    notes: settingNotes(labels, settings, { countries: countryOf !== null, mail: mailer !== null }),
  });

  return {
    async "GET /sites"({ actor }) {
      const sites = [...directory.sites()].filter(({ id }) => actor && roleOn(actor, id) !== null);
      const health = await readHealthOfAll(context, sites);
      return {
        items: sites.flatMap((site) => {
          const found = health.get(site.id);
          return found ? [{ ...describeSite(site, actor), health: found }] : [];
        }),
      };
    },

    async "POST /sites"({ body, actor, by, host }) {
      refuseDashboardHost(body.host, host, given.publicUrl);
      return describeSite(await addSite(context, body.host, by), actor);
    },

    async "GET /sites/:site"({ site, actor }) {
      return { ...describeSite(site, actor), health: await readHealth(context, site) };
    },

    async "PATCH /sites/:site"({ site, body, actor, by }) {
      return describeSite(await renameSite(context, site, body.name, by), actor);
    },

    async "GET /sites/:site/contents"({ site }) {
      return countContents(context, site);
    },

    async "DELETE /sites/:site"({ site, query, by }) {
      const host = site.hosts[0] ?? site.id;
      if (query.confirm !== host) throw new Refusal("confirm", say("confirm_needed", { host }));
      return deleteSite(context, site, by);
    },

    async "GET /sites/:site/settings"({ site }) {
      return { items: settingItems(site.settings) };
    },

    async "PATCH /sites/:site/settings"({ site, body, by }) {
      checkEach(body.settings);
      checkAlertWebhook(body.settings, (url) => urlFault(allowPrivate, url), "alert_webhook");
      const labels = Object.keys(body.settings);
      const answer = toAnswer(labels.length ? await changeSiteSettings(context, site, body.settings, by) : site.settings, labels);
      if (!hasSettings(site))
        answer.notes.push("The other settings could not be read. They have their defaults now, and consent_mode is opt-in.");
      return answer;
    },

    async "POST /sites/:site/settings/copy"({ site, body, actor, by }) {
      const from: Site | undefined = directory.site(body.from);
      if (!from || !actor || roleOn(actor, from.id) === null) throw notFound("site");
      return toAnswer(await copySettings(context, site, from, body.names, by), body.names);
    },

    async "GET /sites/:site/checklist"({ site }) {
      return { steps: await readChecklist(store, site, now()) };
    },

    async "GET /sites/:site/tag"({ site }) {
      const script = (scriptOf ??= tagScripts(context.readTag()))(site);
      const hour = Math.floor(now() / hourMs);
      const [counts, last] = await Promise.all([
        store.traffic.listCounts(site.id, hour - 23, hour + 1),
        store.health.lastVisitHour(site.id),
      ]);
      return {
        ...tagLines(script),
        hash: script.hash,
        integrity: script.integrity,
        gzipBytes: script.gzip.length,
        visits24h: counts.reduce((sum, { visits }) => sum + visits, 0),
        lastHourWithVisits: last === null ? null : last * hourMs,
        seen: context.tagSeen(site.id),
      };
    },
  };
}

type Step = Answer<"GET /sites/:site/checklist">["steps"][number];

const recentHours = 30 * 24;

async function readChecklist(store: Pick<Store, "health">, site: Site, now: number): Promise<Step[]> {
  const [visitHour, eventAt] = await Promise.all([store.health.lastVisitHour(site.id), store.health.lastEventAt(site.id)]);
  const wasSeen = visitHour !== null && visitHour > Math.floor(now / hourMs) - recentHours;
  return [
    domainStep(site),
    { step: "tag", done: wasSeen, detail: wasSeen ? null : say("step_no_tag") },
    keyStep(site, now),
    platformStep(site),
    {
      step: "conversion",
      done: eventAt !== null,
      detail: eventAt === null ? say("step_no_event") : null,
    },
  ];
}

/** A domain that nobody has verified may lead anywhere. */
function domainStep({ hostRows }: Site): Step {
  const own = hostRows.filter(({ host }) => !namesNoSite(host));
  const verified = own.filter((one) => stateOf(one) === "verified").map(({ host }) => host);
  if (verified.length > 0) return { step: "domain", done: true, detail: verified.join(", ") };
  return {
    step: "domain",
    done: false,
    detail: own.length > 0 ? own.map((one) => `${one.host}: ${stateOf(one)}`).join(", ") : say("step_localhost"),
  };
}

function keyStep({ keys }: Site, now: number): Step {
  const usable = keys.filter((key) => isUsable(key, now));
  if (usable.length > 0) return { step: "key", done: true, detail: usable.map(({ name }) => name).join(", ") };
  return {
    step: "key",
    done: false,
    detail: keys.length > 0 ? say("step_keys_ended") : say("step_no_key"),
  };
}

function platformStep({ connections }: Site): Step {
  const real = connections.filter(({ platform }) => platform !== "sandbox");
  if (real.length > 0) return { step: "platform", done: true, detail: null };
  return {
    step: "platform",
    done: false,
    detail: connections.length > 0 ? say("step_sandbox") : say("step_no_platform"),
  };
}
