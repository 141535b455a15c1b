import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newVisitorId } from "../../src/collect/cookies.ts";
import { personOf } from "../support/person.ts";
import { startReceiver, type Receiver } from "../support/receiver.ts";
import { endToEndEngines, eventually, newInstallation, type Engine, type Installation, type Relay } from "../support/relay.ts";
import { report } from "../support/visits.ts";
import { change, deliveryStates, setUpSite, onPostgres, rows, withStore, type SiteSetup } from "../support/installation.ts";

const answerSeconds = 4;
const shortTimes = {
  CLEANCAST_ATTEMPT_SECONDS: "2",
  CLEANCAST_ANSWER_SECONDS: String(answerSeconds),
  CLEANCAST_RETRY_SECONDS: "1",
};
const slackMs = 60_000;

const person = personOf({ email: "ada@example.com" }).emailSha256;
const contact = { email: "ada@example.com", phone: "+49 1512 3456789", firstName: "Ada" };

type Place = { home: Installation; relay: Relay; receiver: Receiver; site: SiteSetup };

/** Starts a relay that has click ids, UTM fields and a granted consent of the person. */
async function open(engine: Engine, env: Record<string, string> = {}): Promise<Place> {
  const home = await newInstallation(engine, { ...shortTimes, ...env });
  const receiver = await startReceiver();
  const site = await setUpSite(home, [["webhook", { url: receiver.url }]]);
  await storePerson(home, [site.siteId]);
  return { home, relay: await home.start(), receiver, site };
}

function storePerson(home: Installation, siteIds: readonly string[]): Promise<void> {
  return withStore(home, async (store) => {
    const now = Date.now();
    for (const siteId of siteIds) {
      const record = {
        visits: [
          {
            visitorId: null,
            seenAt: now,
            browser: null,
            clickIds: { gclid: { value: "click-1", seenAt: now }, fbclid: { value: "click-2", seenAt: now } },
            browserIds: { _fbp: "fb.1.1.1" },
            utm: { utm_source: "newsletter" },
          },
        ],
        firstUtm: {},
        forms: {},
      };
      await store.people.change(siteId, async (people) => {
        await people.lockIdentity(person, now);
        await people.saveIdentity(person, record, now);
        await people.decide(person, "test", "granted", now);
      });
    }
  });
}

let orders = 0;

/** Of many at once, some may be answered before the platform is asked: they are sent right afterwards. */
async function send({ relay, receiver, site }: Place, isOneOfMany = false): Promise<Record<string, unknown>> {
  const orderId = `order-${(orders += 1)}`;
  const before = Date.now();
  const answer = await relay.post(site.key, { ...contact, event: "purchase", orderId });
  expect(Date.now() - before).toBeLessThan(answerSeconds * 1000 + slackMs);
  const sent = '{"ok":true,"event":"purchase","results":{"webhook":{"ok":true}}}';
  if (!isOneOfMany || !answer.text.includes("no answer yet")) expect(answer.text).toBe(sent);
  const bodies = () => receiver.bodies().filter((body) => body.orderId === orderId);
  await eventually("the conversion arrives", () => bodies().length > 0);
  expect(bodies()).toHaveLength(1);
  return bodies()[0] as Record<string, unknown>;
}

const withIdentifiers = {
  emailSha256: person,
  phoneSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  clickIds: { gclid: "click-1", fbclid: "click-2" },
  utm: { utm_source: "newsletter" },
  consent: "granted",
};
const withoutIdentifiers = { emailSha256: null, phoneSha256: null, clickIds: {}, utm: {}, consent: "denied" };

/** Checks that no field of the body has an identifier of the person. */
function expectNoIdentifiers(body: Record<string, unknown>): void {
  expect(body).toMatchObject(withoutIdentifiers);
  expect(body.clickIds).toEqual({});
  expect(body.utm).toEqual({});
  expect(JSON.stringify(body)).not.toMatch(/[0-9a-f]{64}|click-|newsletter|fb\.1/);
}

describe.each(endToEndEngines)("unreadable consent on %s", (engine) => {
  let place: Place;
  beforeAll(async () => {
    place = await open(engine);
  });

  // Makes the fault, checks the conversion, and undoes the fault; the granted consent counts before and after it.
  async function during(fault: string[], remedy: string[]): Promise<void> {
    expect(await send(place)).toMatchObject(withIdentifiers);
    await change(place.home, ...fault);
    try {
      expectNoIdentifiers(await send(place));
    } finally {
      await change(place.home, ...remedy);
    }
    expect(await send(place)).toMatchObject(withIdentifiers);
  }

  test.each(["", "GRANTED", "granted ", "yes", "1", "null", "\u00ff\u0001"])(
    "a conversion whose consent row has the state %j is sent without any identifier",
    (garbage) => during([`UPDATE consents SET state = '${garbage}'`], [`UPDATE consents SET state = 'granted'`]),
  );

  test("a conversion is sent without any identifier while the consent table is missing", () =>
    during([`ALTER TABLE consents RENAME TO elsewhere`], [`ALTER TABLE elsewhere RENAME TO consents`]));

  test("a conversion is sent without any identifier while the consent table lacks a column", () =>
    during([`ALTER TABLE consents RENAME COLUMN state TO decision`], [`ALTER TABLE consents RENAME COLUMN decision TO state`]));

  test("fifty conversions at once are all sent without any identifier while the consent table is missing", async () => {
    await change(place.home, `ALTER TABLE consents RENAME TO elsewhere`);
    try {
      const bodies = await Promise.all(Array.from({ length: 50 }, () => send(place)));
      for (const body of bodies) expectNoIdentifiers(body);
    } finally {
      await change(place.home, `ALTER TABLE elsewhere RENAME TO consents`);
    }
  });
});

