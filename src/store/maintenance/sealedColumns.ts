// All sealed columns in one list: a change of the encryption key reseals them, and the check decrypts them.

import { readObject } from "../damagedRows.ts";
import { pushPlace } from "../access/pushDevices.ts";
import { connectionPlace } from "../sites/configuration.ts";
import { sourcePlace } from "../sites/sources.ts";
import type { Row } from "../engine/database.ts";
import { extraPlace } from "../events/eventRow.ts";
import { exportPlace } from "../export/dataExports.ts";
import { feedPlace } from "../reconciliation/feeds.ts";
import { appPlace, signInPlace } from "../sites/platformSignIns.ts";
import { sealedSettings, settingPlace } from "../sites/siteSettings.ts";
import { primaryKeyOf } from "../schema/tables.ts";
import { requestPlace } from "../sources/sourceRequests.ts";
import { botVisitPlace } from "../statistics/traffic.ts";
import { secretsPlace, urlPlace } from "../outbound/webhooks.ts";

export type SealedColumn = {
  table: string;
  /** The primary key, in its order. */
  key: readonly string[];
  column: string;
  /** The place that the value of a row is bound to. */
  place: (row: Row) => string;
  /** The condition for rows that have a sealed value. */
  where?: string;
};

const ofSite = (place: (siteId: string, id: string) => string) => (row: Row) => place(String(row.site_id), String(row.id));

/** The sealed settings of the installation, by name. */
export const sealedNames = { check: "seal check", access: "access secret", push: "push key" } as const;

const names = Object.values(sealedNames).map((name) => `'${name}'`);

const ofRequest = ({ site_id: siteId, source_id: sourceId, id }: Row) =>
  requestPlace(String(siteId), String(sourceId), String(id));

const columns: readonly Omit<SealedColumn, "key">[] = [
  { table: "connections", column: "credentials", place: ofSite(connectionPlace) },
  { table: "sources", column: "credentials", place: ofSite(sourcePlace) },
  { table: "oauth_apps", column: "credentials", place: (row) => appPlace(String(row.platform)) },
  { table: "platform_sign_ins", column: "record", place: ofSite(signInPlace) },
  { table: "webhooks", column: "url", place: ofSite(urlPlace) },
  { table: "webhooks", column: "secrets", place: ofSite(secretsPlace) },
  { table: "data_exports", column: "target", place: (row) => exportPlace(String(row.site_id)) },
  { table: "push_devices", column: "subscription", place: ({ id }) => pushPlace(String(id)) },
  { table: "order_feeds", column: "address", place: (row) => feedPlace(String(row.site_id)) },
  { table: "bot_visits", column: "record", place: ofSite(botVisitPlace) },
  { table: "source_shapes", column: "request", place: ofRequest, where: "request IS NOT NULL" },
  { table: "source_requests", column: "waiting", place: ofRequest, where: "waiting IS NOT NULL" },
  { table: "events", column: "extra", place: ofSite(extraPlace), where: "extra IS NOT NULL" },
  // These come last: once they are resealed, a node that has only the old key does not start.
  { table: "settings", column: "value", place: (row) => String(row.name), where: `name IN (${names.join(", ")})` },
];

export const sealedColumns: readonly SealedColumn[] = columns.map((one) => ({ ...one, key: primaryKeyOf(one.table) }));

/** Returns the sealed values inside the settings of a site; none where the settings cannot be read at all. */
export function sealedIn(siteId: string, settings: string): { name: string; sealed: string; place: string }[] {
  const stored = readObject(settings) ?? {};
  return sealedSettings.flatMap((name) => {
    const sealed = stored[name];
    return typeof sealed === "string" ? [{ name, sealed, place: settingPlace(siteId, name) }] : [];
  });
}
