// The sites of the demo: a shop that advertises on most platforms, a software product that collects leads, and a site that is
// still being set up. Together the first two have every platform.

import { setOAuthApp } from "../../src/delivery/oauth/signIn.ts";
import { hourMs, minuteMs } from "../../src/kernel/time.ts";
import { connect } from "../../src/sites/connect.ts";
import type { Site } from "../../src/sites/directory.ts";
import {
  addKey,
  addSite,
  findSite,
  renameSite,
  revokeKey,
  changeSiteSettings,
  type SiteContext,
} from "../../src/sites/manage.ts";
import { addHost } from "../../src/sites/manageHosts.ts";
import { standins, type StandinId } from "../../standins/index.ts";
import { revokedTokens, standinConnections } from "../standinConnections.ts";
import { productChannels, shopChannels, type Channel } from "./people.ts";

/** The time that new ids carry. The audit log is ordered by them, so it is set to the time of each change. */
export type Clock = { at: number };

/** A change at a time of the history. */
export type ScheduledAction = { at: number; act: () => Promise<unknown> };

type EventKind = {
  name: string;
  weight: number;
  /** The mean value; null for events without one. */
  value: number | null;
  hasOrder: boolean;
  /** The event that the person had before: the stages of a lead come from the CRM, without a visit. */
  after?: string;
};

export type DemoSite = {
  host: string;
  name: string;
  /** Events per day at the end of the history. */
  perDay: number;
  visitsPerEvent: number;
  /** The share of events in USD; the others are in EUR. */
  dollars: number;
  orderPrefix: string;
  kinds: readonly EventKind[];
  /** The pages on which visitors land, and the ads that lead them there. */
  pages: readonly string[];
  channels: readonly Channel[];
  /** Follows office hours. */
  isBusiness: boolean;
  platforms: readonly (readonly [StandinId, events?: string])[];
  /** Connected with a token that the platform no longer accepts; a user can reconnect it. */
  revoked: StandinId | null;
  settings: Record<string, string> & { time_zone: string };
};

export const shop: DemoSite = {
  host: "shop.example.com",
  name: "Alpenglow Outdoor",
  perDay: 105,
  visitsPerEvent: 38,
  dollars: 0.14,
  orderPrefix: "AO-",
  kinds: [
    { name: "purchase", weight: 64, value: 84, hasOrder: true },
    { name: "begin_checkout", weight: 12, value: 91, hasOrder: false },
    { name: "sign_up", weight: 15, value: null, hasOrder: false },
    { name: "lead", weight: 5, value: 25, hasOrder: false },
    { name: "refund", weight: 4, value: 79, hasOrder: true },
  ],
  pages: ["/", "/jackets", "/jackets/ridge-40", "/boots", "/sale", "/tents/duo", "/guides/layering"],
  channels: shopChannels,
  isBusiness: false,
  platforms: [
    ["google_ads", "purchase,lead,sign_up"],
    ["meta"],
    ["ga4"],
    ["tiktok", "purchase"],
    ["microsoft_ads", "purchase,lead"],
    ["pinterest", "purchase"],
    ["linkedin", "lead,sign_up"],
    ["snapchat", "sign_up"],
    ["openai_ads", "purchase,begin_checkout"],
    ["taboola", "purchase"],
    ["outbrain", "purchase"],
    ["axon", "purchase"],
    ["cm360", "purchase"],
    ["amazon_ads", "purchase"],
    ["klaviyo"],
  ],
  revoked: "linkedin",
  settings: {
    time_zone: "Europe/Berlin",
    country: "DE",
    block_disposable: "on",
    block_domains: "competitor.example",
    alert_success_rate: "80",
  },
};

export const product: DemoSite = {
  host: "app.example.com",
  name: "Ledgerline",
  perDay: 27,
  visitsPerEvent: 44,
  dollars: 1,
  orderPrefix: "LL-",
  kinds: [
    { name: "lead", weight: 44, value: 40, hasOrder: false },
    { name: "sign_up", weight: 30, value: null, hasOrder: false },
    { name: "start_trial", weight: 18, value: 0, hasOrder: false },
    { name: "subscribe", weight: 8, value: 348, hasOrder: true },
    { name: "qualified_lead", weight: 15, value: 120, hasOrder: false, after: "lead" },
    { name: "closed_won", weight: 6, value: 900, hasOrder: false, after: "qualified_lead" },
  ],
  pages: ["/", "/pricing", "/features/invoices", "/features/bank-feeds", "/compare", "/guides/sales-tax"],
  channels: productChannels,
  isBusiness: true,
  platforms: [
    ["google_ads"],
    ["linkedin"],
    ["reddit"],
    ["x"],
    ["openai_ads"],
    ["quora", "lead,sign_up,subscribe"],
    ["nextdoor", "lead,subscribe"],
    ["spotify", "sign_up,subscribe"],
    ["segment"],
    ["hubspot", "lead,start_trial,subscribe"],
  ],
  revoked: null,
  settings: { time_zone: "America/New_York", country: "US", consent_mode: "opt-out" },
};

