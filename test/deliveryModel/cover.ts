// Chooses walks through an explored model that together take every kind of step that the store can tell apart.

import type { Edge, Graph } from "./explore.ts";
import { mayWrite, type World } from "./model.ts";

/** By states alone there are fewer kinds: reasons, leases and times are left out. */
export type Detail = "everything" | "states";

/** A step as the store sees it: the deliveries before and after it, and whether the node that takes it holds them. */
export function kindOf({ worlds }: Graph, { from, to, name, node, job }: Edge, detail: Detail): string {
  const seenBy = ({ deliveries }: World) =>
    deliveries.map((one) =>
      detail === "states" ? [one.state, one.hasRow] : { ...one, holder: one.holder && (one.holder === node ? "own" : "other") },
    );
  const before = worlds[from] as World;
  const isOwn = job && mayWrite(before, node, job);
  return JSON.stringify([seenBy(before), name, job?.isFirst, isOwn, seenBy(worlds[to] as World)]);
}

/** From a beginning each walk goes to the nearest kind of step that no walk has taken, as long as it finds one. */
export function coveringWalks(graph: Graph, isWanted: (edge: Edge) => boolean, detail: Detail = "everything"): Edge[][] {
  const { edges, pathTo } = graph;
  const next = Map.groupBy(edges, ({ from }) => from);
  const left = new Map<string, Edge>();
  const kinds = new Map(edges.map((edge) => [edge, kindOf(graph, edge, detail)]));
  for (const [edge, kind] of kinds) {
    if (isWanted(edge) && !left.has(kind)) left.set(kind, edge);
  }
  const walks: Edge[][] = [];
  const take = (walk: Edge[], path: readonly Edge[]) => {
    walk.push(...path);
    for (const edge of path) left.delete(kinds.get(edge) ?? "");
  };
  for (const edge of left.values()) {
    if (!left.has(kinds.get(edge) ?? "")) continue;
    const walk: Edge[] = [];
    let path: Edge[] | null = [...pathTo(edge.from), edge];
    while (path) {
      take(walk, path);
      const at = walk.at(-1)?.to ?? 0;
      const isLeft = (one: Edge) => left.has(kinds.get(one) ?? "");
      path = pathToNearest(at, next, isLeft, false) ?? pathToNearest(at, next, isLeft, true);
    }
    walks.push(walk);
  }
  return walks;
}

/** A walk that goes further than this takes longer than a new one. */
const maxDistance = 4;
/** Nothing undoes these steps, so a walk takes them late. */
const forGood = ["erase", "disconnect", "withdraw consent", "become too old", "crash"];

function pathToNearest(
  start: number,
  next: ReadonlyMap<number, readonly Edge[]>,
  isWanted: (edge: Edge) => boolean,
  mayEnd: boolean,
): Edge[] | null {
  let paths: Edge[][] = [[]];
  const seen = new Set([start]);
  for (let distance = 1; distance <= maxDistance; distance++) {
    const further: Edge[][] = [];
    for (const path of paths) {
      for (const edge of next.get(path.at(-1)?.to ?? start) ?? []) {
        if (!mayEnd && forGood.includes(edge.name)) continue;
        if (isWanted(edge)) return [...path, edge];
        if (seen.has(edge.to)) continue;
        seen.add(edge.to);
        further.push([...path, edge]);
      }
    }
    paths = further;
  }
  return null;
}
