// Simulated platforms. They take what the product's connectors send, and answer as a healthy platform does or as a fault says.

import type { SimulatedConnection, SimulatedSite } from "../relay/base.ts";
import { origins } from "../relay/base.ts";
import { faultsByPlace, type FaultAt } from "../runtime/occurrences.ts";
import type { Random } from "../runtime/random.ts";
import type { Answer, Call, Fate, Internet, Service } from "./internet.ts";

/** One conversion in a call. */
type Item = { platformEventId: string; text: string };

export type PlatformCall = {
  call: Call;
  site: SimulatedSite;
  connection: SimulatedConnection;
  items: Item[];
};

/** `late`: it takes the conversions and answers after the time limit. `deaf`: it takes them, and the connection breaks.
 * `lying`: it takes them and says that it did not. */
export const platformFaults = faultsByPlace.platform;
export type PlatformFault = FaultAt<"platform">;

export type PlatformWatcher = {
  onSent(call: PlatformCall): void;
  /** An answer that accepts all conversions of the call reached the process. */
  onAccepted(call: PlatformCall): void;
};

/** Platforms reject conversions with this value for good. */
export const poisonValue = 13;

type Behaviour = {
  random: Random;
  /** The fault of the next call; null for none. */
  nextFault: () => PlatformFault | null;
  outages: Outages;
};

/** Set by a fault: every call of these connections has it. `isNoticed`: a call was made meanwhile. */
export type Outages = Map<string, { fault: FaultAt<"platform outage">; isNoticed: boolean }>;

type Wire = {
  itemsOf: (body: string) => Item[];
  accepted: (count: number) => string;
  rejected: string;
  unauthorised: string;
  /** True where a success with a body that is not JSON counts as accepted. */
  acceptsGarbage: boolean;
};

const parts = (list: unknown, idOf: (one: never) => unknown): Item[] =>
  (list as never[]).map((one) => ({ platformEventId: String(idOf(one)), text: JSON.stringify(one) }));

const wires: Record<SimulatedConnection["platform"], Wire> = {
  webhook: {
    itemsOf: (body) => parts([JSON.parse(body)], (one: { platformEventId: string }) => one.platformEventId),
    accepted: () => "{}",
    rejected: "{}",
    unauthorised: "{}",
    acceptsGarbage: true,
  },
  meta: {
    itemsOf: (body) => parts(JSON.parse(body).data, (one: { event_id: string }) => one.event_id),
    accepted: (count) => JSON.stringify({ events_received: count }),
    rejected: JSON.stringify({ error: { code: 100, message: "Invalid parameter" } }),
    unauthorised: JSON.stringify({ error: { code: 190, message: "Invalid token" } }),
    acceptsGarbage: false,
  },
  segment: {
    itemsOf: (body) => parts(JSON.parse(body).batch, (one: { properties: { event_id: string } }) => one.properties.event_id),
    accepted: () => JSON.stringify({ success: true }),
    rejected: JSON.stringify({ message: "invalid" }),
    unauthorised: "{}",
    acceptsGarbage: true,
  },
};

export function servePlatforms(
  internet: Internet,
  sites: readonly SimulatedSite[],
  behaviour: Behaviour,
  watcher: PlatformWatcher,
): void {
  const serve = (origin: string, find: (call: Call) => Omit<PlatformCall, "call" | "items">) =>
    internet.serve(origin, servicePlatform(find, behaviour, watcher));
  const metas = new Map<string, Omit<PlatformCall, "call" | "items">>();
  sites.forEach((site, i) => {
    for (const connection of site.connections) {
      const found = { site, connection };
      if (connection.platform === "webhook") serve(origins.webhook(i + 1), () => found);
      else if (connection.platform === "segment") serve(origins.segment(i + 1), () => found);
      else metas.set(String(10_001 + i), found);
    }
  });
  serve(origins.meta, ({ path }) => {
    const found = metas.get(pixelOf(path));
    if (!found) throw new Error(`no pixel is at ${path}`);
    return found;
  });
}

/** The path names the pixel, or its parameter does where Meta is asked about the quality of its events. */
const pixelOf = (path: string) => new URL(path, origins.meta).searchParams.get("dataset_id") ?? path.split("/")[2] ?? "";

/** Meta is asked once a day about the quality of its events. */
const isQuestion = ({ method }: Call) => method === "GET";
const noQuality = JSON.stringify({ web: [] });

function servicePlatform(
  find: (call: Call) => Omit<PlatformCall, "call" | "items">,
  { random, nextFault, outages }: Behaviour,
  watcher: PlatformWatcher,
): Service {
  const read = (call: Call): PlatformCall => {
    const found = find(call);
    const items = isQuestion(call) ? [] : wires[found.connection.platform].itemsOf(call.body);
    return { ...found, call, items };
  };
  const accepting = new WeakSet<Answer>();
  const open = new Map<number, PlatformCall>();
  return {
    onSent(call) {
      const made = read(call);
      open.set(call.id, made);
      watcher.onSent(made);
    },
    onArrived(call) {
      const { items, connection } = open.get(call.id) as PlatformCall;
      const wire = wires[connection.platform];
      const isPoison = ({ text }: Item) => new RegExp(`"(?:value|total|revenue)":${poisonValue}[,}]`).test(text);
      const isRejected = items.some(isPoison);
      const good: Answer = isRejected
        ? { status: 400, body: wire.rejected }
        : { status: 200, body: isQuestion(call) ? noQuality : wire.accepted(items.length) };
      if (!isRejected) accepting.add(good);
      const garbage: Answer = { status: 200, body: "<html>" };
      if (wire.acceptsGarbage) accepting.add(garbage);
      const { occurred } = call.process.world;
      const outage = outages.get(connection.id);
      if (outage && !outage.isNoticed) occurred.add("platform outage", outage.fault);
      if (outage) outage.isNoticed = true;
      const fault = nextFault() ?? outage?.fault ?? null;
      if (fault) occurred.add("platform", fault);
      return fateOf(fault, random, good, garbage, wire);
    },
    onAnswered(call, answer) {
      const made = open.get(call.id);
      if (made && accepting.has(answer)) watcher.onAccepted(made);
    },
  };
}

function fateOf(fault: PlatformFault | null, random: Random, good: Answer, garbage: Answer, wire: Wire): Fate {
  const after = (afterMs: number, answer: Answer): Fate => ({ answers: [{ afterMs, answer }] });
  const soon = random.between(1, 25);
  switch (fault) {
    case null:
      return after(soon, good);
    case "slow":
      return after(random.between(50, 350), good);
    case "late":
      return after(random.between(420, 1500), good);
    case "silent":
      return { answers: [] };
    case "refusing":
      return after(soon, { broken: "ECONNRESET" });
    case "deaf":
      return after(soon, { broken: "UND_ERR_SOCKET" });
    case "failing":
      return after(soon, { status: random.pick([500, 502, 503]), body: "{}" });
    case "lying":
      return after(soon, { status: 500, body: wire.accepted(1) });
    case "limiting":
      return after(soon, {
        status: 429,
        headers: { "retry-after": String(1 + random.below(3)) },
        body: "{}",
      });
    case "garbling":
      return after(soon, garbage);
    case "repeating":
      return { answers: [soon, soon + random.between(0, 300)].map((afterMs) => ({ afterMs, answer: good })) };
    case "unauthorised":
      return after(soon, { status: 401, body: wire.unauthorised });
  }
}
