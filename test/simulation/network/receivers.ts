// Simulated receivers of the outbound webhooks: they note what they get.

import type { SimulatedSite } from "../relay/base.ts";
import { origins } from "../relay/base.ts";
import type { Random } from "../runtime/random.ts";
import type { FaultAt } from "../runtime/occurrences.ts";
import type { Call, Fate, Internet } from "./internet.ts";

export type Push = { siteId: string; id: string; conversions: number; removed: number; period: string };

type ReceiverFault = FaultAt<"receiver">;

type Behaviour = { random: Random; nextFault: () => ReceiverFault | null };

/** `onPush` is called for every push that a receiver has taken, whether its answer arrives or not. */
export function serveReceivers(
  internet: Internet,
  sites: readonly SimulatedSite[],
  { random, nextFault }: Behaviour,
  onPush: (push: Push) => void,
): void {
  sites.forEach(({ id: siteId }, i) => {
    internet.serve(origins.receiver(i + 1), { onArrived: (call) => answer(call, siteId) });
  });

  function answer({ process, headers, body }: Call, siteId: string): Fate {
    const fault = nextFault();
    if (fault) process.world.occurred.add("receiver", fault);
    if (fault === "silent") return { answers: [] };
    const afterMs = random.between(1, 40);
    if (fault === "failing") return { answers: [{ afterMs, answer: { status: 503, body: "" } }] };
    const { conversions, bot_traffic_removed: removed } = JSON.parse(body);
    const period = String(headers["x-cc-period"]);
    onPush({ siteId, id: String(headers["webhook-id"]), conversions, removed, period });
    const broken = fault === "deaf";
    return { answers: [{ afterMs, answer: broken ? { broken: "ECONNRESET" } : { status: 200, body: "" } }] };
  }
}
