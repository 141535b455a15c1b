// The sites of the demo: a shop that advertises everywhere, a smaller product that wants leads, and one that is just being
// set up.

import { setOAuthApp } from "../../src/delivery/oauth/signIn.ts";
import { connect } from "../../src/sites/connect.ts";
import type { Directory, Site } from "../../src/sites/directory.ts";
import { addKey, addSite, findSite, renameSite, revokeKey, setSite } from "../../src/sites/manage.ts";
import { addHost } from "../../src/sites/manageHosts.ts";
import type { Store } from "../../src/store/store.ts";
import { standins, type StandinId } from "../../standins/index.ts";
import { revokedTokens, standinConnections } from "../standinConnections.ts";

export type Desk = { store: Store; directory: Directory };
/** Something that was done, and when. */
export type Moment = { at: number; act: () => Promise<unknown> };

export type EventKind = {
  name: string;
  weight: number;
  /** About how much; null for events without a value. */
  value: number | null;
  hasOrder: boolean;
};

export type DemoSite = {
  host: string;
  name: string;
  timeZone: string;
  /** Events on an ordinary day at the end of the history. */
  perDay: number;
  /** Pages that people saw for each event. */
  visitsPerEvent: number;
  dollars: number;
  orderPrefix: string;
  kinds: readonly EventKind[];
  platforms: readonly (readonly [StandinId, events?: string])[];
  /** Its token will be refused; the one that works is how it is connected again. */
  revoked: StandinId | null;
  settings: Record<string, string>;
};

export const shop: DemoSite = {
  host: "shop.example.com",
  name: "Alpenglow Outdoor",
  timeZone: "Europe/Berlin",
  perDay: 204,
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
  platforms: [
    ["google_ads", "purchase,lead,sign_up"],
    ["meta"],
    ["ga4"],
    ["tiktok", "purchase"],
    ["microsoft_ads", "purchase,lead"],
    ["pinterest", "purchase"],
    ["linkedin", "lead,sign_up"],
    ["snapchat", "sign_up"],
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
  timeZone: "America/New_York",
  perDay: 33,
  visitsPerEvent: 44,
  dollars: 1,
  orderPrefix: "LL-",
  kinds: [
    { name: "lead", weight: 44, value: 40, hasOrder: false },
    { name: "sign_up", weight: 30, value: null, hasOrder: false },
    { name: "start_trial", weight: 18, value: 0, hasOrder: false },
    { name: "subscribe", weight: 8, value: 348, hasOrder: true },
  ],
  platforms: [["google_ads"], ["linkedin"], ["reddit"], ["x"], ["segment"]],
  revoked: null,
  settings: { time_zone: "America/New_York", country: "US", consent_mode: "opt-out" },
};

export const studio: DemoSite = {
  host: "studio.example.com",
  name: "Studio Kestrel",
  timeZone: "Europe/Dublin",
  perDay: 0,
  visitsPerEvent: 0,
  dollars: 0,
  orderPrefix: "SK-",
  kinds: [],
  platforms: [],
  revoked: null,
  settings: { time_zone: "Europe/Dublin" },
};

export const owner = "demo@example.com";
const colleague = "kim@example.com";

export type Opened = {
  demo: DemoSite;
  siteId: string;
  key: string;
  keyId: string;
  test: { key: string; id: string };
};

const minuteMs = 60_000;
const checkAddress = () => null;

/** Makes a site with its keys and connections, as somebody would have in the course of an hour. */
export async function openSite(desk: Desk, demo: DemoSite, at: number): Promise<Opened> {
  let now = at;
  const by = (actor = owner) => ({ actor, now: (now += 3 * minuteMs), checkAddress });
  const { id: siteId } = await addSite(desk, demo.host, by("command line"));
  const site = () => findSite(desk, siteId);
  await renameSite(desk, site(), demo.name, by());
  await setSite(desk, site(), demo.settings, by());
  const live = await addKey(desk, site(), { name: "order system", mode: "live", expiresAt: null }, by());
  const test = await addKey(desk, site(), { name: "staging", mode: "test", expiresAt: null }, by(colleague));
  for (const [platform, events = "all"] of demo.platforms) {
    const token = platform === demo.revoked ? revokedTokens[platform] : {};
    await connect(desk, site(), platform, { ...standinConnections[platform], ...token, events }, by());
  }
  return { demo, siteId, key: live.key, keyId: live.id, test: { key: test.key, id: test.id } };
}

/** A site that somebody began with this morning: its tag is in place, and nothing is connected yet. */
export async function openNewSite(desk: Desk, at: number): Promise<Site> {
  const by = { actor: colleague, now: at };
  const site = await addSite(desk, studio.host, by);
  await renameSite(desk, site, studio.name, by);
  await setSite(desk, findSite(desk, site.id), studio.settings, by);
  await addKey(desk, findSite(desk, site.id), { name: "website", mode: "live", expiresAt: null }, by);
  return findSite(desk, site.id);
}

/** What people did to the shop meanwhile. `at` is a part of the time since the beginning. */
export function shopMoments(desk: Desk, { siteId }: Opened, at: (part: number) => number): Moment[] {
  const site = () => findSite(desk, siteId);
  const by = (now: number, actor = owner) => ({ actor, now, checkAddress });
  const moment = (part: number, act: (now: number) => Promise<unknown>): Moment => ({
    at: at(part),
    act: () => act(at(part)),
  });
  let agency = "";
  return [
    moment(0.04, (now) =>
      addHost(desk, site(), "checkout.shop.example.com", { ...by(now), isVouched: true }),
    ),
    moment(0.1, async (now) => {
      const wanted = { name: "agency import", mode: "live", expiresAt: null } as const;
      agency = (await addKey(desk, site(), wanted, by(now, colleague))).id;
    }),
    moment(0.22, (now) =>
      connect(
        desk,
        site(),
        "meta",
        { ...standinConnections.meta, "event.begin_checkout": "InitiateCheckout" },
        by(now, colleague),
      ),
    ),
    moment(0.38, (now) => setSite(desk, site(), { bot_threshold: "65" }, by(now))),
    moment(0.52, (now) => setSite(desk, site(), { bot_threshold: "60" }, by(now))),
    moment(0.71, async (now) => {
      const key = site().keys.find(({ id }) => id === agency);
      if (key) await revokeKey(desk, key, by(now));
    }),
    moment(0.9, (now) => setSite(desk, site(), { dedup_order: "120d" }, by(now, colleague))),
  ];
}

/** So that people can sign in at the stand-ins as they would at the platforms. */
export async function setOAuthApps(desk: Desk, at: number): Promise<void> {
  for (const { id: platform, known } of standins) {
    const clientId = known["clientId"] ?? known["appId"];
    const clientSecret = known["clientSecret"] ?? known["appSecret"];
    if (typeof clientId !== "string" || typeof clientSecret !== "string") continue;
    await setOAuthApp(desk, { platform, clientId, clientSecret }, { actor: owner, now: at });
  }
}
