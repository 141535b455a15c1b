// The operator's actions on a person's data. Every action but adding a visit is audited, without naming the person.

import { threadShare } from "../kernel/concurrency.ts";
import type { ConsentState, Identity, Visit, Sha256 } from "../kernel/event.ts";
import type { By } from "../kernel/refusal.ts";
import { operator, type PeoplePage } from "../store/people/people.ts";
import { erasedAction, type SourceRequest } from "../store/sources/sourceRequests.ts";
import type { Store } from "../store/store.ts";
import { addVisit, firstUtmOf } from "./records.ts";

export type PersonRequest = {
  siteId: string;
  emailSha256: Sha256;
  actor: string;
  now: number;
  /** The site's filter lists that contain the person. */
  listed?: { allowed: boolean; blocked: boolean };
};

type Listing = { id: string; settings: { allowedPersons: string[]; blockedPersons: string[] } };

export const newPersonRequest = (site: Listing, emailSha256: Sha256, by: By): PersonRequest => ({
  siteId: site.id,
  emailSha256,
  actor: by.actor,
  now: by.now,
  listed: {
    allowed: site.settings.allowedPersons.includes(emailSha256),
    blocked: site.settings.blockedPersons.includes(emailSha256),
  },
});

export async function addOperatorVisit(
  store: Store,
  { siteId, emailSha256, now }: PersonRequest,
  visit: Visit,
  forms: Identity["forms"],
  keepMs: number,
): Promise<void> {
  await store.people.change(siteId, async (rows) => {
    const identity = await rows.lockIdentity(emailSha256, now);
    const visits = addVisit(identity.visits, visit, now - keepMs);
    const changed = {
      visits,
      firstUtm: firstUtmOf(identity, visits),
      forms: { ...identity.forms, ...forms },
    };
    await rows.saveIdentity(emailSha256, changed, now);
  });
}

/** Sets the operator's decision: a grant lifts every refusal, and only the operator can lift a refusal that was set here. */
export async function setConsent(store: Store, request: PersonRequest, state: ConsentState): Promise<void> {
  const { siteId, emailSha256, now } = request;
  await store.people.change(siteId, async (rows) => {
    if (state === "granted") await rows.liftRefusals(emailSha256, now);
    await rows.decide(emailSha256, operator, state, now);
  });
  await audit(store, request, "consent set", { state });
}

/** Reads the stored data of a person. The access itself is audited. */
export async function findPerson(store: Store, request: PersonRequest) {
  const { siteId, emailSha256 } = request;
  const found = {
    identity: await store.people.findIdentity(siteId, emailSha256),
    consent: await store.people.readConsent(siteId, emailSha256),
    decisions: await store.people.listDecisions(siteId, emailSha256),
  };
  await audit(store, request, "person looked up", {});
  return found;
}

/**
 * Collects everything that is stored about a person. What may be long, because anybody can report about a person, is read while it is
 * asked for, in slices of the thread that accepts events.
 */
export async function exportPerson(store: Store, request: PersonRequest) {
  const { siteId, emailSha256 } = request;
  await audit(store, request, "person exported", {});
  return {
    emailSha256,
    identity: await store.people.findIdentity(siteId, emailSha256),
    consent: await store.people.listDecisions(siteId, emailSha256),
    consentHistory: historyOf(store, siteId, emailSha256),
    visitors: listVisitors(store, request),
    orders: await store.orders.listByPerson(siteId, emailSha256),
    sources: await store.senderRefs.listByPerson(siteId, emailSha256),
    waiting: await store.sourceRequests.listByPerson(siteId, emailSha256).then((some) => some.map(describeWaiting)),
    filterLists: request.listed ?? { allowed: false, blocked: false },
    events: listEvents(store, request),
  };
}

/** Reads page after page, in slices of the thread that accepts events. */
async function* inSlices<Item>(siteId: string, read: (after?: string) => Promise<PeoplePage<Item>>): AsyncGenerator<Item> {
  const rest = threadShare.begin(siteId);
  for (let after: string | null | undefined; after !== null;) {
    await rest();
    const { items, next } = await read(after);
    for (const item of items) {
      yield item;
      await rest();
    }
    after = next;
  }
}

const historyOf = (store: Store, siteId: string, subject: string) =>
  inSlices(siteId, (after) => store.people.listHistory(siteId, subject, after));

const findVisitors = (store: Store, { siteId, emailSha256 }: PersonRequest) =>
  inSlices(siteId, (after) => store.people.findVisitors(siteId, emailSha256, after));

/** Lists the browsers that submitted this email, with their decisions. Their visits are in the identity record. */
async function* listVisitors(store: Store, request: PersonRequest) {
  const { siteId } = request;
  for await (const id of findVisitors(store, request))
    yield { id, consent: await store.people.listDecisions(siteId, id), consentHistory: historyOf(store, siteId, id) };
}

