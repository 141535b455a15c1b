// The parts of the model that are explored completely: one delivery with every step, and two of one event with the steps of
// its owner.

import { explore, type Graph, type Steps } from "./explore.ts";
import { begin, beginnings, steps, type Beginning, type StepName, type World } from "./model.ts";

type Exploration = { begun: readonly World[]; table: Steps };

const all = Object.keys(beginnings) as Beginning[];

/** Two deliveries multiply the worlds, so only the steps of the event's owner and of its successor are taken. */
const ofOwner: readonly StepName[] = [
  "begin",
  "give back",
  "drop a job without a lease",
  "accept",
  "fail for now",
  "accept, unconfirmed",
  "fail for now, unconfirmed",
  "write again",
  "be late",
  "renew the lease",
  "crash",
  "take over",
  "start the next process",
  "erase",
];

const ofTwo = (database: "shared" | "embedded"): Exploration => ({
  begun: [begin(["at once", "at once"], database)],
  table: Object.fromEntries(ofOwner.map((name) => [name, steps[name]])),
});

const ofOne = (database: "shared" | "embedded"): Exploration => ({
  begun: all.map((name) => begin([name], database)),
  table: steps,
});

export const explorations = {
  "one delivery, shared database": ofOne("shared"),
  "one delivery, embedded database": ofOne("embedded"),
  "two deliveries, shared database": ofTwo("shared"),
  "two deliveries, embedded database": ofTwo("embedded"),
} satisfies Record<string, Exploration>;

export type ExplorationName = keyof typeof explorations;

const explored = new Map<ExplorationName, Graph>();

/** Explores once for all tests of a process, because it takes a second. */
export function graphOf(name: ExplorationName): Graph {
  const { begun, table }: Exploration = explorations[name];
  const graph = explored.get(name) ?? explore(begun, table);
  explored.set(name, graph);
  return graph;
}
