// Takes over what dead nodes have left open: every open first attempt gets a row, which any node may claim.
//
// Invariant: a takeover may run at any time, on any number of nodes at once, and while the owner is only slow. The store lets
// either the owner or a takeover settle each attempt, never both, and ends the takeover of a node that came back. The row of a
// dead node stays until all its sites are done.

import type { Store } from "../../store/store.ts";
import { maxLeaseMs, type DeadNode, type ExpiredNode } from "../../store/deliveries/nodes.ts";
import type { DueWork } from "../due/dueWork.ts";
import { createMachineWork, createSitePass } from "../due/slices.ts";

export type Takeover = Awaited<ReturnType<typeof createTakeover>>;

type Options = {
  store: Pick<Store, "engine" | "nodes" | "slices" | "health">;
  sites: () => Iterable<{ id: string }>;
  dueWork?: Pick<DueWork, "expiredNodes">;
  /** This node. */
  owner: string;
  /** The present time by the clock of due times. */
  sharedNow: () => number;
  elapsed: () => number;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** The row of a dead node stays this long, for a transaction of it that was committed late. */
const keepRowMs = 600_000;

export async function createTakeover({ store, sites, dueWork, owner, sharedNow, elapsed, onDefect }: Options) {
  const onEachMachine = createMachineWork(store);
  /** The end of the last lease of each node that was taken over. */
  const takenOver = new Map<string, number>();
  /** Takeovers of dead nodes with sites that are left, by node. */
  const unfinished = new Map<string, { until: number | undefined; goOn: () => Promise<boolean> }>();
  /** Nodes whose leases end too far ahead, and since when each lease has not changed. */
  const ahead = new Map<string, { until: number; since: number }>();
  /** In the embedded store every other node is a process that has ended. They are listed until all is taken over. */
  let ended = store.engine === "sqlite" ? await store.nodes.listOthers(owner) : [];

  /** Returns a function that takes over from a node. It is false while a site is left, because its shard is down for example: call it again. */
  function begin(node: DeadNode, isInHand?: (eventId: string) => boolean): () => Promise<boolean> {
    const work = (siteId: string) => store.nodes.takeOver(siteId, node, sharedNow(), isInHand);
    const pass = createSitePass(onEachMachine, work, elapsed);
    return async () => {
      const { isDone, errors } = await pass.run(Array.from(sites(), ({ id }) => id));
      if (errors.length) onDefect(errors[0], { node: node.owner, sites: errors.length });
      return isDone;
    };
  }

  async function takeOver(node: DeadNode): Promise<boolean> {
    const begun = unfinished.get(node.owner);
    // A node that came back and died again has left other events.
    const goOn = begun && begun.until === node.until ? begun.goOn : begin(node);
    unfinished.set(node.owner, { until: node.until, goOn });
    const isDone = await goOn();
    if (isDone) unfinished.delete(node.owner);
    return isDone;
  }

  async function takeOverEnded(): Promise<void> {
    for (const node of ended) {
      if (!(await takeOver(node))) continue;
      await store.nodes.remove(node.owner);
      ended = ended.filter((one) => one !== node);
    }
  }

  /** A lease that ends too far ahead says nothing, but a node that lives renews it within the length of any lease. */
  function isDead({ node: { owner: one, until }, endedMs }: ExpiredNode): boolean {
    if (endedMs >= 0) return true;
    const known = ahead.get(one);
    if (known?.until === until) return elapsed() - known.since > maxLeaseMs;
    ahead.set(one, { until, since: elapsed() });
    return false;
  }

  /** A node that is not listed any more came back, and may die again. */
  function forgetOthers(listed: readonly ExpiredNode[], dead: readonly ExpiredNode[]): void {
    const isAmong = (nodes: readonly ExpiredNode[], one: string) => nodes.some(({ node }) => node.owner === one);
    for (const one of ahead.keys()) if (!isAmong(listed, one)) ahead.delete(one);
    for (const one of [...takenOver.keys(), ...unfinished.keys()]) {
      if (isAmong(dead, one)) continue;
      takenOver.delete(one);
      unfinished.delete(one);
    }
  }

  async function takeOverExpired(): Promise<void> {
    const listed = await (dueWork?.expiredNodes() ?? store.nodes.listExpired());
    if (!listed) return;
    const dead = listed.filter(isDead);
    forgetOthers(listed, dead);
    for (const { node, endedMs } of dead) {
      const isDone = node.owner === owner || (takenOver.get(node.owner) === node.until && endedMs < keepRowMs);
      if (isDone) continue;
      const promotions = store.nodes.promotions();
      if (!(await takeOver(node)) || store.nodes.promotions() !== promotions) continue;
      takenOver.set(node.owner, node.until);
      if (endedMs >= keepRowMs) await store.nodes.removeExpired(node, promotions);
    }
  }

  return {
    begin,
    takeOverDead: () => (store.engine === "sqlite" ? takeOverEnded() : takeOverExpired()),
    /** Begins anew: a promoted server may lack what was queued of dead nodes. */
    reset() {
      takenOver.clear();
      unfinished.clear();
    },
  };
}
