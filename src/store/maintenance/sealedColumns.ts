// Everything that rests sealed, in one list: what a change of the key must go through, and what the check opens.

import { connectionPlace } from "../sites/configuration.ts";
import type { Row } from "../engine/database.ts";
import { extraPlace } from "../events/eventRow.ts";
import { appPlace, signInPlace } from "../sites/platformSignIns.ts";
import { sealedSettings, settingPlace } from "../sites/siteSettings.ts";
import { botVisitPlace } from "../statistics/traffic.ts";
import { secretsPlace, urlPlace } from "../outbound/webhooks.ts";

export type SealedColumn = {
  table: string;
  /** The primary key, in its order. */
  key: readonly string[];
  column: string;
  /** What the value of a row is bound to. */
  place: (row: Row) => string;
  /** Which of its rows have one. */
  where?: string;
};

const ofSite = (place: (siteId: string, id: string) => string) => (row: Row) =>
  place(String(row.site_id), String(row.id));

/** Settings of the installation that are sealed, under their own names. */
export const sealedNames = { check: "seal check", access: "access secret" } as const;

const names = Object.values(sealedNames).map((name) => `'${name}'`);

export const sealedColumns: readonly SealedColumn[] = [
  {
    table: "connections",
    key: ["site_id", "id"],
    column: "credentials",
    place: ofSite(connectionPlace),
  },
  {
    table: "oauth_apps",
    key: ["platform"],
    column: "credentials",
    place: (row) => appPlace(String(row.platform)),
  },
  { table: "sign_ins", key: ["site_id", "id"], column: "record", place: ofSite(signInPlace) },
  { table: "webhooks", key: ["site_id", "id"], column: "url", place: ofSite(urlPlace) },
  { table: "webhooks", key: ["site_id", "id"], column: "secrets", place: ofSite(secretsPlace) },
  { table: "bot_visits", key: ["site_id", "id"], column: "record", place: ofSite(botVisitPlace) },
  {
    table: "events",
    key: ["site_id", "id"],
    column: "extra",
    place: ofSite(extraPlace),
    where: "extra IS NOT NULL",
  },
  // Last: from here on a node that has only the old key does not start any more.
  {
    table: "settings",
    key: ["name"],
    column: "value",
    place: (row) => String(row.name),
    where: `name IN (${names.join(", ")})`,
  },
];

/** The sealed values inside the settings of a site. */
export function sealedIn(
  siteId: string,
  settings: string,
): { name: string; sealed: string; place: string }[] {
  const stored = JSON.parse(settings) as Record<string, unknown>;
  return sealedSettings.flatMap((name) => {
    const sealed = stored[name];
    return typeof sealed === "string" ? [{ name, sealed, place: settingPlace(siteId, name) }] : [];
  });
}
