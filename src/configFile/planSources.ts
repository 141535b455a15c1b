// Plans the changes of a site's sources. A source is found by its name. Its address is made by the relay, and is in no file.

import type { Source } from "../sites/directory.ts";
import { findSite } from "../sites/manage.ts";
import {
  addSource,
  changeSource,
  checkSource,
  findSource,
  maxSources,
  refuseUnreadable,
  removeSource,
  setSourceState,
} from "../sites/sources.ts";
import { settingsOf } from "../sources/kind.ts";
import { kindOf } from "../sources/kinds/index.ts";
import type { Path } from "./document.ts";
import {
  check,
  isSameSecret,
  mustBeReference,
  reconcile,
  shownSecret,
  type Change,
  type ChangedLine,
  type PlannedSite,
  type Planning,
} from "./planning.ts";
import type { SourceEntry } from "./schema.ts";

export function planSources(
  planning: Planning,
  { site, host, path }: PlannedSite,
  entries: readonly SourceEntry[],
): Promise<Change[]> {
  const wanted = new Map<string, { entry: SourceEntry; path: Path }>();
  for (const [i, entry] of entries.entries()) {
    const own = [...path, "sources", i];
    if (wanted.has(entry.name))
      planning.faults.push({ path: [...own, "name"], message: "is the name of another source of the site." });
    wanted.set(entry.name, { entry, path: own });
  }
  return reconcile(planning, {
    limit: { max: maxSources, path: [...path, "sources"] },
    wanted,
    existing: (site?.sources ?? []).map((source) => [source.name, source] as const),
    plan: ({ entry, path: own }, existing) => planSource(planning, entry, existing, own, host),
    remove: (source) => ({
      what: `source "${source.name}" of ${host}`,
      loss: () => `Requests to the address of the source "${source.name}" are refused, and what it remembered of customers goes.`,
      run: () => removeSource(planning.context, source, planning.context.by),
    }),
  });
}

function planSource(planning: Planning, entry: SourceEntry, existing: Source | undefined, path: Path, host: string): Change[] {
  const { context } = planning;
  const { by } = context;
  const { name, kind, paused } = entry;
  const given = Object.fromEntries(
    Object.entries(entry.settings).flatMap(([setting, value]) => (value === undefined ? [] : [[setting, value]])),
  );
  const declared = settingsOf(kindOf(kind) ?? missingKind(kind));
  const secrets = new Set(declared.flatMap((one) => (one.secret ? [one.name] : [])));
  for (const setting of Object.keys(given))
    if (secrets.has(setting) && !planning.isReference([...path, "settings", setting]))
      planning.faults.push({ path: [...path, "settings", setting], message: mustBeReference });
  if (existing && existing.kind !== kind)
    planning.faults.push({ path: [...path, "kind"], message: `of this source is ${existing.kind}, and cannot change.` });
  else
    check(
      planning,
      (field) => [...path, "settings", field],
      () => checkSource(kind, existing, given, by.now),
      (field) => ({ given: given[field] ?? "", choices: declared.find((one) => one.name === field)?.choices ?? [] }),
    );
  const changed = Object.entries(given).filter(([setting, value]) => !isSame(existing, setting, value));
  const shown = (setting: string, value: string | null) => (value !== null && secrets.has(setting) ? shownSecret : value);
  const lines: ChangedLine[] = changed.map(([setting, value]) => ({
    name: setting,
    before: shown(setting, existing?.settings[setting] ?? (existing?.secrets[setting] ? shownSecret : null)),
    after: shown(setting, value),
  }));
  const isPaused = existing?.state === "paused";
  if (paused !== undefined && paused !== isPaused)
    lines.push({ name: "paused", before: existing ? String(isPaused) : null, after: String(paused) });
  if (existing && lines.length === 0) return [];
  if (existing) check(planning, path, () => refuseUnreadable(existing));
  return [
    {
      kind: existing ? "change" : "add",
      what: `source "${name}" of ${host}`,
      lines,
      async run(say) {
        const settings = Object.fromEntries(changed);
        const site = findSite(context, host);
        const known = existing && findSource([site], existing.id);
        const source = known
          ? await changeSource(context, known, { settings }, by)
          : (await addSource(context, site, kind, { name, settings }, by)).source;
        if (paused !== undefined && paused !== isPaused) await setSourceState(context, source, paused ? "paused" : "active", by);
        if (!existing) say(`Source ${source.id} of ${host} has a new address: 'cleancast source show ${source.id}' shows it.`);
      },
    },
  ];
}

function isSame(existing: Source | undefined, setting: string, value: string): boolean {
  const secret = existing?.secrets[setting]?.[0]?.value;
  return secret === undefined ? existing?.settings[setting] === value : isSameSecret(secret, value);
}

function missingKind(kind: string): never {
  throw new Error(`the schema accepted the kind ${kind}`);
}