const eventsInPage = 20;

/** Lists the person's events, newest first, but for damaged ones. */
async function* listEvents(store: Store, { siteId, emailSha256 }: PersonRequest) {
  const ids = inSlices(siteId, async (before) => {
    const page = await store.events.listPage(siteId, { emailSha256 }, { before: before ?? null, limit: eventsInPage });
    return { items: page.events.map(({ id }) => id), next: page.next };
  });
  for await (const id of ids) {
    const event = await store.events.get(siteId, id);
    if (!event || event === "damaged") continue;
    yield {
      ...event,
      deliveries: await store.deliveries.listByEvent(siteId, event.id),
      attempts: await store.deliveries.listAttempts(siteId, event.id),
      confirmations: await store.confirmations.listByEvents(siteId, [event.id]),
      corrections: await store.corrections.listByEvent(siteId, event.id),
    };
  }
}

const describeWaiting = ({ sourceId, at, type, deliveryId, reason }: SourceRequest) => ({
  sourceId,
  at,
  type,
  deliveryId,
  reason,
});

/** Counts what an erasure would remove. */
export async function countPersonData(
  store: Store,
  request: PersonRequest,
): Promise<{ identity: boolean; visitors: number; events: number; orders: number }> {
  const { siteId, emailSha256 } = request;
  const identity = await store.people.findIdentity(siteId, emailSha256);
  const visitors = new Set(visitorsOf(identity));
  for await (const id of findVisitors(store, request)) visitors.add(id);
  return {
    identity: identity !== null,
    visitors: visitors.size,
    events: await store.deletions.eventsOfPerson(siteId, emailSha256),
    orders: (await store.orders.listByPerson(siteId, emailSha256)).length,
  };
}

/**
 * Erases a person: the identity record, its visitors, and the person in events and orders. A refusal of consent stays, or the person
 * would be tracked again at the next visit; it consists of a hash and the word "denied".
 */
export async function erasePerson(
  store: Store,
  request: PersonRequest,
): Promise<{ events: number; visitors: number; orders: number }> {
  const { siteId, emailSha256, now } = request;
  const clicks = new Set<string>();
  const found = await eraseVisitors(store, request);
  const later = await store.people.change(siteId, async (rows) => {
    const identity = await rows.lockIdentity(emailSha256, now);
    for (const visit of identity.visits) for (const { value } of Object.values(visit.clickIds)) clicks.add(value);
    await rows.removeIdentity(emailSha256);
    await rows.deleteGrants([emailSha256]);
    // Some may have given the email after their page was read.
    return rows.eraseVisitors(visitorsOf(identity));
  });
  const visitors = found + later;
  // What waits becomes an event: it goes before events do.
  await store.sourceRequests.erasePerson(siteId, emailSha256);
  const events = await store.erase.events(siteId, emailSha256, now);
  await store.traffic.eraseClicks(siteId, [...clicks]);
  const orders = await store.orders.erasePerson(siteId, emailSha256);
  await store.senderRefs.erasePerson(siteId, emailSha256);
  // The allow list would still name the person. The block list stays, like a refusal.
  if (request.listed?.allowed) await removeFromAllowed(store, request);
  await audit(store, request, erasedAction, { events, visitors, orders });
  await store.sourceRequests.forgetRequests(siteId);
  await store.deletions.add("person");
  return { events, visitors, orders };
}

const visitorsOf = (identity: Identity | null) => [...new Set(identity?.visits.flatMap((one) => one.visitorId ?? []))];

/** Erases the visitors who gave the email, a page at a time: a site has hundreds of thousands. */
async function eraseVisitors(store: Store, { siteId, emailSha256 }: PersonRequest): Promise<number> {
  const rest = threadShare.begin(siteId);
  let erased = 0;
  for (let after: string | null | undefined; after !== null;) {
    await rest();
    const { items, next } = await store.people.findVisitors(siteId, emailSha256, after);
    if (items.length > 0) erased += await store.people.change(siteId, (rows) => rows.eraseVisitors(items));
    after = next;
  }
  return erased;
}

async function removeFromAllowed(store: Store, { siteId, emailSha256, actor, now }: PersonRequest): Promise<void> {
  const line = { siteId, actor, action: "person no longer allowed", detail: { why: "erased" }, at: now };
  await store.configuration.changeSettings(line, ({ allowedPersons, ...stored }) => ({
    ...stored,
    allowedPersons: Array.isArray(allowedPersons) ? allowedPersons.filter((one) => one !== emailSha256) : [],
  }));
}

async function audit(
  store: Store,
  { siteId, actor, now }: PersonRequest,
  action: string,
  detail: Record<string, unknown>,
): Promise<void> {
  await store.audit.add({ siteId, actor, action, detail, at: now });
}
