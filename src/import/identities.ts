// Rows as visits of people: click ids, UTM fields and browser ids, with the time they were seen; and what people decided.
// A row that is taken in again finds its visit there and changes nothing.

import type { ConsentState, Identity, Visit, Sha256 } from "../kernel/event.ts";
import { browserIds, clickIdName, isUtmField } from "../identity/clickIds.ts";
import { looksLikeEmail } from "../identity/email.ts";
import { personOf } from "../identity/person.ts";
import { firstUtmOf, joinVisits } from "../identity/records.ts";
import type { Site } from "../sites/directory.ts";
import { effectiveConsent, operator, type PeopleRows } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import { textIn, type Reading } from "./reading.ts";
import type { Cells, TableRow } from "./table.ts";
import type { Outcome } from "./tally.ts";
import { readTime, ValueFault } from "./values.ts";

export type IdentityImport = {
  store: Pick<Store, "people">;
  site: () => Site;
  reading: Reading;
  now: () => number;
  /** Only checks the rows. */
  dryRun: boolean;
};

type Entry = {
  emailSha256: Sha256;
  forms: Identity["forms"];
  visit: Visit | null;
  consent: ConsentState | null;
};

const maxIdLength = 1024;
const futureMs = 5 * 60_000;

/** Takes rows in; resolves when all of them are durable. */
export async function takeIdentities(rows: readonly TableRow[], on: IdentityImport): Promise<Outcome[]> {
  const { store, dryRun } = on;
  const now = on.now();
  const site = on.site();
  const { keepMs } = site.settings;
  return Promise.all(
    rows.map(async (row): Promise<Outcome> => {
      const entry = "fault" in row ? row.fault : entryOf(row.cells, keepMs, now, on.reading);
      if (typeof entry === "string") return { became: "refused", reason: entry };
      if (dryRun) return { became: "imported", results: {} };
      const isNew = await store.people.change(site.id, (people) => enter(people, entry, now, now - keepMs));
      return isNew ? { became: "imported", results: {} } : { became: "duplicate" };
    }),
  );
}

/** True when it says something new. */
async function enter(
  people: PeopleRows,
  { emailSha256, forms, visit, consent }: Entry,
  now: number,
  oldest: number,
): Promise<boolean> {
  const isDecided = consent !== null && (await decide(people, emailSha256, consent, now));
  if (!visit) return isDecided;
  const identity = await people.lockIdentity(emailSha256, now);
  const known = identity.visits.find((one) => one.visitorId === null && one.seenAt === visit.seenAt);
  const joined: Visit = known
    ? {
        ...known,
        clickIds: { ...known.clickIds, ...visit.clickIds },
        browserIds: { ...known.browserIds, ...visit.browserIds },
        utm: { ...known.utm, ...visit.utm },
      }
    : visit;
  if (known && JSON.stringify(known) === JSON.stringify(joined)) return isDecided;
  const visits = joinVisits(identity.visits, [joined], oldest);
  const changed = { visits, firstUtm: firstUtmOf(identity, visits), forms: { ...identity.forms, ...forms } };
  await people.saveIdentity(emailSha256, changed, now);
  return true;
}

/** The operator's word, with one limit: a consent in a file, maybe an old one, never lifts a refusal that was made here. */
async function decide(
  people: PeopleRows,
  emailSha256: Sha256,
  state: ConsentState,
  now: number,
): Promise<boolean> {
  const decisions = await people.listDecisionsAbout(emailSha256);
  const own = decisions.find(({ givenBy }) => givenBy === operator)?.state;
  const stands = effectiveConsent(decisions.map((decision) => decision.state));
  if (own === state || (state === "granted" && (stands === "denied" || stands === "unreadable")))
    return false;
  await people.decide(emailSha256, operator, state, now);
  return true;
}

function entryOf(cells: Cells, keepMs: number, now: number, reading: Reading): Entry | string {
  const text = (field: string) => textIn(cells, field, reading);
  const [email, hashedEmail] = [text("email"), text("hashed_email")];
  if (email === "" && hashedEmail === "") return "email or hashed_email required";
  if (email !== "" && !looksLikeEmail(email)) return "email is not an email address";
  if (email === "" && !/^[0-9a-f]{64}$/i.test(hashedEmail))
    return "hashed_email must be the SHA-256 of the lower-cased email as 64 hex characters";
  const { emailSha256, ...forms } = personOf({ email, emailSha256: hashedEmail });

  const consent = text("consent").toLowerCase();
  if (consent !== "" && consent !== "granted" && consent !== "denied")
    return "consent must be granted or denied";
  const visit = visitOf(text, keepMs, now, reading);
  if (typeof visit === "string") return visit;
  if (!visit && consent === "") return "there is no click id, UTM field, browser id or consent in the row";
  return { emailSha256, forms, visit, consent: consent === "" ? null : consent };
}

function visitOf(
  text: (field: string) => string,
  keepMs: number,
  now: number,
  { mapping, defaults, rules }: Reading,
): Visit | string | null {
  const ids = {
    clickIds: {} as Visit["clickIds"],
    browserIds: {} as Visit["browserIds"],
    utm: {} as Visit["utm"],
  };
  const seenAt = readTime("seenAt", text("seenAt"), rules);
  let some = false;
  for (const field of new Set([...Object.keys(mapping), ...Object.keys(defaults)])) {
    const value = text(field);
    if (value === "") continue;
    const clickId = clickIdName(field);
    const isId = clickId !== undefined || isUtmField(field) || browserIds.some(({ name }) => name === field);
    if (!isId) continue;
    if (value.length > maxIdLength || value.includes("\0") || !value.isWellFormed())
      return `${field} is longer than ${maxIdLength} characters, or has one that cannot be stored`;
    some = true;
    if (clickId) ids.clickIds[clickId] = { value, seenAt: Number(seenAt) };
    else if (isUtmField(field)) ids.utm[field] = value;
    else ids.browserIds[field] = value;
  }
  if (!some) return null;
  if (seenAt instanceof ValueFault) return seenAt.sentence;
  if (seenAt > now + futureMs) return "seenAt lies in the future";
  if (seenAt < now - keepMs)
    return `seenAt is older than visits are kept (${Math.round(keepMs / 86_400_000)} days)`;
  return { visitorId: null, seenAt, browser: null, ...ids };
}
