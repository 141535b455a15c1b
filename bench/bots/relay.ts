// The relay under test: its own routes and rules on an embedded store, in this process, so that the benchmark sees every
// verdict and sets the clock.

import { join } from "node:path";
import { collectRoutes } from "../../src/collect/route.ts";
import { createTagSightings } from "../../src/collect/tagSightings.ts";
import { countVisits } from "../../src/collect/visitCounts.ts";
import { createRateLimit } from "../../src/http/rate.ts";
import { isLoopback } from "../../src/http/transport.ts";
import { createLinks } from "../../src/identity/links.ts";
import { readTag } from "../../src/identity/tagScript.ts";
import { ulid } from "../../src/kernel/ids.ts";
import { createHttpServer } from "../../src/server/server.ts";
import { createDirectory } from "../../src/sites/directory.ts";
import { addSite, changeSiteSettings } from "../../src/sites/manage.ts";
import { createStore } from "../../src/store/store.ts";
import { createTrafficMemory } from "../../src/traffic/frequency.ts";
import type { Judgement } from "../../src/traffic/verdict.ts";
import { freshFolder } from "../support/relay.ts";

export const shop = "shop.example.test";

export type Judged = { address: string; page: string; judgement: Judgement };
type BenchRelay = { port: number; stop(): Promise<void> };

export async function startBenchRelay(
  now: () => number,
  onJudged: (judged: Judged) => void,
  settings: Record<string, string> = {},
): Promise<BenchRelay> {
  const file = join(freshFolder(), "cleancast.db");
  const store = await createStore({ engine: "sqlite", file }, Buffer.from("5a".repeat(32), "hex"), ulid);
  const directory = createDirectory(store);
  const by = { actor: "bench", now: now() };
  const site = await addSite({ store, directory }, shop, by);
  await changeSiteSettings({ store, directory }, site, settings, by);
  const onDefect = (error: unknown) => console.error(error);
  const counts = countVisits(store, "bench", onDefect);
  const app = createHttpServer(null, onDefect);
  collectRoutes(app, {
    store,
    directory,
    transport: { trusted: isLoopback, requireTls: false },
    rateLimit: createRateLimit(),
    // A farm of the benchmark must reach the rules.
    perMinute: 6000,
    tag: readTag(),
    secondPart: readTag("use"),
    memory: createTrafficMemory(),
    counts,
    sightings: createTagSightings(),
    links: createLinks(store.accessSecret),
    offerVisit: ({ seen, page, judgement }) => onJudged({ address: seen.address, page, judgement }),
    countryOf: () => null,
    now,
    onDefect,
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const { port } = app.server.address() as { port: number };
  return {
    port,
    async stop() {
      await app.close();
      await counts.stop();
      await store.close();
    },
  };
}
