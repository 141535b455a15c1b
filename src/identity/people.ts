// What the operator does with a person's data: enter, decide, export, erase. Each leaves an audit line that names no one.

import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import type { ConsentState, Identity, Visit, Sha256 } from "../kernel/event.ts";
import { operator } from "../store/people/people.ts";
import type { Store } from "../store/store.ts";
import { addVisit, firstUtmOf } from "./records.ts";

export type Asked = {
  siteId: string;
  emailSha256: Sha256;
  actor: string;
  now: number;
  /** On which of the site's lists the person is. */
  listed?: { allowed: boolean; blocked: boolean };
};

type Listing = { id: string; settings: { allowedPersons: string[]; blockedPersons: string[] } };

export const askedOf = (site: Listing, emailSha256: Sha256, by: { actor: string; now: number }): Asked => ({
  siteId: site.id,
  emailSha256,
  actor: by.actor,
  now: by.now,
  listed: {
    allowed: site.settings.allowedPersons.includes(emailSha256),
    blocked: site.settings.blockedPersons.includes(emailSha256),
  },
});

export async function enterVisit(
  store: Store,
  { siteId, emailSha256, now }: Asked,
  visit: Visit,
  forms: Identity["forms"],
  keepMs: number,
): Promise<void> {
  await store.people.change(siteId, async (rows) => {
    const identity = await rows.lockIdentity(emailSha256, now);
    const visits = addVisit(identity.visits, visit, now - keepMs);
    await rows.saveIdentity(
      emailSha256,
      { visits, firstUtm: firstUtmOf(identity, visits), forms: { ...identity.forms, ...forms } },
      now,
    );
  });
}

/** The operator's word: a grant lifts every refusal, a refusal is lifted by nobody else. */
export async function decideFor(store: Store, asked: Asked, state: ConsentState): Promise<void> {
  const { siteId, emailSha256, now } = asked;
  await store.people.change(siteId, async (rows) => {
    if (state === "granted") await rows.liftRefusals(emailSha256, now);
    await rows.decide(emailSha256, operator, state, now);
  });
  await audit(store, asked, "consent set", { state });
}

/** What is known of a person. Looking is access to their data, and is written down too. */
export async function findPerson(store: Store, asked: Asked) {
  const { siteId, emailSha256 } = asked;
  const found = {
    identity: await store.people.findIdentity(siteId, emailSha256),
    consent: await store.people.readConsent(siteId, emailSha256),
    decisions: await store.people.listDecisions(siteId, emailSha256),
  };
  await audit(store, asked, "person looked up", {});
  return found;
}

/** Everything that is stored about a person. */
export async function exportPerson(store: Store, asked: Asked) {
  const { siteId, emailSha256 } = asked;
  const events = [];
  for (let page = await store.events.list(siteId, { emailSha256, limit: 200 }); page.length;) {
    for (const event of page) {
      events.push({
        ...event,
        deliveries: await store.deliveries.listByEvent(siteId, event.id),
        attempts: await store.deliveries.listAttempts(siteId, event.id),
      });
    }
    const before = page.at(-1)?.id ?? "";
    await yieldToEventLoop();
    page = await store.events.list(siteId, { emailSha256, limit: 200, before });
  }
  const exported = {
    emailSha256,
    identity: await store.people.findIdentity(siteId, emailSha256),
    consent: await store.people.listDecisions(siteId, emailSha256),
    consentHistory: await store.people.listHistory(siteId, emailSha256),
    visitors: await visitorsOf(store, asked),
    filterLists: asked.listed ?? { allowed: false, blocked: false },
    events,
  };
  await audit(store, asked, "person exported", { events: events.length });
  return exported;
}

/** The browsers that handed in this email, and what each decided. Their visits stand in the identity record. */
async function visitorsOf(store: Store, { siteId, emailSha256 }: Asked) {
  const visitors = [];
  for (const id of await store.people.change(siteId, (rows) => rows.findVisitors(emailSha256)))
    visitors.push({
      id,
      consent: await store.people.listDecisions(siteId, id),
      consentHistory: await store.people.listHistory(siteId, id),
    });
  return visitors;
}

/**
 * Forgets a person: identity record, the visitors behind it, and what events say of them. A refusal stays, or the
 * person would be tracked again at the next visit; it is a hash and the word "denied".
 */
export async function erasePerson(store: Store, asked: Asked): Promise<{ events: number; visitors: number }> {
  const { siteId, emailSha256, now } = asked;
  const visitors = await store.people.change(siteId, async (rows) => {
    const identity = await rows.lockIdentity(emailSha256, now);
    const ids = new Set([
      ...identity.visits.flatMap((visit) => visit.visitorId ?? []),
      ...(await rows.findVisitors(emailSha256)),
    ]);
    for (const id of ids) {
      await rows.removeVisitor(id);
      await rows.deleteGrants(id);
    }
    await rows.removeIdentity(emailSha256);
    await rows.deleteGrants(emailSha256);
    return ids.size;
  });
  const events = await store.erase.events(siteId, emailSha256, now);
  // The list of those who are never filtered would name them. Being blocked is like a refusal, and stays.
  if (asked.listed?.allowed) await takeOffList(store, asked);
  await audit(store, asked, "person erased", { events, visitors });
  return { events, visitors };
}

async function takeOffList(store: Store, { siteId, emailSha256, actor, now }: Asked): Promise<void> {
  const line = { siteId, actor, action: "person no longer allowed", detail: { why: "erased" }, at: now };
  await store.configuration.changeSettings(line, ({ allowedPersons, ...stored }) => ({
    ...stored,
    allowedPersons: Array.isArray(allowedPersons) ? allowedPersons.filter((one) => one !== emailSha256) : [],
  }));
}

async function audit(
  store: Store,
  { siteId, actor, now }: Asked,
  action: string,
  detail: Record<string, unknown>,
): Promise<void> {
  await store.audit.add({ siteId, actor, action, detail, at: now });
}
