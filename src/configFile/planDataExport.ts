// Plans the change of a site's scheduled export of data. A site has at most one.

import {
  checkSince,
  isSamePlace,
  placeText,
  readTarget,
  removeDataExport,
  setDataExport,
  type ExportRequest,
} from "../export/manage.ts";
import { findSite } from "../sites/manage.ts";
import type { ExportTarget } from "../store/export/dataExports.ts";
import {
  check,
  isSameSecret,
  mustBeReference,
  shownSecret,
  type Change,
  type ChangedLine,
  type PlannedSite,
  type Planning,
} from "./planning.ts";
import type { DataExportEntry } from "./schema.ts";

export async function planDataExport(
  planning: Planning,
  { site, host, path: sitePath }: PlannedSite,
  entry: DataExportEntry,
): Promise<Change[]> {
  const { context, faults } = planning;
  const { store, by, allowPrivate, exportFolder } = context;
  const path = [...sitePath, "data_export"];
  const existing = site ? await store.dataExports.find(site.id) : null;
  const what = `data export of ${host}`;
  if (entry === "off") return existing ? [{ kind: "remove", what, run: () => removeDataExport(store, existing.siteId, by) }] : [];
  if (entry.secret !== undefined && !planning.isReference([...path, "secret"]))
    faults.push({ path: [...path, "secret"], message: mustBeReference });
  const given: ExportRequest = { ...entry, keyId: entry.key_id };
  const nameOf: Record<string, string> = { keyId: "key_id" };
  const target = check(
    planning,
    (field) => [...path, nameOf[field] ?? field],
    () => readTarget(given, existing?.target ?? null, { allowPrivate, exportFolder }),
  );
  // A file is applied again and again, and its `since` grows older than one may be.
  const isNewPlace = !existing || (target !== null && !(existing.target && isSamePlace(existing.target, target)));
  const since = isNewPlace ? entry.since : undefined;
  if (since !== undefined) check(planning, [...path, "since"], () => checkSince(since, by.now));
  if (!target) return [];
  const options = {
    format: entry.format ?? existing?.options.format ?? "parquet",
    people: entry.people ?? existing?.options.people ?? false,
  };
  const before = existing && {
    ...describe(existing.target),
    format: existing.options.format,
    people: String(existing.options.people),
  };
  const after = { ...describe(target), format: options.format, people: String(options.people) };
  const lines = Object.entries(after).flatMap(([name, value]): ChangedLine[] => {
    const old = before?.[name as keyof typeof after] ?? null;
    return value === null || old === value ? [] : [{ name, before: old, after: value }];
  });
  if (target.kind === "bucket") {
    const old = existing?.target?.kind === "bucket" ? existing.target.secret : null;
    if (old === null || !isSameSecret(old, target.secret))
      lines.push({ name: "secret", before: old === null ? null : shownSecret, after: shownSecret });
  }
  if (since !== undefined) lines.push({ name: "since", before: null, after: since });
  if (lines.length === 0) return [];
  return [
    {
      kind: existing ? "change" : "add",
      what,
      lines,
      run: () => setDataExport(store, findSite(context, host), { ...given, since }, { ...by, allowPrivate, exportFolder }),
    },
  ];
}

function describe(target: ExportTarget | null) {
  const { endpoint, region, keyId } = target?.kind === "bucket" ? target : { endpoint: null, region: null, keyId: null };
  return { to: target ? placeText(target) : null, endpoint, region, key_id: keyId };
}
