// Serves the question what changed settings would have done with stored events.

import type { Body } from "../../../contract/contract.ts";
import { whatIfSettings } from "../../../contract/whatIf/differences.ts";
import { urlFault } from "../../../delivery/addresses.ts";
import { findEventById } from "../../../delivery/trace/trace.ts";
import type { Side } from "../../../delivery/whatIf/outcome.ts";
import { whatIf, whatIfEvent } from "../../../delivery/whatIf/whatIf.ts";
import { say } from "../../../kernel/messages/message.ts";
import { Missing, Refusal, type By } from "../../../kernel/refusal.ts";
import { dayMs } from "../../../kernel/time.ts";
import { extraFieldsOf } from "../../../platforms/shared/mapping.ts";
import { costFieldsOf } from "../../../platforms/valueRules.ts";
import { findConnection, knownPlatform, planConnection, unreadableConnection, type Wanted } from "../../../sites/connect.ts";
import type { Connection, Site } from "../../../sites/directory.ts";
import { requireSettings } from "../../../sites/manage.ts";
import { SettingFault } from "../../../sites/settingForms.ts";
import { readSettings, type SiteSettings } from "../../../sites/settings.ts";
import type { Handlers } from "../../call.ts";
import type { ApiContext } from "../../context.ts";
import { readCallerTokens, readChanges } from "./connectionTests.ts";

type Name = "POST /sites/:site/what-if";
type Asked = Body<Name>;

/** Stands for the id of a connection that is not saved: every part of an answer names it alike. */
const unsavedId = "new";

/** The settings by which visits and people are judged. */
const judging = [
  "botThreshold",
  "evidence",
  "allowUserAgents",
  "denyUserAgents",
  "allowNetworks",
  "denyNetworks",
  "allowCountries",
  "denyCountries",
  "blockedDomains",
  "blockDisposable",
  "blockedPersons",
  "allowedPersons",
] as const satisfies readonly (keyof SiteSettings)[];

export function whatIfHandlers(context: ApiContext): Handlers<Name> {
  const { store, countryOf, allowPrivate } = context;

  function planChange(site: Site, id: string | undefined, platformId: string | undefined, wanted: Wanted, by: By): Connection {
    const checks = { ...by, checkAddress: (url: string) => urlFault(allowPrivate, url) };
    const saved = id === undefined ? undefined : findConnection([site], id);
    if (saved?.unreadable) throw unreadableConnection(saved.id);
    const platform = knownPlatform(saved?.platform ?? platformId ?? "");
    const planned = planConnection(site, platform, saved, wanted, checks);
    if (saved) return planned;
    // Connecting an account again changes its connection.
    const same = site.connections.find((one) => one.platform === platform.id && one.account === planned.account);
    return same ? planConnection(site, platform, same, wanted, checks) : { ...planned, id: unsavedId };
  }

  return {
    async "POST /sites/:site/what-if"({ site, body, actor, by }) {
      requireSettings(site);
      const settings = { ...site.settings, ...readChanged(body.settings) };
      let { connections } = site;
      if (body.connection) {
        const { id, platform = "", signIn, ...changes } = body.connection;
        const ofSignIn = id === undefined ? platform : findConnection([site], id).platform;
        const wanted = readChanges(changes, await readCallerTokens(context, actor, site, ofSignIn, signIn));
        const changed = planChange(site, id, platform, wanted, by);
        connections = [...connections.filter((one) => one.id !== changed.id), changed];
      }
      const judgesVisits = judging.some((name) => JSON.stringify(site.settings[name]) !== JSON.stringify(settings[name]));
      const shared = { judgesVisits, countryOf };
      const before: Side = { settings: site.settings, connections: site.connections, ...shared };
      const sides = { before, after: { settings, connections, ...shared } };
      const part = await (body.event === undefined
        ? whatIf(store, site.id, sides, { from: by.now - body.days * dayMs, to: by.now, cursor: readCursor(body.cursor) })
        : whatIfEvent(store, await findEvent(site, body.event), sides));
      const next = part.next && `${part.next.before}.${part.next.events}`;
      return { ...part, notes: notesOf(sides), next };
    },
  };

  async function findEvent(site: Site, id: string) {
    const event = await findEventById(store, site.id, id);
    if (!event) throw new Missing("event", say("event_of_other_site", { id }));
    return event;
  }
}

function readChanged(texts: Asked["settings"]): Partial<SiteSettings> {
  const known: readonly string[] = whatIfSettings;
  const other = Object.keys(texts).find((label) => !known.includes(label));
  if (other !== undefined) throw new Refusal("settings", say("what_if_setting", { setting: other, known }));
  const changed = readSettings(texts);
  if (changed instanceof SettingFault) throw new Refusal("settings", changed.said);
  return changed;
}

const cursorForm = /^([0-9a-z]{26})\.(\d{1,6})$/;

function readCursor(text: string | undefined) {
  if (text === undefined) return null;
  const [, before, events] = cursorForm.exec(text) ?? [];
  if (before === undefined) throw new Refusal("cursor", say("cursor_invalid"));
  return { before, events: Number(events) };
}

/** What was not kept, or not looked for, cannot be found in stored events. */
function notesOf({ before: { settings: saved, connections }, after }: { before: Side; after: Side }): string[] {
  const { settings: changed } = after;
  const fieldsOf = (of: readonly Connection[]) =>
    of.flatMap(({ settings }) => [...extraFieldsOf(settings), ...costFieldsOf(settings)]);
  const kept = fieldsOf(connections);
  const isAdded = changed.blockedDomains.some((domain) => !saved.blockedDomains.includes(domain));
  const isStricter = changed.blockDisposable && !saved.blockDisposable;
  const isOther = JSON.stringify(saved.evidence) !== JSON.stringify(changed.evidence);
  return [
    ...(isAdded || isStricter ? [say("what_if_domains")] : []),
    ...(isOther ? [say("what_if_evidence")] : []),
    ...(fieldsOf(after.connections).some((field) => !kept.includes(field)) ? [say("what_if_fields")] : []),
  ];
}
