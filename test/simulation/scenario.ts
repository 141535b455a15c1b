// Decides what a seed does: the installation, its traffic, and the kinds of faults. A seed draws a few kinds only, so that
// their combinations differ, and some seeds have none.

import { faultKinds, type FaultKind } from "./faults/kinds.ts";
import { platformFaults, poisonValue, type PlatformFault } from "./network/platforms.ts";
import { people, robot, type SimulatedSite } from "./relay/base.ts";
import { actionKinds, type ActionKind } from "./relay/operator.ts";
import type { Purchase, SenderRequest } from "./relay/senders.ts";
import type { Random } from "./runtime/random.ts";

export type Scenario = {
  engine: "sqlite" | "postgres";
  /** A commit waits for the standby, so that its promotion loses nothing. */
  isSynchronous: boolean;
  /** How far an asynchronous standby may be behind. */
  replicationMs: number;
  nodes: number;
  trafficMs: number;
  requests: { at: number; request: SenderRequest }[];
  platforms: { rate: number; faults: PlatformFault[]; limits: PlatformLimits };
  receiverFaultRate: number;
  senderLossRate: number;
  /** Where clocks that are wrong go. */
  clocks: "anywhere" | "behind";
  faults: { at: number; kind: FaultKind }[];
  actions: { at: number; kind: ActionKind }[];
};

/**
 * What a scenario has for sure, so that any of a few seeds meets certain conditions, whatever the product's timing is. All else is
 * drawn as usual.
 */
export type Focus = {
  engine?: Scenario["engine"];
  isSynchronous?: boolean;
  replicationMs?: number;
  nodes?: number;
  /** How often each occurs. The other kinds are rare. */
  faults?: Partial<Record<FaultKind, number>>;
  /** Clocks that are wrong are hours behind. Otherwise most of them are ahead. */
  clocks?: Scenario["clocks"];
  /** Most calls of platforms have one of these. */
  platformFaults?: readonly PlatformFault[];
  limits?: PlatformLimits;
  /** How often each is done. There are no others. */
  actions?: Partial<Record<ActionKind, number>>;
  purchases?: number;
  /** The share of purchases without an order id. */
  orderless?: number;
  /** How many orders the purchases belong to; as many as there are purchases otherwise. */
  orders?: number;
  /** The share of purchases of the person whose only visit is a bot's. */
  robots?: number;
  /** The share of requests that are webhooks of a sender's own. */
  sources?: number;
  /** The share of requests that get lost on the way, and of answers. */
  senderLossRate?: number;
  /** The share of purchases that platforms reject. */
  poison?: number;
  /** The number of sites with purchases, from the last one on. */
  sites?: number;
  trafficMs?: number;
};

/** What the lanes of all platforms allow. Far less than in reality, so that a few events fill them. */
export type PlatformLimits = { lanes: number; batch: number; perSecond: number };

const subset = <T>(random: Random, all: readonly T[], share: number) => all.filter(() => random.chance(share));

export function drawScenario(random: Random, sites: readonly SimulatedSite[], focus?: Focus): Scenario {
  const engine = focus?.engine ?? random.pick(["sqlite", "postgres"] as const);
  const isSynchronous = focus?.isSynchronous ?? random.chance(0.55);
  const isCalm = !focus && random.chance(0.1);
  const drawn = isCalm ? [] : drawFaultKinds(random, engine, focus);
  // The relay gives up to wait for a standby after fifteen seconds.
  const isLong = focus?.trafficMs
    ? focus.trafficMs > 20_000
    : isSynchronous && drawn.includes("standby away") && random.chance(0.15);
  // Most seeds are short, so that more of them fit into the same time.
  const isShort = random.chance(0.9);
  const trafficMs = focus?.trafficMs ?? (isLong ? 22_000 : isShort ? random.between(700, 1700) : random.between(1800, 5000));
  const count = focus?.purchases ?? 2 + random.below(isShort ? 4 : random.pick([8, 20]));
  const purchases = drawPurchases(random, sites.slice(-(focus?.sites ?? sites.length)), trafficMs, {
    count,
    orders: focus?.orders ?? count,
    orderless: focus?.orderless ?? 0.1,
    robots: focus?.robots ?? 0.1,
    poison: focus?.poison ?? 0.1,
  });
  // Most faults come when there is something to disturb.
  const drawTime = () =>
    random.chance(0.6) ? random.pick(purchases).at + random.between(-20, 80) : random.between(0, trafficMs);
  const drawTimeOf = (kind: FaultKind) => {
    if (isLong && kind === "standby away") return random.between(300, 4000);
    // Ids do not go back with a clock: only a node that starts with a clock that is behind adds events to the past.
    return focus?.clocks && kind === "wrong clock" ? 0 : drawTime();
  };
  const faults = drawn.flatMap((kind) =>
    Array.from({ length: focus?.faults?.[kind] ?? 1 + random.below(2) }, () => ({
      at: drawTimeOf(kind),
      kind,
    })),
  );
  const kinds = focus?.actions ? actionKinds.filter((kind) => focus.actions?.[kind]) : subset(random, actionKinds, 0.3);
  const actions = kinds.flatMap((kind) =>
    Array.from({ length: focus?.actions?.[kind] ?? 1 + random.below(2) }, () => ({
      at: random.between(400, trafficMs),
      kind,
    })),
  );
  return {
    engine,
    isSynchronous,
    replicationMs: focus?.replicationMs ?? 600,
    nodes: focus?.nodes ?? (engine === "sqlite" ? 1 : random.pick([1, 2, 2, 3])),
    trafficMs,
    requests: toSources(random.stream("sources"), toRequests(random.stream("batches"), purchases), focus?.sources),
    platforms: {
      rate: focus?.platformFaults ? 0.7 : isCalm ? 0 : random.pick([0, 0.1, 0.3, 0.6]),
      faults: focus?.platformFaults?.slice() ?? subset(random, platformFaults, 0.4),
      limits: focus?.limits ?? {
        lanes: random.pick([1, 2, 16]),
        batch: random.pick([1, 3, 50]),
        perSecond: random.pick([2, 1000, 1000]),
      },
    },
    receiverFaultRate: isCalm ? 0 : random.pick([0, 0.3]),
    senderLossRate: focus?.senderLossRate ?? (isCalm ? 0 : random.pick([0, 0, 0.1])),
    clocks: focus?.clocks ?? "anywhere",
    faults: byTime(faults),
    actions: byTime(actions),
  };
}

