// Where an alert is mended, and the words of the button that leads there.

import type { Answer } from "./api/api.ts";
import { searchOfMode } from "./lists/queryParams.ts";
import { commonText } from "../messages/common.ts";
import { guardText } from "../messages/guard.ts";

export type AlertLine = Answer<"GET /sites/:site/alerts">["open"][number];

const places: Record<AlertLine["kind"], string> = {
  "needs reconnection": "integrations",
  "success rate": "integrations/log",
  silence: "configuration/keys",
  webhook: "integrations/webhooks",
  "wrong keys": "configuration/keys",
  queue: "integrations/log",
  host: "configuration/domains",
  "accepted orders": "reconciliation",
  "order feed": "reconciliation",
  "data export": "integrations/export",
  "damaged data": "configuration/general",
  "not counted": "integrations/log",
  quality: "integrations/quality",
  "source silence": "sources",
  "wrong signatures": "sources",
  "source failing": "sources",
};

/** True for an alert whose page has a notice of its own. */
export const isShownByPage = ({ kind }: AlertLine): boolean => kind === "needs reconnection" || kind === "wrong keys";

const oauthApp = /^OAuth app /;

/** By the subject of the alert: what is damaged, if it is not the configuration of the site. */
const damagedPlaces = [
  [/^alertWebhook$/, "settings/alerts", "alertWebhook"],
  [oauthApp, "settings/oauth-apps", "oauthApps"],
  [/^events$/, "events", "events"],
  [/^bot visits$/, "bots/visits", "botVisits"],
] as const;

const needsOwner = ({ kind, subject }: AlertLine) => kind === "damaged data" && oauthApp.test(subject);

/** Says who can make a repair that this user may not make. */
export const whoRepairs = (alert: AlertLine): string => (needsOwner(alert) ? commonText.ownersOnly : commonText.adminsOnly);

/**
 * Alerts about a connection lead to its platform: to its form if the sign-in ended, else to its log. Null if the repair is a change
 * that this user may not make. `isOwner` is true for owners of the installation.
 */
export function repairOf(
  alert: AlertLine,
  nameOf: (platform: string) => string,
  { mayChange, isOwner }: { mayChange: boolean; isOwner: boolean },
): { path: string; search: Record<string, string | undefined>; label: string } | null {
  const { kind, platform, subject } = alert;
  const texts = guardText.alerts.repair;
  const isChange = kind === "needs reconnection" || kind === "damaged data";
  if (needsOwner(alert) ? !isOwner : isChange && !mayChange) return null;
  const live = searchOfMode("live");
  const damaged = kind === "damaged data" ? damagedPlaces.find(([pattern]) => pattern.test(subject)) : undefined;
  if (damaged) return { path: damaged[1], search: live, label: texts.damaged[damaged[2]] };
  if (places[kind] === "sources") return { path: `${places[kind]}/${subject}`, search: live, label: texts[kind] };
  if (platform === null) return { path: places[kind], search: live, label: texts[kind] };
  if (kind === "quality") return { path: `${places[kind]}/${subject}`, search: live, label: texts[kind] };
  const path = `integrations/${platform}`;
  // A platform may have several connections.
  const search = { connection: subject, ...live };
  if (kind === "needs reconnection") return { path, search, label: texts.reconnect(nameOf(platform)) };
  // Attempts and queues are counted with those of test events.
  const filter = kind === "not counted" ? { confirmation: kind } : searchOfMode("all");
  return { path, search: { ...search, tab: "log", ...filter }, label: texts.log(nameOf(platform)) };
}
