import fastify from "fastify";
import { expect, test } from "vitest";
import { createAt, newLocation } from "../../test/support/nodes.ts";
import { personsHeaders } from "../../test/support/visits.ts";
import { createRateLimit } from "../http/rate.ts";
import { createLinks } from "../identity/links.ts";
import { threadShare } from "../kernel/concurrency.ts";
import { createDirectory } from "../sites/directory.ts";
import { addSite } from "../sites/manage.ts";
import { createTrafficMemory } from "../traffic/frequency.ts";
import { collectRoutes } from "./route.ts";
import { createTagSightings } from "./tagSightings.ts";
import { countVisits } from "./visitCounts.ts";

test("a report is refused when a thousand of its site wait for their turn", async () => {
  const store = await createAt(await newLocation("sqlite"));
  const onDefect = (error: unknown) => expect.unreachable(String(error));
  const directory = createDirectory(store);
  const site = await addSite({ store, directory }, "shop.example.com", { actor: "test", now: Date.now() });
  const counts = countVisits(store, "test", onDefect);
  const app = fastify();
  collectRoutes(app, {
    store,
    directory,
    transport: { trusted: () => true, requireTls: true, plainFrom: null },
    rateLimit: createRateLimit(),
    perMinute: 0,
    tag: "",
    secondPart: "",
    memory: createTrafficMemory(),
    counts,
    sightings: createTagSightings(),
    links: createLinks(store.accessSecret),
    offerVisit: () => {},
    countryOf: () => null,
    now: Date.now,
    onDefect,
  });
  const visit = async () => {
    const headers = {
      ...personsHeaders,
      host: "shop.example.com",
      origin: "https://shop.example.com",
      "x-forwarded-proto": "https",
    };
    const payload = JSON.stringify({ browser: [false, "Win32", 0, true], page: "https://shop.example.com/" });
    return (await app.inject({ method: "POST", url: "/__cc/visit", headers, payload })).statusCode;
  };
  let isOver = false;
  /** Others take the place of each that has its turn. */
  const fill = () => {
    while (!isOver && threadShare.piece(site.id) !== "full");
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
    await app.close();
    await counts.stop();
    await store.close();
  }
});
