// The scheduled export of a site. People set, show and remove it here; `cleancast export due` writes its files (due.ts).

import { readAddress, type AllowList } from "../delivery/addresses.ts";
import { timeOfId } from "../kernel/ids.ts";
import { say } from "../kernel/messages/message.ts";
import { checkAll, Missing, Refusal, type By } from "../kernel/refusal.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import type { Site } from "../sites/directory.ts";
import { auditLine, requireSettings } from "../sites/manage.ts";
import type { DataExport, ExportOptions, ExportTarget } from "../store/export/dataExports.ts";
import type { Store } from "../store/store.ts";
import { readBucketPlace } from "./target.ts";

export type ExportRequest = {
  /** `folder`, or `s3://BUCKET/PREFIX`. */
  to: string;
  endpoint?: string | undefined;
  region?: string | undefined;
  /** Those of an export to the same bucket stay, unless they are given. */
  keyId?: string | undefined;
  secret?: string | undefined;
  format?: ExportOptions["format"] | undefined;
  /** Adds the hash of the email. */
  people?: boolean | undefined;
  /** The first hour. By default the present one: the past is not exported. */
  since?: string | number | undefined;
};

type ExportStore = Pick<Store, "dataExports" | "exportRows">;
/** Which places are allowed. A folder is the operator's choice: others must not write files on this machine. */
type ExportPlaces = { allowPrivate: AllowList; exportFolder: string | null };

const maxSinceDays = 400;
const maxCredentialLength = 500;
const defaultRegion = "us-east-1";

export async function setDataExport(
  store: ExportStore,
  site: Site,
  wanted: ExportRequest,
  by: By & ExportPlaces,
): Promise<DataExport> {
  requireSettings(site);
  const before = await store.dataExports.find(site.id);
  const target = readTarget(wanted, before?.target ?? null, by);
  const options = {
    format: wanted.format ?? before?.options.format ?? "parquet",
    people: wanted.people ?? before?.options.people ?? false,
  };
  const since = wanted.since === undefined ? null : await readSince(store, site.id, wanted.since, by.now);
  const hours = hoursOf(before?.target && isSamePlace(before.target, target) ? before : null, since, by.now);
  const detail = { to: placeText(target), ...options, since: new Date(hours.fromHour).toISOString() };
  await store.dataExports.set(auditLine(site.id, "data export set", detail, by), { target, options, ...hours });
  return findDataExport(store, site.id);
}

/** At the same place, the files that are there stay, and an earlier beginning adds the hours before them. */
function hoursOf(before: DataExport | null, since: number | null, now: number) {
  if (before) {
    const { fromHour, liveHour, nextHour } = before;
    const first = Math.min(fromHour, since ?? fromHour);
    return { fromHour: first, liveHour, nextHour: first < fromHour ? first : nextHour };
  }
  const liveHour = Math.floor(now / hourMs) * hourMs;
  const fromHour = Math.min(liveHour, since ?? liveHour);
  return { fromHour, liveHour, nextHour: fromHour };
}

/** Returns the time from which the past is exported, or refuses it. */
export function checkSince(since: string | number, now: number): number {
  const at = typeof since === "number" ? since : Date.parse(since);
  if (!(at <= now && at >= now - maxSinceDays * dayMs))
    throw new Refusal("since", say("export_since_invalid", { max: maxSinceDays }));
  return at;
}

/** Hours before the first event would be empty. */
async function readSince(store: ExportStore, siteId: string, since: string | number, now: number): Promise<number> {
  const at = checkSince(since, now);
  const first = await store.exportRows.findFirst(siteId);
  return Math.floor(Math.max(at, first === null ? now : timeOfId(first)) / hourMs) * hourMs;
}

/** Reads where files go. `before` is where they went until now. */
export function readTarget(wanted: ExportRequest, before: ExportTarget | null, places: ExportPlaces): ExportTarget {
  const to = wanted.to.trim();
  if (to === "folder") {
    if (places.exportFolder === null) throw new Refusal("to", say("export_folder_missing"));
    return { kind: "folder" };
  }
  const place = readBucketPlace(to);
  if (!place) throw new Refusal("to", say("export_place_invalid"));
  const known = before?.kind === "bucket" && before.bucket === place.bucket ? before : null;
  const given = { keyId: wanted.keyId?.trim(), secret: wanted.secret?.trim() };
  let endpoint = "";
  // The credentials of one store are not sent to another.
  const keptBy = () => (known?.endpoint === endpoint ? known : null);
  checkAll(
    () => void (endpoint = readEndpoint(wanted.endpoint ?? known?.endpoint ?? "", places.allowPrivate)),
    () => checkRegion(wanted.region?.trim() || defaultRegion),
    () => checkCredentials(given.keyId || keptBy()?.keyId, given.secret || keptBy()?.secret),
  );
  const kept = keptBy();
  const [keyId = "", secret = ""] = [given.keyId || kept?.keyId, given.secret || kept?.secret];
  return { kind: "bucket", endpoint, region: wanted.region?.trim() || kept?.region || defaultRegion, ...place, keyId, secret };
}

function checkRegion(region: string): void {
  if (!/^[a-z0-9-]{1,40}$/.test(region)) throw new Refusal("region", say("export_region_invalid"));
}

function checkCredentials(keyId: string | undefined, secret: string | undefined): void {
  if (!keyId || !secret) throw new Refusal("secret", say("export_credentials_needed"));
  for (const text of [keyId, secret])
    if (text.length > maxCredentialLength || !/^[\x21-\x7e]+$/.test(text))
      throw new Refusal("secret", say("export_credentials_invalid", { max: maxCredentialLength }));
}

function readEndpoint(text: string, allow: AllowList): string {
  if (text.trim() === "") throw new Refusal("endpoint", say("export_endpoint_needed"));
  const read = readAddress(allow, text);
  if ("fault" in read) throw new Refusal("endpoint", read.fault);
  if (new URL(read.url).search !== "") throw new Refusal("endpoint", say("export_endpoint_needed"));
  return read.url;
}

export function isSamePlace(one: ExportTarget, other: ExportTarget): boolean {
  if (one.kind === "folder" || other.kind === "folder") return one.kind === other.kind;
  return one.endpoint === other.endpoint && one.bucket === other.bucket && one.prefix === other.prefix;
}

export const placeText = (target: ExportTarget): string =>
  target.kind === "folder" ? "folder" : `s3://${target.bucket}/${target.prefix}`;

async function findDataExport(store: Pick<Store, "dataExports">, siteId: string): Promise<DataExport> {
  const found = await store.dataExports.find(siteId);
  if (found) return found;
  throw new Missing("export", say("no_data_export"));
}

export async function removeDataExport(store: Pick<Store, "dataExports">, siteId: string, by: By): Promise<void> {
  if (!(await store.dataExports.remove(auditLine(siteId, "data export removed", {}, by))))
    throw new Missing("export", say("no_data_export"));
}

/** The relay tries within a minute. */
export async function exportSoon(store: Pick<Store, "dataExports">, siteId: string): Promise<void> {
  await findDataExport(store, siteId);
  await store.dataExports.makeDue(siteId);
}
