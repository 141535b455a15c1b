import fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { createAt, newLocation } from "../../test/support/nodes.ts";
import { personsHeaders } from "../../test/support/visits.ts";
import { createRateLimit } from "../http/rate.ts";
import { createLinks } from "../identity/links.ts";
import { threadShare } from "../kernel/concurrency.ts";
import { createDirectory } from "../sites/directory.ts";
import { addSite } from "../sites/manage.ts";
import { createTrafficMemory, type Frequency } from "../traffic/frequency.ts";
import { compileLists } from "../traffic/lists.ts";
import { collectRoutes } from "./route.ts";
import type { JudgedVisit } from "./visitSample.ts";
import { createTagSightings } from "./tagSightings.ts";
import { countVisits } from "./visitCounts.ts";

const host = "shop.example.com";

/** A site whose pages send reports; the memory of traffic and the samples of visits are recorded. */
async function startSite() {
  const store = await createAt(await newLocation("sqlite"));
  const onDefect = (error: unknown) => expect.unreachable(String(error));
  const directory = createDirectory(store);
  const site = await addSite({ store, directory }, host, { actor: "test", now: Date.now() });
  const counts = countVisits(store, "test", onDefect);
  const traffic = createTrafficMemory();
  const frequencies: Frequency[] = [];
  const notable: JudgedVisit[] = [];
  const observe: typeof traffic.observe = (hit) => {
    const frequency = traffic.observe(hit);
    frequencies.push(frequency);
    return frequency;
  };
  const app = fastify();
  collectRoutes(app, {
    store,
    directory,
    transport: { trusted: () => true, requireTls: true, plainFrom: null },
    rateLimit: createRateLimit(),
    perMinute: 0,
    tag: "",
    secondPart: "",
    memory: { ...traffic, observe },
    counts,
    sightings: createTagSightings(),
    links: createLinks(store.accessSecret),
    offerVisit: (visit) => notable.push(visit),
    countryOf: () => null,
    now: Date.now,
    onDefect,
  });
  onTestFinished(async () => {
    await app.close();
    await counts.stop();
    await store.close();
  });
  const visit = async (params: Record<string, string> = {}, address = "203.0.113.77") => {
    const headers = {
      ...personsHeaders,
      host,
      origin: `https://${host}`,
      "x-forwarded-proto": "https",
      "x-forwarded-for": address,
    };
    const payload = JSON.stringify({ browser: [false, "Win32", 0, true], page: `https://${host}/`, params });
    return (await app.inject({ method: "POST", url: "/__cc/visit", headers, payload })).statusCode;
  };
  return { siteId: site.id, settings: site.settings, visit, frequencies, notable };
}

test("a report is refused when a thousand of its site wait for their turn", async () => {
  const { siteId, visit } = await startSite();
  let isOver = false;
  /** Others take the place of each that has its turn. */
  const fill = () => {
    while (!isOver && threadShare.piece(siteId) !== "full");
    if (!isOver) setImmediate(fill);
  };
  try {
    expect(await visit()).toBe(204);
    const refused = await threadShare.answer("another site", async () => {
      fill();
      return visit().finally(() => (isOver = true));
    });
    expect(refused).toBe(503);
    expect(await visit()).toBe(204);
  } finally {
    isOver = true;
  }
});

test("the lists of a site are compiled in slices before a report is judged", async () => {
  const { siteId, settings, visit } = await startSite();
  expect(await visit()).toBe(204);
  expect(compileLists(siteId, settings)).toBeUndefined();
});

/** Google adds the last two to the address of every advertisement; all clicks of a campaign share them. */
const googleClick = (n: number) => ({
  gclid: `EAIaIQobChMI-click-${n}`,
  gbraid: `0AAAAA-click-${n}`,
  gad_source: "1",
  gad_campaignid: "17334012345",
});

test("what Google adds to the id of a click is no click that many visitors share", async () => {
  const { visit, frequencies, notable } = await startSite();
  for (let n = 0; n < 40; n += 1) await visit(googleClick(n), `10.${n}.0.1`);
  expect(new Set(frequencies.map(({ visitorsOfClick }) => visitorsOfClick))).toEqual(new Set([1]));
  expect(notable).toEqual([]);
  // What is usual on the site is learned from visitors with a click of their own.
  expect(frequencies.at(-1)?.goneOn).toMatchObject({ goneOn: 0 });
});

test("a household that clicks ten advertisements brings ten clicks, and is not a bot for that", async () => {
  const { visit, frequencies, notable } = await startSite();
  for (let n = 0; n < 10; n += 1) await visit(googleClick(n));
  expect(frequencies.at(-1)?.clickIdsOfSource).toBe(10);
  expect(notable).toEqual([]);
});