// SQLite has no such case: with WAL no writer blocks a reader, and a read runs inside our own process in one call. It can
// fail, but it cannot hang.
describe("a hanging consent table on postgres", () => {
  let place: Place;
  const sites: SiteSetup[] = [];
  beforeAll(async () => {
    place = await open("postgres", { CLEANCAST_DATABASE_CONNECTIONS: "4" });
    for (let i = 0; i < 8; i += 1) {
      const wanted = [["webhook", { url: place.receiver.url }]] as const;
      sites.push(await setUpSite(place.home, wanted, `shop-${i}.example.com`));
    }
    await storePerson(
      place.home,
      sites.map((site) => site.siteId),
    );
    await place.relay.stop();
    place.relay = await place.home.start();
  });
  afterAll(() => place.relay.stop());

  async function whileLocked(work: () => Promise<void>): Promise<void> {
    await onPostgres(place.home, async (client) => {
      await client.query("BEGIN");
      await client.query("LOCK TABLE consents IN ACCESS EXCLUSIVE MODE");
      try {
        await work();
      } finally {
        await client.query("ROLLBACK");
      }
    });
  }

  test("a conversion is sent by the deadline, without any identifier, while the consent table hangs", async () => {
    expect(await send(place)).toMatchObject(withIdentifiers);
    await whileLocked(async () => expectNoIdentifiers(await send(place)));
  });

  test("fifty conversions at once are sent by the deadline, without any identifier, while the consent table hangs", () =>
    whileLocked(async () => {
      const bodies = await Promise.all(Array.from({ length: 50 }, () => send(place, true)));
      for (const body of bodies) expectNoIdentifiers(body);
    }));

  test("conversions of more sites than database connections are sent by the deadline while the consent table hangs", () =>
    whileLocked(async () => {
      const bodies = await Promise.all(sites.map((site) => send({ ...place, site }, true)));
      for (const body of bodies) expectNoIdentifiers(body);
    }));
});

describe("tag reports to a hanging store on postgres", () => {
  test("tag reports are answered within seconds while the store hangs, and only a refusal is written afterwards", async () => {
    const place = await open("postgres", { LOG_LEVEL: "silent" });
    const { home, relay } = place;
    const agreed = { params: { gclid: "late" }, consent: { own: "granted" } };
    const reportVisit = (visitor: string, fields: object) => report(relay, "shop.example.com", "visit", { visitor, ...fields });
    const visitors = Array.from({ length: 8 }, () => newVisitorId());
    const refusing = newVisitorId();
    await onPostgres(home, async (client) => {
      await client.query("BEGIN");
      await client.query("LOCK TABLE visitors IN ACCESS EXCLUSIVE MODE");
      const startedAt = performance.now();
      // The others arrive while the first is being written, and wait for it.
      const first = reportVisit(newVisitorId(), agreed);
      await sleep(300);
      const answers = await Promise.all([
        first,
        ...visitors.map((visitor) => reportVisit(visitor, agreed)),
        reportVisit(refusing, { consent: { own: "denied" } }),
      ]);
      expect(performance.now() - startedAt).toBeLessThan(60_000);
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([204]));
      // A browser keeps its id until the visits under it are deleted: the next report names them again.
      expect(answers.flatMap(({ headers }) => headers["set-cookie"] ?? [])).toEqual([]);
      await client.query("ROLLBACK");
    });
    const denied = `SELECT subject FROM consents WHERE state = 'denied'`;
    await eventually("the refusal is written", async () => (await rows(home, denied)).length > 0);
    expect((await rows(home, denied)).map(({ subject }) => subject)).toEqual([refusing]);
    const stored = (await rows(home, `SELECT visitor_id FROM visitors`)).map((row) => row.visitor_id);
    expect(stored.filter((id) => visitors.includes(String(id)))).toEqual([]);
    await relay.stop();
  });
});

describe.each(endToEndEngines)("consent changes before a retry on %s", (engine) => {
  const saves: [string, (place: Place) => Promise<void>][] = [
    [
      "withdrawn",
      ({ home, site }) =>
        withStore(home, (store) => store.people.change(site.siteId, (people) => people.decide(person, "test", "denied", 2))),
    ],
    ["turned to garbage", ({ home }) => change(home, `UPDATE consents SET state = 'maybe'`)],
  ];

  test.each(saves)("a retry carries no identifier after consent was %s", async (_title, save) => {
    const place = await open(engine);
    const { home, receiver, relay, site } = place;
    receiver.behave = (_got, response) => response.writeHead(503).end();
    const answer = await relay.post(site.key, { ...contact, event: "purchase", orderId: "A-1" });
    expect(JSON.parse(answer.text).results).toEqual({
      webhook: { ok: false, status: "queued", error: "HTTP 503" },
    });
    expect(receiver.bodies()[0]).toMatchObject(withIdentifiers);
    await save(place);
    const before = receiver.got.length;
    receiver.behave = (_got, response) => response.writeHead(200).end();
    await eventually("the retry arrives", async () => (await deliveryStates(home)).sent === 1);
    const bodies = receiver.bodies();
    // A retry may have been in flight while consent changed; the accepted one was sent after the change.
    const last = bodies.at(-1) as Record<string, unknown>;
    expect(bodies.length).toBeGreaterThan(before);
    expectNoIdentifiers(last);
    expect(last.platformEventId).toBe(bodies[0]?.platformEventId);
    const attempts = await rows(home, `SELECT number, request FROM attempts ORDER BY number`);
    expect(String(attempts.at(-1)?.request)).not.toContain(person);
    await relay.stop();
  });
});
