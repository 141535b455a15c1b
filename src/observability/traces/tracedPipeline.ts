// The pipeline as the endpoints use it: with a trace of each event where traces are made, and as it is where they are not.

import { acceptBatch, relay, relayBatch, type Received, type RelayContext } from "../../pipeline.ts";
import type { Site } from "../../sites/directory.ts";
import type { Traces } from "./traces.ts";

export function tracedPipeline(context: RelayContext, traces: Traces | null) {
  const parts: RelayContext = { ...context, trace: traces?.step };
  const plain = {
    relay: (received: Received, site: Site, deadline: number) => relay(received, site, deadline, parts),
    relayBatch: (batch: readonly Received[], site: Site, deadline: number) => relayBatch(batch, site, deadline, parts),
    acceptBatch: (batch: readonly Received[], site: Site, deadline: number) => acceptBatch(batch, site, deadline, parts),
  };
  if (!traces) return plain;
  const traced: typeof plain = {
    relay: (received, site, deadline) => traces.receive(received, site, () => plain.relay(received, site, deadline)),
    relayBatch: (batch, site, deadline) => traces.receiveAll(batch, site, () => plain.relayBatch(batch, site, deadline)),
    acceptBatch: (batch, site, deadline) => traces.receiveAll(batch, site, () => plain.acceptBatch(batch, site, deadline)),
  };
  return traced;
}