function drawFaultKinds(random: Random, engine: Scenario["engine"], focus?: Focus): FaultKind[] {
  const possible = faultKinds.filter((kind) => kind.engines.includes(engine)).map(({ name }) => name);
  const share = focus?.faults ? 0.02 : random.pick([0.15, 0.4]);
  const drawn = subset(random, possible, share);
  return possible.filter((kind) => drawn.includes(kind) || focus?.faults?.[kind] !== undefined);
}

const byTime = <T extends { at: number }>(some: readonly T[]) => some.toSorted((one, other) => one.at - other.at);

type TimedPurchase = { at: number; purchase: Purchase };

/** In some seeds a few senders collect purchases of one site, and send them in one request. */
function toRequests(random: Random, purchases: readonly TimedPurchase[]): Scenario["requests"] {
  const share = random.pick([0, 0, 0.5]);
  const requests: Scenario["requests"] = [];
  let batch: SenderRequest | null = null;
  for (const { at, purchase } of purchases) {
    const isOfBatch: boolean = batch?.purchases[0]?.site === purchase.site && random.chance(0.7);
    if (batch && isOfBatch) {
      batch.purchases.push(purchase);
      continue;
    }
    const request: SenderRequest = { to: random.chance(share) ? "batch" : "event", purchases: [purchase] };
    requests.push({ at, request });
    if (request.to === "batch") batch = request;
  }
  return requests;
}

/** Purchases without an order id have values that no others have: ten for each delivery, one for each time that it is repeated. */
const firstDelivery = 1000;
const valuesOfDelivery = 10;

/** The delivery of a purchase without an order id; null for one that came to no source. */
export const deliveryOfValue = (value: number): number | null =>
  value < firstDelivery ? null : Math.floor((value - firstDelivery) / valuesOfDelivery);

/** In some seeds a part of the requests comes to sources. An order may come to both. */
function toSources(random: Random, requests: Scenario["requests"], share = random.chance(0.15) ? 0.5 : 0): Scenario["requests"] {
  let deliveries = 0;
  return requests.map(({ at, request }) => {
    if (!random.chance(share)) return { at, request };
    const purchases = request.purchases.map((purchase): Purchase => {
      deliveries += 1;
      const value = purchase.orderId === null ? firstDelivery + deliveries * valuesOfDelivery : purchase.value;
      return { ...purchase, value, delivery: `d${deliveries}` };
    });
    return { at, request: { to: "source", purchases } };
  });
}

function drawPurchases(
  random: Random,
  sites: readonly SimulatedSite[],
  trafficMs: number,
  { count, orders, orderless, robots, poison }: Record<"count" | "orders" | "orderless" | "robots" | "poison", number>,
): TimedPurchase[] {
  const isBursty = random.chance(0.3);
  const drawn = Array.from({ length: count }, () => {
    const purchase: Purchase = {
      site: random.pick(sites),
      person: random.chance(robots) ? robot : random.pick(people),
      orderId: random.chance(orderless) ? null : `o${random.below(orders)}`,
      name: random.pick(["purchase", "lead"]),
      value: random.chance(poison) ? poisonValue : 20 + random.below(5),
    };
    const at = random.between(200, trafficMs);
    const copies = random.chance(0.25) ? 2 + random.below(2) : 1;
    const spread = random.pick([1, 50, 800]);
    return Array.from({ length: copies }, () => ({
      at: (isBursty ? Math.floor(at / 500) * 500 : at) + random.between(0, spread),
      purchase,
    }));
  });
  return byTime(drawn.flat());
}
