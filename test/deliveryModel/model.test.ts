// Explores the model of the delivery states completely, and shows that a fault in any part of it breaks a promise.

import { describe, expect, test } from "vitest";
import { explorations, graphOf, type ExplorationName } from "./explorations.ts";
import { explore, type Steps } from "./explore.ts";
import { steps, type Step, type World } from "./model.ts";
import { findBreach, progress, safety } from "./promises.ts";

const onlyShared = ["be late", "renew the lease", "take over"];
const onlyEmbedded = ["start the next process"];

describe.each(Object.keys(explorations) as ExplorationName[])("%s", (name) => {
  const graph = graphOf(name);
  const { table }: { table: Steps } = explorations[name];

  test("every step is taken somewhere, but for those of the other database", () => {
    const taken = new Set(graph.edges.map((edge) => edge.name));
    const missing = Object.keys(table).filter((one) => !taken.has(one));
    expect(missing).toEqual(name.includes("embedded") ? onlyShared : onlyEmbedded);
  });

  test.each(Object.entries(name.startsWith("one") ? { ...safety, ...progress } : safety))("%s", (_promise, kept) =>
    expect(findBreach(graph, table, kept)).toBeNull(),
  );
});

/** Faults that someone could make: a step that is missing, or that does something else. */
const faults: Readonly<Record<string, Steps>> = {
  "a node begins without looking at its lease": {
    begin: {
      by: "relay",
      of: "job",
      take: (world, node, job) => (job.phase === "waiting" ? replaceJob(world, node, job, { ...job, phase: "sending" }) : null),
    },
  },
  "a node makes a second job of what it has in hand": {
    claim: {
      by: "relay",
      of: "delivery and node",
      take: (world, delivery, node) => {
        const before = world.jobs[node];
        const claimed = steps.claim.take({ ...world, jobs: { ...world.jobs, [node]: [] } }, delivery, node);
        const jobs = [...before, ...(claimed?.jobs[node] ?? [])];
        return claimed && jobs.length <= 2 ? { ...claimed, jobs: { ...claimed.jobs, [node]: jobs } } : null;
      },
    },
  },
  "a node writes what became of a delivery that is no longer its own": {
    accept: {
      by: "platform",
      of: "job",
      take: (world, node, job) =>
        job.phase === "sending"
          ? {
              ...replaceJob(world, node, job),
              deliveries: world.deliveries.map((one) => ({ ...one, state: "sent", reason: null })),
            }
          : null,
    },
  },
  "an erasure leaves leases as they are": {
    erase: {
      by: "person",
      of: "world",
      take: (world) => {
        const erased = steps.erase.take(world);
        const deliveries = erased?.deliveries.map((one, i) => ({
          ...one,
          holder: world.deliveries[i]?.holder ?? null,
        }));
        return erased && { ...erased, deliveries: deliveries ?? [] };
      },
    },
  },
  "an erasure leaves what is open to its owner": {
    erase: {
      by: "person",
      of: "world",
      take: (world) => (world.deliveries.some(({ hasRow }) => !hasRow) ? { ...world, person: "erased" } : null),
    },
  },
  "a cancellation ends what a node is sending": {
    cancel: {
      by: "user",
      of: "delivery",
      take: (world) => ({
        ...world,
        deliveries: world.deliveries.map((one) => ({ ...one, state: "skipped", reason: "cancelled" })),
      }),
    },
  },
  "a delivery is skipped without a reason": {
    "find unfit": {
      by: "relay",
      of: "job",
      take: (world, ...job) => {
        const skipped = steps["find unfit"].take(world, ...job);
        return skipped && { ...skipped, deliveries: skipped.deliveries.map((one) => ({ ...one, reason: null })) };
      },
    },
  },
  "a delivery of an erased person is replayed": {
    replay: {
      by: "user",
      of: "delivery",
      take(world, delivery) {
        const replayed = steps.replay.take({ ...world, person: "known" }, delivery);
        return replayed && { ...replayed, person: world.person };
      },
    },
  },
  "a node forgets a first attempt": {
    "drop a job without a lease": {
      by: "relay",
      of: "job",
      take: (world, node, job) => (job.isFirst ? replaceJob(world, node, job) : null),
    },
  },
  "no node takes over": without("take over", "start the next process"),
  "leases never end": without("fall due"),
  "what was parked before a connection was resumed stays parked": without("release what is parked"),
  "a removed connection leaves its deliveries": without("skip what waits", "skip unsent"),
  "a delivery never becomes too old": without("expire unsent", "fail at the age limit"),
  "an unconfirmed result is never written again": without("write again"),
};

function without(...names: (keyof typeof steps)[]): Steps {
  const never: Step = { by: "relay", of: "world", take: () => null };
  return Object.fromEntries(names.map((name) => [name, never]));
}

function replaceJob(world: World, node: "a" | "b", job: unknown, changed?: World["jobs"]["a"][number]): World {
  const others = world.jobs[node].filter((one) => one !== job);
  return { ...world, jobs: { ...world.jobs, [node]: changed ? [...others, changed] : others } };
}

test.each(Object.entries(faults))("the exploration finds the fault: %s", (_fault, changed) => {
  const table: Steps = { ...steps, ...changed };
  // The smallest exploration finds them all.
  const graph = explore(explorations["one delivery, embedded database"].begun, table);
  const promises = Object.values({ ...safety, ...progress });
  expect(promises.some((kept) => findBreach(graph, table, kept) !== null)).toBe(true);
});