export const owner = "demo@example.com";
const colleague = "kim@example.com";

export type CreatedSite = {
  demo: DemoSite;
  siteId: string;
  key: string;
  keyId: string;
  test: { key: string; id: string };
};

const checkAddress = () => null;

/** When the sites are set up, before their history begins. */
export const setUpAt = (from: number) => from - 2 * hourMs;

/** Creates a site with its keys and connections, one step every three minutes. */
export async function createSite(context: SiteContext, demo: DemoSite, at: number, clock: Clock): Promise<CreatedSite> {
  clock.at = at;
  const by = (actor = owner) => ({ actor, now: (clock.at += 3 * minuteMs), checkAddress });
  const { id: siteId } = await addSite(context, demo.host, by("command line"));
  const site = () => findSite(context, siteId);
  await renameSite(context, site(), demo.name, by());
  await changeSiteSettings(context, site(), demo.settings, by());
  const live = await addKey(context, site(), { name: "order system", mode: "live", expiresAt: null }, by());
  const test = await addKey(context, site(), { name: "staging", mode: "test", expiresAt: null }, by(colleague));
  for (const [platform, events = "all"] of demo.platforms) {
    const token = platform === demo.revoked ? revokedTokens[platform] : {};
    await connect(context, site(), platform, { ...standinConnections[platform], ...token, events }, by());
  }
  return { demo, siteId, key: live.key, keyId: live.id, test: { key: test.key, id: test.id } };
}

/** Creates a site that has the tag but no connections yet. */
export async function createNewSite(context: SiteContext, at: number, clock: Clock): Promise<Site> {
  clock.at = at;
  const by = () => ({ actor: colleague, now: (clock.at += minuteMs) });
  const site = await addSite(context, "studio.example.com", by());
  await renameSite(context, site, "Studio Kestrel", by());
  await changeSiteSettings(context, findSite(context, site.id), { time_zone: "Europe/Dublin" }, by());
  await addKey(context, findSite(context, site.id), { name: "website", mode: "live", expiresAt: null }, by());
  return findSite(context, site.id);
}

/** The members' changes to the shop. `at` turns a share of the history into a time. */
export function shopActions(context: SiteContext, { siteId }: CreatedSite, at: (part: number) => number): ScheduledAction[] {
  const site = () => findSite(context, siteId);
  const by = (now: number, actor = owner) => ({ actor, now, checkAddress });
  const action = (part: number, act: (now: number) => Promise<unknown>): ScheduledAction => ({
    at: at(part),
    act: () => act(at(part)),
  });
  let agency = "";
  return [
    action(0.04, (now) => addHost(context, site(), "checkout.shop.example.com", { ...by(now), isTrusted: true })),
    action(0.1, async (now) => {
      const wanted = { name: "agency import", mode: "live", expiresAt: null } as const;
      agency = (await addKey(context, site(), wanted, by(now, colleague))).id;
    }),
    action(0.22, (now) =>
      connect(
        context,
        site(),
        "meta",
        { ...standinConnections.meta, "event.begin_checkout": "InitiateCheckout" },
        by(now, colleague),
      ),
    ),
    action(0.38, (now) => changeSiteSettings(context, site(), { bot_threshold: "65" }, by(now))),
    action(0.52, (now) => changeSiteSettings(context, site(), { bot_threshold: "60" }, by(now))),
    action(0.71, async (now) => {
      const key = site().keys.find(({ id }) => id === agency);
      if (key) await revokeKey(context, key, by(now));
    }),
    action(0.9, (now) => changeSiteSettings(context, site(), { dedup_order: "120d" }, by(now, colleague))),
  ];
}

/** Lets users sign in at the stand-ins as they would at the platforms. */
export async function setOAuthApps(context: SiteContext, at: number): Promise<void> {
  for (const { id: platform, known } of standins) {
    const clientId = known["clientId"] ?? known["appId"];
    const clientSecret = known["clientSecret"] ?? known["appSecret"];
    if (typeof clientId !== "string" || typeof clientSecret !== "string") continue;
    await setOAuthApp(context, { platform, clientId, clientSecret }, { actor: owner, now: at });
  }
}
