// Explores every order of the model's steps, breadth first: all worlds that can be reached, the steps between them, and a
// shortest path to each.

import { steps, type Job, type Node, type Step, type World } from "./model.ts";

/** One step that was taken. `from` and `to` are worlds by their number; `job` is the one that the step was about. */
export type Edge = { from: number; to: number; name: string; delivery: number; node: Node; job: Job | null };

export type Graph = {
  worlds: World[];
  edges: Edge[];
  /** The steps from a beginning to a world. */
  pathTo: (world: number) => Edge[];
};

export type Steps = Readonly<Record<string, Step>>;

const nodes = ["a", "b"] as const;

/** The model has some ten thousand worlds. A fault in it can make their number infinite. */
const maxWorlds = 200_000;

export function explore(begun: readonly World[], table: Steps = steps): Graph {
  const worlds: World[] = [];
  const edges: Edge[] = [];
  const numbers = new Map<string, number>();
  const cameBy: (Edge | null)[] = [];

  function numberOf(world: World, edge: Edge | null): number {
    const key = keyOf(world);
    const known = numbers.get(key);
    if (known !== undefined) return known;
    if (worlds.length === maxWorlds) throw new Error(`The model has more than ${maxWorlds} worlds.`);
    numbers.set(key, worlds.length);
    cameBy.push(edge);
    return worlds.push(world) - 1;
  }

  for (const world of begun) numberOf(world, null);
  for (let from = 0; from < worlds.length; from++) {
    const world = worlds[from] as World;
    for (const name in table) {
      const step = table[name] as Step;
      for (const choice of choicesOf(world, step)) {
        const next = takeStep(world, step, choice);
        if (!next) continue;
        const { delivery, node, job } = choice;
        const edge = { from, to: 0, name, delivery, node, job };
        edge.to = numberOf(next, edge);
        edges.push(edge);
      }
    }
  }

  function pathTo(world: number): Edge[] {
    const path: Edge[] = [];
    for (let edge = cameBy[world]; edge; edge = cameBy[edge.from]) path.push(edge);
    return path.toReversed();
  }
  return { worlds, edges, pathTo };
}

type Choice = { delivery: number; node: Node; job: Job | null };

function choicesOf(world: World, { of }: Step): Choice[] {
  if (of === "world") return [{ delivery: 0, node: "a", job: null }];
  if (of === "job") return nodes.flatMap((node) => world.jobs[node].map((job) => ({ delivery: job.delivery, node, job })));
  const actors = of === "delivery" ? (["a"] as const) : nodes;
  return world.deliveries.flatMap((_one, delivery) => actors.map((node) => ({ delivery, node, job: null })));
}

function takeStep(world: World, step: Step, { delivery, node, job }: Choice): World | null {
  switch (step.of) {
    case "world":
      return step.take(world);
    case "job":
      return job && step.take(world, node, job);
    case "delivery":
      return step.take(world, delivery);
    case "delivery and node":
      return step.take(world, delivery, node);
  }
}

/** A text that only equal worlds share. The order of a node's jobs means nothing. JSON would take most of the time. */
function keyOf({ deliveries, jobs, nodes: { a, b }, connection, believed, person, isTooOld }: World): string {
  let key = `${a} ${b} ${connection} ${believed} ${person} ${isTooOld}`;
  for (const { state, reason, hasRow, holder, isDue } of deliveries) key += `;${state} ${reason} ${hasRow} ${holder} ${isDue}`;
  const sorted = (some: readonly Job[]) => (some.length > 1 ? some.map(jobKey).toSorted() : some.map(jobKey));
  return `${key};${sorted(jobs.a).join(",")};${sorted(jobs.b).join(",")}`;
}

const jobKey = ({ delivery, isFirst, phase, result }: Job) => `${delivery} ${isFirst} ${phase} ${result?.state}`;

/** Says for each world whether a wanted one can be reached from it by the edges that `isUsed` accepts. */
export function canReach(
  { worlds, edges }: Graph,
  isWanted: (world: World) => boolean,
  isUsed: (edge: Edge) => boolean,
): boolean[] {
  const sources: number[][] = worlds.map(() => []);
  for (const edge of edges) if (isUsed(edge)) sources[edge.to]?.push(edge.from);
  const reaches = worlds.map(isWanted);
  const left = [...reaches.keys()].filter((world) => reaches[world]);
  for (let world = left.pop(); world !== undefined; world = left.pop())
    for (const from of sources[world] ?? []) {
      if (reaches[from]) continue;
      reaches[from] = true;
      left.push(from);
    }
  return reaches;
}
