// The promises of the delivery states, checked on every world and every step of an explored model.

import { canReach, type Edge, type Graph, type Steps } from "./explore.ts";
import { mayWrite, type Delivery, type Job, type Node, type World } from "./model.ts";

const ends: readonly Delivery["state"][] = ["sent", "skipped", "rejected", "expired"];
const hasEnded = ({ state }: Delivery) => ends.includes(state);
const allEnded = ({ deliveries }: World) => deliveries.every(hasEnded);

/** A promise is kept by every world, by every step, or by the graph as a whole. */
type Kept = {
  world?: (world: World) => boolean;
  step?: (before: World, edge: Edge, after: World) => boolean;
  graph?: (graph: Graph, table: Steps) => boolean[];
};

const isSame = (one: Delivery, other: Delivery) =>
  one === other ||
  (one.state === other.state &&
    one.reason === other.reason &&
    one.hasRow === other.hasRow &&
    one.holder === other.holder &&
    one.isDue === other.isDue);

const jobsOf = (world: World): [Node, Job][] =>
  (["a", "b"] as const).flatMap((node) => world.jobs[node].map((job): [Node, Job] => [node, job]));

const allSteps =
  (holds: (before: Delivery, after: Delivery, edge: Edge, world: World) => boolean): NonNullable<Kept["step"]> =>
  (before, edge, after) =>
    before.deliveries.every((one, i) => holds(one, after.deliveries[i] as Delivery, edge, after));

const isByItself = (table: Steps, name: string) => ["relay", "time", "platform"].includes(table[name]?.by ?? "");

/** They hold for every world and every step that the model has, however many of its steps are taken. */
export const safety: Readonly<Record<string, Kept>> = {
  "a request begins only while no outcome is recorded": {
    step: ({ deliveries }, { name, delivery }) => name !== "begin" || deliveries[delivery]?.state === "queued",
  },
  "a recorded outcome changes only when a user replays the delivery": {
    step: allSteps((before, after, { name }) => !hasEnded(before) || isSame(after, before) || name === "replay"),
  },
  "every end but an acceptance has a reason, and so has everything that is parked": {
    world: ({ deliveries }) => deliveries.every(({ state, reason }) => state === "queued" || state === "sent" || reason !== null),
  },
  "no two jobs may both write what became of a delivery": {
    world: (world) => {
      const writers = jobsOf(world).filter(([node, job]) => mayWrite(world, node, job));
      return new Set(writers.map(([, { delivery }]) => delivery)).size === writers.length;
    },
  },
  "nothing of an erased person waits, is claimed or begins": {
    world: ({ person, deliveries }) =>
      person !== "erased" || deliveries.every(({ state }) => state !== "queued" && state !== "parked"),
    step: ({ person }, { name }) => person !== "erased" || (name !== "claim" && name !== "begin"),
  },
  "no delivery is parked by a node that knows its connection to be active": {
    step: allSteps(
      (before, after, _edge, { connection, believed }) =>
        after.state !== "parked" || before.state === "parked" || connection !== "active" || believed !== null,
    ),
  },
};

/** They hold for the whole model: something leads on from everywhere. */
export const progress: Readonly<Record<string, Kept>> = {
  "every delivery can end without a user, while its connection is active or removed": {
    graph: (graph, table) => {
      const reaches = canReach(graph, allEnded, ({ name }) => isByItself(table, name));
      return graph.worlds.map(({ connection }, i) => reaches[i] || (connection !== "active" && connection !== "removed"));
    },
  },
  "every delivery of an active connection can end although its platform never accepts or refuses one": {
    graph: (graph, table) => {
      const answers = ["accept", "refuse", "refuse the credentials"];
      const isUsed = ({ name }: Edge) => isByItself(table, name) && !answers.includes(name);
      const reaches = canReach(graph, allEnded, isUsed);
      return graph.worlds.map(({ connection }, i) => reaches[i] || connection !== "active");
    },
  },
  "every delivery of a paused connection, or of one that needs reconnection, can end once it is resumed": {
    graph: (graph, table) => canReach(graph, allEnded, ({ name }) => isByItself(table, name) || name === "resume or reconnect"),
  },
};

/** The first place where a promise is broken, as the shortest path to it; null when it is kept. */
export function findBreach(graph: Graph, table: Steps, { world, step, graph: ofGraph }: Kept): string | null {
  const { worlds, edges, pathTo } = graph;
  const names = (path: readonly Edge[]) =>
    path.map(({ name, node, job, delivery }) => (job ? `${node}: ${name} ${delivery}` : name)).join(", ");
  const kept = ofGraph?.(graph, table) ?? worlds.map((one) => world?.(one) ?? true);
  const broken = kept.indexOf(false);
  if (broken >= 0) return `${names(pathTo(broken))} → ${JSON.stringify(worlds[broken])}`;
  const edge = edges.find((one) => step && !step(worlds[one.from] as World, one, worlds[one.to] as World));
  return edge ? names([...pathTo(edge.from), edge]) : null;
}
