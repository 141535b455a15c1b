// The events of the demo's past: planned by chance, then taken through the relay's own rungs, so that whatever the
// dashboard shows of them is what the relay made of them.

import { storeReport } from "../../src/identity/visits.ts";
import { hashPerson, Plain, PlainEmail } from "../../src/identity/person.ts";
import type { ConsentState, Event, Mode, Person, Verdict, Visit } from "../../src/kernel/event.ts";
import { uuidv7 } from "../../src/kernel/ids.ts";
import { relay, type Relay } from "../../src/pipeline.ts";
import type { Site } from "../../src/sites/directory.ts";
import type { Bot } from "./bots.ts";
import { alphanumeric, type Chance } from "./chance.ts";
import { coming, newCustomer, visitOf, type Customer } from "./people.ts";
import type { Opened } from "./sites.ts";
import { dayMs } from "./rhythm.ts";

type PlannedVisit = Omit<Visit, "visitorId">;

export type Planned = {
  at: number;
  opened: Opened;
  mode: Mode;
  customer: Customer;
  /** Known of those who matter: most senders hash before they send. */
  domain: string | null;
  name: string;
  value: number | null;
  currency: string;
  orderId: string | null;
  visitorId: string;
  visits: PlannedVisit[];
  /** What the customer said to the banner, if anything. */
  consent: ConsentState | null;
  /** How often the sender sent it again. */
  again: number;
};

type Sale = { customer: Customer; orderId: string; value: number; currency: string };

const throwAway = ["mailinator.com", "guerrillamail.com", "yopmail.com"];
const minuteMs = 60_000;

/** Plans what happens at a site, moment after moment. */
export function plannerOf(opened: Opened, bots: readonly Bot[], chance: Chance): (at: number) => Planned {
  const { demo } = opened;
  const known: Customer[] = [];
  const sales: Sale[] = [];
  let customers = 0;
  let orders = 104_200;

  function whoIs(domain: string | undefined): Customer {
    if (!domain && known.length > 20 && chance.happens(0.18)) return chance.oneOf(known.slice(-600));
    const customer = newCustomer(chance, ++customers, domain);
    if (!domain) known.push(customer);
    return customer;
  }

  function visitsBefore(at: number, verdict: Verdict | null): PlannedVisit[] {
    const count = verdict
      ? 1
      : chance.weighted([
          { weight: 72, n: 1 },
          { weight: 20, n: 2 },
          { weight: 8, n: 3 },
        ]).n;
    const times = [at - chance.whole(2, 40) * minuteMs];
    while (times.length < count) times.unshift(Math.floor(at - (0.5 + 11 * chance.number()) * dayMs));
    return times
      .toSorted((one, other) => one - other)
      .map((time) => ({
        ...visitOf(coming(chance, demo.host, time), time),
        ...(verdict ? { verdict } : {}),
      }));
  }

  return (at) => {
    const kind = chance.weighted(demo.kinds);
    const sold =
      kind.name === "refund"
        ? sales[chance.whole(Math.max(0, sales.length - 400), sales.length - 1)]
        : undefined;
    const name = kind.name === "refund" && !sold ? "purchase" : kind.name;
    const luck = chance.number();
    const domain = sold
      ? undefined
      : luck < 0.011
        ? chance.oneOf(throwAway)
        : luck < 0.016
          ? "competitor.example"
          : undefined;
    const customer = sold?.customer ?? whoIs(domain);
    const isBot = !sold && luck > 0.984;
    const currency = sold?.currency ?? (chance.happens(demo.dollars) ? "USD" : "EUR");
    const value =
      sold?.value ??
      (kind.value === null
        ? null
        : Math.round(kind.value * (0.25 + 1.5 * chance.number() ** 1.6) * 100) / 100);
    const orderId = sold?.orderId ?? (kind.hasOrder ? `${demo.orderPrefix}${++orders}` : null);
    if (name === "purchase" && orderId && !domain && !isBot)
      sales.push({ customer, orderId, value: value ?? 0, currency });
    const isSeen = !sold && chance.happens(0.74);
    const consent = isSeen && !isBot ? chance.weighted(decisions).consent : null;
    return {
      at,
      opened,
      mode: "live",
      customer,
      domain: domain ?? null,
      name,
      value,
      currency,
      orderId,
      visitorId: chance.text(alphanumeric, 22),
      visits: isBot
        ? visitsBefore(at, chance.weighted(bots).judgement.verdict)
        : isSeen
          ? visitsBefore(at, null)
          : [],
      consent,
      again: chance.happens(0.034) ? chance.whole(1, 3) : 0,
    };
  };
}

const decisions: { weight: number; consent: ConsentState | null }[] = [
  { weight: 57, consent: null },
  { weight: 36, consent: "granted" },
  { weight: 7, consent: "denied" },
];

/** Takes a planned event through the relay; says how often it came and how often that was a duplicate. */
export async function happen(
  planned: Planned,
  site: Site,
  on: Relay,
): Promise<{ exit: string; duplicates: number }> {
  const { at, customer, mode } = planned;
  const contact = {
    email: new PlainEmail(customer.email),
    ...(customer.phone === undefined ? {} : { phone: new Plain(customer.phone) }),
    firstName: new Plain(customer.firstName),
    lastName: new Plain(customer.lastName),
  };
  const person = hashPerson(contact, { country: site.settings.country ?? undefined });
  await report(planned, person, site, on);
  const received = (id: string) => ({
    event: eventOf(planned, id, person, site),
    eventTime: null,
    emailDomain: planned.domain,
  });
  // Long enough for a machine that does much else.
  const deadline = () => Date.now() + 120_000;
  const { exit } = await relay(received(uuidv7(at)), site, deadline(), on);
  let duplicates = 0;
  for (let again = 1; again <= planned.again; again++) {
    const later = received(uuidv7(at + again * 5000));
    if ((await relay(later, site, deadline(), on)).exit === "duplicate" && mode === "live") duplicates += 1;
  }
  return { exit, duplicates };
}

function eventOf(planned: Planned, id: string, person: Person, site: Site): Event {
  const { at, opened, mode, name, value, currency, orderId } = planned;
  const keyId = mode === "live" ? opened.keyId : opened.test.id;
  return {
    id,
    siteId: site.id,
    keyId,
    mode,
    name,
    value,
    currency,
    orderId,
    time: at,
    receivedAt: at,
    person,
    extra: null,
  };
}

/** What the tag told before: the visits, and with the last of them who it was. */
async function report(planned: Planned, person: Person, site: Site, { store }: Relay): Promise<void> {
  const { emailSha256, emailGoogleSha256, emailMicrosoftSha256, emailRedditSha256 } = person;
  const forms = Object.fromEntries(
    Object.entries({ emailGoogleSha256, emailMicrosoftSha256, emailRedditSha256 }).filter(
      ([, hash]) => hash !== undefined,
    ),
  );
  for (const [i, visit] of planned.visits.entries()) {
    const isLast = i === planned.visits.length - 1;
    await storeReport(
      store,
      site.id,
      {
        visitorId: planned.visitorId,
        proposedId: null,
        remembered: null,
        signals: isLast && planned.consent ? { own: planned.consent } : {},
        visit,
        person: isLast ? { emailSha256, forms } : null,
        at: visit.seenAt,
      },
      site.settings,
      () => planned.visitorId,
    );
  }
}
