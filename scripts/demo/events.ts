// The events of the demo's history: drawn at random, then sent through the relay's own pipeline, so that the dashboard shows real
// results.

import { storeReport, type Report } from "../../src/identity/visits.ts";
import { hashPerson, Plain, PlainEmail } from "../../src/identity/person.ts";
import type { ConsentState, Mode, Person, Verdict, Visit } from "../../src/kernel/event.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { dayMs, minuteMs } from "../../src/kernel/time.ts";
import type { ReservedId } from "../../src/delivery/ownership.ts";
import { relay, type RelayContext } from "../../src/pipeline.ts";
import type { Site } from "../../src/sites/directory.ts";
import type { Bot } from "./bots.ts";
import { alphanumeric, type Random } from "./random.ts";
import { drawArrival, newCustomer, toVisit, type Customer } from "./people.ts";
import type { CreatedSite } from "./sites.ts";

type PlannedVisit = Omit<Visit, "visitorId">;

export type Planned = {
  at: number;
  created: CreatedSite;
  mode: Mode;
  customer: Customer;
  /** The email's domain if it is disposable or a competitor's; otherwise null, as for senders that hash the email. */
  domain: string | null;
  name: string;
  value: number | null;
  currency: string;
  orderId: string | null;
  visitorId: string;
  visits: PlannedVisit[];
  /** The customer's choice in the consent banner. */
  consent: ConsentState | null;
  /** How often the sender sends the event again. */
  repeats: number;
};

type Sale = { customer: Customer; orderId: string; value: number; currency: string };

const disposableDomains = ["mailinator.com", "guerrillamail.com", "yopmail.com"];

/** Returns a function that draws the event of a site at a given time. */
export function createPlanner(created: CreatedSite, bots: readonly Bot[], random: Random): (at: number) => Planned {
  const { demo } = created;
  const known: Customer[] = [];
  const sales: Sale[] = [];
  /** The customers who had an event that another one of theirs follows. */
  const waiting = new Map(demo.kinds.flatMap(({ after }) => (after === undefined ? [] : [[after, [] as Customer[]]])));
  let customers = 0;
  let orders = 104_200;

  function drawCustomer(domain: string | undefined): Customer {
    if (!domain && known.length > 20 && random.chance(0.18)) return random.pick(known.slice(-600));
    const customer = newCustomer(random, ++customers, domain);
    if (!domain) known.push(customer);
    return customer;
  }

  function visitsBefore(at: number, verdict: Verdict | null): PlannedVisit[] {
    const count = verdict
      ? 1
      : random.pickWeighted([
          { weight: 72, n: 1 },
          { weight: 20, n: 2 },
          { weight: 8, n: 3 },
        ]).n;
    const times = [at - random.integer(2, 40) * minuteMs];
    while (times.length < count) times.unshift(Math.floor(at - (0.5 + 11 * random.number()) * dayMs));
    return times
      .toSorted((one, other) => one - other)
      .map((time) => ({
        ...toVisit(drawArrival(random, demo, time), time),
        ...(verdict ? { verdict } : {}),
      }));
  }

  return (at) => {
    const drawn = random.pickWeighted(demo.kinds);
    const ready = waiting.get(drawn.after ?? "") ?? [];
    // The first leads are not qualified yet.
    const isNext = drawn.after !== undefined && ready.length > 5;
    const kind = drawn.after === undefined || isNext ? drawn : (demo.kinds[0] ?? drawn);
    const follower = isNext ? ready.splice(random.integer(0, ready.length - 1), 1)[0] : undefined;
    const sold = kind.name === "refund" ? sales[random.integer(Math.max(0, sales.length - 400), sales.length - 1)] : undefined;
    const name = kind.name === "refund" && !sold ? "purchase" : kind.name;
    const draw = random.number();
    const domain =
      sold || follower
        ? undefined
        : draw < 0.011
          ? random.pick(disposableDomains)
          : draw < 0.016
            ? "competitor.example"
            : undefined;
    const customer = sold?.customer ?? follower ?? drawCustomer(domain);
    const isBot = !sold && !follower && draw > 0.984;
    if (!domain && !isBot) waiting.get(name)?.push(customer);
    const currency = sold?.currency ?? (random.chance(demo.dollars) ? "USD" : "EUR");
    const value =
      sold?.value ?? (kind.value === null ? null : Math.round(kind.value * (0.25 + 1.5 * random.number() ** 1.6) * 100) / 100);
    const orderId = sold?.orderId ?? (kind.hasOrder ? `${demo.orderPrefix}${++orders}` : null);
    if (name === "purchase" && orderId && !domain && !isBot) sales.push({ customer, orderId, value: value ?? 0, currency });
    const hasVisits = !sold && !follower && random.chance(0.74);
    const consent = hasVisits && !isBot ? random.pickWeighted(decisions).consent : null;
    return {
      at,
      created,
      mode: "live",
      customer,
      domain: domain ?? null,
      name,
      value,
      currency,
      orderId,
      visitorId: random.text(alphanumeric, 22),
      visits: isBot ? visitsBefore(at, random.pickWeighted(bots).judgement.verdict) : hasVisits ? visitsBefore(at, null) : [],
      consent,
      repeats: random.chance(0.034) ? random.integer(1, 3) : 0,
    };
  };
}

