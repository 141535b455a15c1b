// What would become of a stored event under some settings: whether it is filtered, what consent withholds, and what each connection
// sends. Pure: the event and what is kept of its person are given.

import { addClickIds, attribute, withheldReason, type KnownPerson } from "../../identity/attribution.ts";
import type { Attribution, Conversion, FilterReason, Identity, SeenId, Visit } from "../../kernel/event.ts";
import { minuteMs } from "../../kernel/time.ts";
import { platformOf } from "../../platforms/index.ts";
import { withRuledValue } from "../../platforms/valueRules.ts";
import type { Connection } from "../../sites/directory.ts";
import type { SiteSettings } from "../../sites/settings.ts";
import type { StoredEvent } from "../../store/events/eventRow.ts";
import type { FoundPerson } from "../../store/people/people.ts";
import { filterReasons } from "../../traffic/filter.ts";
import { judgeStored } from "../../traffic/verdict.ts";
import { toConversion } from "../conversion.ts";
import { planDeliveries } from "../plan.ts";
import { toRequest } from "../platformCall.ts";

/** The settings of a site, saved or changed. */
export type Side = {
  settings: SiteSettings;
  connections: readonly Connection[];
  /** False where no rule for visits and people changes: then the stored verdicts hold. */
  judgesVisits: boolean;
  /** Null without a country file. */
  countryOf: ((address: string) => string | null) | null;
};

export type WouldBe = {
  connection: Connection;
  conversion: Conversion;
  /** Null where it would be sent. */
  skipped: string | null;
  value: number | null;
  currency: string;
};

export type Outcome = {
  filtered: readonly FilterReason[];
  attribution: Attribution;
  /** Empty for a filtered event. */
  deliveries: readonly WouldBe[];
};

/** A visit that came later played no part, but clocks may differ by this much. */
const clockSkewMs = 5 * minuteMs;

/** The record as it was known to the event; null where nothing of that time is kept. */
export function identityThen({ receivedAt }: StoredEvent, { identity }: FoundPerson): Identity | null {
  if (!identity || identity === "unreadable") return null;
  const visits = identity.visits.filter(({ seenAt }) => seenAt <= receivedAt + clockSkewMs);
  return visits.length ? { ...identity, visits } : null;
}

export function outcomeOf(event: StoredEvent, person: FoundPerson, then: Identity | null, side: Side): Outcome {
  const { settings, judgesVisits } = side;
  const identity = then && judgesVisits ? withVerdicts(then, side) : then;
  const filtered = judgesVisits ? filterAgain(event, identity, settings) : event.filterReasons;
  const attribution = attributeAgain(event, person, identity, side);
  const deliveries = filtered.length ? [] : planAgain(event, toConversion(event, event.platformEventId, attribution), side);
  return { filtered, attribution, deliveries };
}

const withVerdicts = (identity: Identity, { settings, countryOf }: Side): Identity => ({
  ...identity,
  visits: identity.visits.map((visit): Visit => {
    const { verdict: _stored, ...rest } = visit;
    const verdict = judgeStored(visit, settings, countryOf);
    return verdict ? { ...rest, verdict } : rest;
  }),
});

function filterAgain(event: StoredEvent, identity: Identity | null, settings: SiteSettings): FilterReason[] {
  const { emailSha256 } = event.person;
  if (emailSha256 !== undefined && settings.allowedPersons.includes(emailSha256)) return [];
  const reasons = filterReasons({ emailSha256, emailDomain: null, identity }, settings);
  // An email is kept as a hash: its domain is known only where it was a reason, and visits only while they are kept.
  for (const reason of event.filterReasons) {
    const { code, detail } = reason;
    if (code === "blocked domain" && detail !== null && settings.blockedDomains.includes(detail)) reasons.push(reason);
    if (code === "disposable domain" && settings.blockDisposable) reasons.push(reason);
    if (code === "only bot visits" && !identity) reasons.push(reason);
  }
  return reasons;
}

function attributeAgain(event: StoredEvent, person: FoundPerson, identity: Identity | null, side: Side): Attribution {
  const { attribution: stored } = event;
  const { settings, judgesVisits } = side;
  // Who has refused since is not looked at any more.
  const consent = person.consent === "denied" || person.consent === "unreadable" ? person.consent : stored.consent;
  const withheld = withheldReason(consent, settings.consentMode);
  if (withheld !== null) return { ...stored, consent, withheld, clickIds: {}, browserIds: {}, utm: {}, browser: null };
  const isStoredWhole = stored.withheld === null;
  if (!identity || (isStoredWhole && !judgesVisits)) return { ...stored, consent, withheld };
  const { emailSha256 } = event.person;
  const isTrusted = emailSha256 !== undefined && settings.allowedPersons.includes(emailSha256);
  const known: KnownPerson = { consent, withheld, identity };
  const attribution = attribute(known, event.time, { keepMs: settings.keepMs, isTrusted });
  addClickIds(attribution, clicksOfOthers(stored, identity), event.time);
  return attribution;
}

/** The click ids that no kept visit explains: the sender gave them. */
function clicksOfOthers({ clickIds }: Attribution, { visits }: Identity): Record<string, SeenId> {
  const isOfVisit = ([name, { value }]: [string, SeenId]) => visits.some((visit) => visit.clickIds[name]?.value === value);
  return Object.fromEntries(Object.entries(clickIds).filter((entry) => !isOfVisit(entry)));
}

/** A connection that is paused or needs reconnection is looked at as if it were active: the question is about settings. */
function planAgain(event: StoredEvent, conversion: Conversion, { connections }: Side): WouldBe[] {
  const planned = planDeliveries(
    conversion,
    connections.map((one) => ({ ...one, state: "active" })),
    event.receivedAt,
  );
  return planned.map(({ state, reason }, i): WouldBe => {
    const connection = connections[i] as Connection;
    const { value, currency } = withRuledValue(conversion, connection.settings);
    return { connection, conversion, skipped: state === "queued" ? null : (reason ?? state), value, currency };
  });
}

/** The fields of a request by their paths, without the places in lists. Headers hold secrets, and are left out. */
export function fieldsOf({ connection, conversion }: WouldBe, now: number): Map<string, string> {
  const fields = new Map<string, string>();
  const platform = platformOf(connection.platform);
  if (!platform) return fields;
  const { url, body } = toRequest({ platform, settings: connection.settings }, [conversion], now);
  const add = (path: string, value: string) => fields.set(path, `${fields.get(path) ?? ""}${value}\n`);
  const walk = (path: string, value: unknown): void => {
    if (Array.isArray(value)) for (const one of value) walk(path, one);
    else if (typeof value === "object" && value !== null)
      for (const [name, one] of Object.entries(value)) walk(path === "" ? name : `${path}.${name}`, one);
    else if (value !== null && value !== undefined) add(path, JSON.stringify(value));
  };
  if (URL.canParse(url)) for (const [name, value] of new URL(url).searchParams) add(name, value);
  if (body !== "") walk("", JSON.parse(body));
  return fields;
}
