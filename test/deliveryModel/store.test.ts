// Takes every kind of step of the model with the real store, on both engines, and compares what the store holds then with
// what the model says: so neither changes without the other. On PostgreSQL `npm test` tells the kinds apart by the states
// before and after a step; `npm run test:long` does so by everything.

import { DatabaseSync } from "node:sqlite";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { checkLocation } from "../../src/maintenance/check.ts";
import { createDirectory } from "../../src/sites/directory.ts";
import type { StoreLocation } from "../../src/store/connect.ts";
import { encryptionKey, createNodes } from "../support/nodes.ts";
import { createPostgresClient } from "../support/postgres/postgres.ts";
import type { Engine } from "../support/relay.ts";
import { sha256Of } from "../support/sha256.ts";
import { coveringWalks, kindOf, type Detail } from "./cover.ts";
import { explorations, graphOf, type ExplorationName } from "./explorations.ts";
import { explore, type Edge, type Graph } from "./explore.ts";
import { beginnings, steps, type Beginning, type World } from "./model.ts";
import { acceptReal } from "./realEvent.ts";

const now = Date.UTC(2026, 10, 15);

/** Steps that change no delivery, and are taken only on the way to others. */
const inMemory = [
  "become too old",
  "be late",
  "renew the lease",
  "crash",
  "lose the answer",
  "withdraw consent",
  "learn that it is active",
];
const isStored = ({ name }: Edge) => !inMemory.includes(name);

const onPostgres: Detail = process.env.MODEL_STEPS === "all" ? "everything" : "states";

const withEngine: [Engine, ExplorationName, Detail][] = [
  ["sqlite", "one delivery, embedded database", "everything"],
  ["sqlite", "two deliveries, embedded database", "everything"],
  ["postgres", "one delivery, shared database", onPostgres],
  ["postgres", "two deliveries, shared database", onPostgres],
];

let walked = 0;

/** Takes the walks one after the other. Returns where the store differed from the model. */
async function takeWalks(
  { stores, reader }: Awaited<ReturnType<typeof createStores>>,
  graph: Graph,
  walks: readonly Edge[][],
): Promise<string[]> {
  const directory = createDirectory(stores.a);
  const different: string[] = [];
  for (const walk of walks) {
    const emailSha256 = sha256Of(`person ${(walked += 1)}`);
    const beginning = graph.worlds[walk[0]?.from ?? 0] as World;
    const context = { stores, directory, readRows: reader.readRows, now, emailSha256 };
    const event = await acceptReal(context, beginning.deliveries.map(nameOf));
    const taken: string[] = [];
    for (const edge of walk) {
      taken.push(`${edge.node}: ${edge.name}`);
      const { deliveries } = graph.worlds[edge.to] as World;
      const found = await event.take(edge, graph.worlds[edge.from] as World).then(
        () => event.read(),
        (error: unknown) => String(error),
      );
      if (JSON.stringify(found) === JSON.stringify(deliveries)) continue;
      different.push(`${taken.join(", ")}\n  model ${JSON.stringify(deliveries)}\n  store ${JSON.stringify(found)}`);
      break;
    }
  }
  return different;
}

const nameOf = (delivery: unknown): Beginning => {
  const text = JSON.stringify(delivery);
  const known = Object.entries(beginnings).find(([, one]) => JSON.stringify(one.delivery) === text);
  return known?.[0] as Beginning;
};

async function createStores(engine: Engine) {
  const { store, other, location, close } = await createNodes(engine);
  // Open events belong to a node that exists.
  await store.nodes.renew("a", "0", 3_600_000);
  const reader = await createReader(location);
  afterAll(async () => {
    await reader.close();
    await close();
  });
  return { stores: { a: store, b: other }, reader, location };
}

/** Reads which deliveries of an event have rows. The store itself makes no difference between those that have and others. */
async function createReader(location: StoreLocation) {
  const text = `SELECT connection_id FROM deliveries WHERE event_id = `;
  const idsOf = (rows: Record<string, unknown>[]) => new Set(rows.map((row) => String(row.connection_id)));
  if (location.engine === "sqlite") {
    const db = new DatabaseSync(location.file, { readOnly: true, timeout: 5000 });
    return {
      readRows: async (eventId: string) => {
        await yieldToEventLoop();
        return idsOf(db.prepare(`${text}?`).all(eventId));
      },
      close: async () => db.close(),
    };
  }
  const client = await createPostgresClient(location.url);
  return {
    readRows: async (eventId: string) => idsOf((await client.query<Record<string, unknown>>(`${text}$1`, [eventId])).rows),
    close: () => client.end(),
  };
}

describe.each(withEngine)("the store on %s and the model agree: %s", async (engine, name, detail) => {
  const opened = await createStores(engine);
  const graph = graphOf(name);
  const walks = coveringWalks(graph, isStored, detail);

  test("every kind of step leads to the same deliveries", async () => {
    expect(await takeWalks(opened, graph, walks)).toEqual([]);
    const kinds = (edges: readonly Edge[]) => new Set(edges.filter(isStored).map((edge) => kindOf(graph, edge, detail)));
    expect(kinds(walks.flat())).toEqual(kinds(graph.edges));
  });

  test("what the walks left is consistent", async () => {
    const found = await checkLocation(opened.location, () => [encryptionKey]);
    // A walk may end before the relay has dealt with what waits for a removed connection.
    const expected = "deliveries that wait for a connection that does not exist";
    expect(found.filter(({ what }) => what !== expected)).toEqual([]);
  });
});

describe("a model that differs from the store is found out", async () => {
  const opened = await createStores("sqlite");

  test.each([
    ["a cancellation also ends what is being sent", "cancel", "skipped"],
    ["a replay parks", "replay", "parked"],
  ] as const)("%s", async (_fault, name, state) => {
    const [begun] = explorations["one delivery, shared database"].begun;
    const take = (world: World, delivery: number): World | null =>
      world.deliveries[delivery]?.state === (name === "cancel" ? "queued" : "sent")
        ? { ...world, deliveries: [{ state, reason: "cancelled", hasRow: true, holder: null, isDue: false }] }
        : null;
    const { begin, accept } = steps;
    const table = { begin, accept, [name]: { by: "user", of: "delivery", take } } as const;
    const graph = explore(begun ? [begun] : [], table);
    expect(await takeWalks(opened, graph, coveringWalks(graph, isStored))).not.toEqual([]);
  });
});
