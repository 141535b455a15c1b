// Imports rows as visits (click ids, UTM fields and browser ids with their time) and as consent decisions. A row that is
// imported again changes nothing.

import { say } from "../kernel/messages/message.ts";
import { dayMs, minuteMs } from "../kernel/time.ts";
import type { ConsentState, Identity, Sha256, Visit } from "../kernel/event.ts";
import { holdsAddress, maskAddresses } from "../kernel/maskAddresses.ts";
import { browserIds, clickIdName, isUtmField } from "../identity/clickIds.ts";
import { hashPerson, readEmail, readSha256, type EmailPerson } from "../identity/person.ts";
import { firstUtmOf, joinVisits } from "../identity/records.ts";
import type { Site } from "../sites/directory.ts";
import { effectiveConsent, operator, type PeopleRows } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import { readCellText, type RowFormat } from "../tables/columns.ts";
import type { Cells, TableRow } from "../tables/table.ts";
import type { Outcome } from "./tally.ts";
import { readTime, ValueFault } from "../tables/values.ts";

type IdentityImport = {
  store: Pick<Store, "people">;
  site: () => Site;
  format: RowFormat;
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
const maxFutureMs = 5 * minuteMs;

/** Resolves when all rows are durable. */
export async function importIdentities(rows: readonly TableRow[], options: IdentityImport): Promise<Outcome[]> {
  const { store, dryRun } = options;
  const now = options.now();
  const site = options.site();
  const { keepMs } = site.settings;
  return Promise.all(
    rows.map(async (row): Promise<Outcome> => {
      const entry = "fault" in row ? row.fault : readEntry(row.cells, keepMs, now, options.format);
      if (typeof entry === "string") return { status: "refused", reason: entry };
      if (dryRun) return { status: "imported", results: {} };
      const isNew = await store.people.change(site.id, (people) => saveEntry(people, entry, now, now - keepMs));
      return isNew ? { status: "imported", results: {} } : { status: "duplicate" };
    }),
  );
}

/** Returns true when something changed. */
async function saveEntry(
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

/** Saves an operator's decision. A consent from a file, which may be old, never lifts a refusal that was recorded here. */
async function decide(people: PeopleRows, emailSha256: Sha256, state: ConsentState, now: number): Promise<boolean> {
  const decisions = await people.listDecisionsAbout(emailSha256);
  const own = decisions.find(({ givenBy }) => givenBy === operator)?.state;
  const current = effectiveConsent(decisions.map((decision) => decision.state));
  if (own === state || (state === "granted" && (current === "denied" || current === "unreadable"))) return false;
  await people.decide(emailSha256, operator, state, now);
  return true;
}

function readEntry(cells: Cells, keepMs: number, now: number, format: RowFormat): Entry | string {
  const text = (field: string) => readCellText(cells, field, format);
  const person = readPerson(text("email"), text("hashed_email"));
  if (typeof person === "string") return person;
  const { emailSha256, ...forms } = person;

  const consent = text("consent").toLowerCase();
  if (consent !== "" && consent !== "granted" && consent !== "denied") return "consent must be granted or denied";
  const visit = readVisit(text, keepMs, now, format);
  if (typeof visit === "string") return visit;
  if (!visit && consent === "") return "there is no click id, UTM field, browser id or consent in the row";
  return { emailSha256, forms, visit, consent: consent === "" ? null : consent };
}

function readPerson(emailText: string, hashText: string): EmailPerson | string {
  if (emailText === "" && hashText === "") return "email or hashed_email required";
  const email = readEmail(emailText);
  if (email) return hashPerson({ email });
  if (emailText !== "") return "email is not an email address";
  const emailSha256 = readSha256(hashText);
  return emailSha256
    ? hashPerson({ emailSha256 })
    : "hashed_email must be the SHA-256 of the lower-cased email as 64 hex characters";
}

function readVisit(
  text: (field: string) => string,
  keepMs: number,
  now: number,
  { mapping, defaults, rules }: RowFormat,
): Visit | string | null {
  const ids = {
    clickIds: {} as Visit["clickIds"],
    browserIds: {} as Visit["browserIds"],
    utm: {} as Visit["utm"],
  };
  const seenAt = readTime("seenAt", text("seenAt"), rules);
  let hasIds = false;
  for (const field of new Set([...Object.keys(mapping), ...Object.keys(defaults)])) {
    const value = text(field);
    if (value === "") continue;
    const clickId = clickIdName(field);
    const isId = clickId !== undefined || isUtmField(field) || browserIds.some(({ name }) => name === field);
    if (!isId) continue;
    if (value.length > maxIdLength || value.includes("\0") || !value.isWellFormed())
      return say("id_not_storable", { field, max: maxIdLength });
    if (!isUtmField(field) && holdsAddress(value)) return say("id_is_email", { field });
    hasIds = true;
    if (clickId) ids.clickIds[clickId] = { value, seenAt: Number(seenAt) };
    else if (isUtmField(field)) ids.utm[field] = maskAddresses(value);
    else ids.browserIds[field] = value;
  }
  if (!hasIds) return null;
  if (seenAt instanceof ValueFault) return seenAt.said;
  if (seenAt > now + maxFutureMs) return "seenAt lies in the future";
  if (seenAt < now - keepMs) return say("seen_at_too_old", { days: Math.round(keepMs / dayMs) });
  return { visitorId: null, seenAt, browser: null, ...ids };
}