const decisions: { weight: number; consent: ConsentState | null }[] = [
  { weight: 57, consent: null },
  { weight: 36, consent: "granted" },
  { weight: 7, consent: "denied" },
];

/** The deliveries get rows at once, because their attempts are made for times in the past. */
const leasedBy = (owner: string, id: string): ReservedId => ({
  id,
  own: (_siteId, _planned, at) => ({ by: "row", owner, at, dueAt: at + 30_000, until: at + 30_000, endsAt: Infinity }),
  release() {},
});

/** Sends a planned event and its repeats through the pipeline; returns the number of live duplicates. */
export async function replayEvent(planned: Planned, site: Site, context: RelayContext): Promise<number> {
  const { at, created, customer, mode, name, value, currency, orderId } = planned;
  const contact = {
    email: new PlainEmail(customer.email),
    ...(customer.phone === undefined ? {} : { phone: new Plain(customer.phone) }),
    firstName: new Plain(customer.firstName),
    lastName: new Plain(customer.lastName),
  };
  const person = hashPerson(contact, { country: site.settings.country ?? undefined });
  await storeVisits(planned, person, site, context);
  const keyId = mode === "live" ? created.keyId : created.test.id;
  const origin = { siteId: site.id, keyId, mode, time: at, receivedAt: at, extra: null, orderEventId: null };
  const send = (id: string) => {
    const event = { id, name, value, currency, orderId, person, ...origin };
    // The deadline is generous for slow machines.
    const received = { event, reservedId: leasedBy("demo", id), eventTime: null, emailDomain: planned.domain };
    return relay(received, site, Date.now() + 120_000, context);
  };
  await send(ulid(at));
  let duplicates = 0;
  for (let i = 1; i <= planned.repeats; i++)
    if ((await send(ulid(at + i * 5000))).exit === "duplicate" && mode === "live") duplicates += 1;
  return duplicates;
}

/** Stores the reports of the tag: the visits, and the person with the last of them. */
async function storeVisits(planned: Planned, person: Person, site: Site, { store }: RelayContext): Promise<void> {
  const { emailSha256, emailGoogleSha256, emailMicrosoftSha256, emailRedditSha256 } = person;
  const forms = Object.fromEntries(
    Object.entries({ emailGoogleSha256, emailMicrosoftSha256, emailRedditSha256 }).filter(([, hash]) => hash !== undefined),
  );
  const { visitorId, consent } = planned;
  const report = (visit: Report["visit"], at: number, more: Partial<Report> = {}) =>
    storeReport(
      store,
      site.id,
      { visitorId, proposedId: null, remembered: null, signals: {}, visit, person: null, at, ...more },
      site.settings,
      () => visitorId,
    );
  for (const visit of planned.visits) await report(visit, visit.seenAt);
  const last = planned.visits.at(-1);
  const signals = consent ? { own: consent } : {};
  if (last && emailSha256) await report(last, last.seenAt, { person: { emailSha256, forms }, hasForm: true, signals });
}
