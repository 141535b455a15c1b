// Simulated senders: they send purchases to any node, some of them several times, in batches or as webhooks of their own, and again
// what was not taken.

import { createHmac } from "node:crypto";
import type { Random } from "../runtime/random.ts";
import type { FaultAt } from "../runtime/occurrences.ts";
import { cancel, type World } from "../runtime/world.ts";
import { emailOf, sourceSecret, type SimulatedSite } from "./base.ts";
import type { InboundAnswer, InboundRequest, RelayNode } from "./node.ts";

export type Purchase = {
  site: SimulatedSite;
  person: string;
  orderId: string | null;
  name: string;
  value: number;
  /** The sender's own id of the delivery, for a source. A repeat of it may carry another value. */
  delivery?: string;
};

/** Only a batch and a request to a source have more than one purchase, all of one site. */
export type SenderRequest = { to: "event" | "batch" | "source"; purchases: Purchase[] };

export type SenderWatcher = {
  /** A request with this purchase reached a node. */
  onArrived(purchase: Purchase): void;
  /** A relay wrote an answer to the socket: 200, and for each purchase its own answer. */
  onAnswered(answered: readonly Answered[]): void;
  /** A source wrote 200 to the socket, which speaks for all purchases. */
  onTaken(purchases: readonly Purchase[]): void;
};

export type Answered = { purchase: Purchase; body: AnswerBody };

type AnswerBody = {
  ok: boolean;
  deduped?: true;
  filtered?: true;
  results?: Record<string, { ok: boolean }>;
};

type SenderOptions = {
  world: World;
  random: Random;
  /** The share of requests that get lost on the way, and of answers. */
  lossRate: () => number;
  /** A node that a load balancer would choose; null while there is none. */
  findNode: () => RelayNode | null;
  watcher: SenderWatcher;
};

/** A sender waits this long for an answer. */
const timeoutMs = 1200;
const maxTries = 8;

export class Senders {
  readonly #options: SenderOptions;
  /** Requests that were not answered yet. */
  open = 0;
  readonly answers = {
    dispatched: 0,
    deduped: 0,
    filtered: 0,
    unavailable: 0,
    none: 0,
    other: 0,
    batches: 0,
    "of sources": 0,
  };

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  send(request: SenderRequest): void {
    this.open += 1;
    this.#try(request, 1);
  }

  #try(request: SenderRequest, tries: number): void {
    const { world, random, lossRate, findNode, watcher } = this.#options;
    const retry = (rest: SenderRequest) => {
      if (tries >= maxTries) return void (this.open -= 1);
      world.after(random.between(100, 800), "sender retries", () => this.#try(rest, tries + 1));
    };
    const node = findNode();
    if (!node) return retry(request);
    const { process } = node;
    let isOver = false;
    const timeout = world.after(timeoutMs, "sender gives up", () => {
      isOver = true;
      this.answers.none += 1;
      retry({ ...request, purchases: request.to === "source" ? this.#change(request.purchases) : request.purchases });
    });
    const isLost = (what: FaultAt<"network">) => {
      if (!random.chance(lossRate())) return false;
      world.occurred.add("network", what);
      return true;
    };
    if (isLost("lost request of a sender")) return;
    const label = describe(request);
    process.after(random.between(0.1, 3), `request ${label}`, () => {
      for (const purchase of request.purchases) watcher.onArrived(purchase);
      node.receive(toInbound(request), (answer) => {
        if (!process.act(`answer ${answer.status} ${answer.body}`)) return;
        const answered = readAnswer(request, answer);
        if (request.to === "source" && answer.status === 200) watcher.onTaken(request.purchases);
        else if (answered.length > 0) watcher.onAnswered(answered);
        if (isLost("lost answer to a sender")) return;
        world.after(random.between(0.1, 3), `answer ${answer.status} to ${label}`, () => {
          if (isOver) return;
          cancel(timeout);
          this.#count(request, answer.status, answered);
          const taken = new Set(answered.map(({ purchase }) => purchase));
          const purchases = request.purchases.filter((purchase) => !taken.has(purchase));
          if (purchases.length === 0) this.open -= 1;
          else retry({ ...request, purchases: request.to === "source" ? this.#change(purchases) : purchases });
        });
      });
    });
  }

  /** A sender that repeats a delivery makes its text anew: an order may have changed meanwhile. */
  #change(purchases: readonly Purchase[]): Purchase[] {
    const { random } = this.#options;
    return purchases.map((one) => (one.orderId === null && random.chance(0.5) ? { ...one, value: one.value + 1 } : one));
  }

  #count({ to }: SenderRequest, status: number, answered: readonly Answered[]): void {
    const { answers } = this;
    if (status === 503) answers.unavailable += 1;
    else if (status !== 200) answers.other += 1;
    if (to === "batch" && status === 200) answers.batches += 1;
    if (to === "source" && status === 200) answers["of sources"] += 1;
    else for (const { body } of answered) answers[body.deduped ? "deduped" : body.filtered ? "filtered" : "dispatched"] += 1;
  }
}

const describe = ({ to, purchases }: SenderRequest) =>
  `${to === "event" ? "" : `${to} `}${purchases.map(({ orderId, person }) => `${orderId} of ${person}`).join(", ")}`;

function toInbound({ to, purchases }: SenderRequest): InboundRequest {
  const events = purchases.map(({ person, orderId, name, value, delivery }) => ({
    email: emailOf(person),
    event: name,
    orderId,
    value,
    ...(delivery !== undefined && { delivery }),
  }));
  const { key, sourcePath } = (purchases[0] as Purchase).site;
  if (to === "source") {
    const body = JSON.stringify({ orders: events });
    return { path: sourcePath, headers: { "x-signature": createHmac("sha256", sourceSecret).update(body).digest("hex") }, body };
  }
  const headers = { "x-cc-api-key": key };
  return to === "batch"
    ? { path: "/__cc/inbound/batch", headers, body: JSON.stringify({ events }) }
    : { path: "/__cc/inbound", headers, body: JSON.stringify(events[0]) };
}

/** Returns the purchases that the relay took. A batch may be taken in part. */
function readAnswer({ to, purchases }: SenderRequest, { status, body }: InboundAnswer): Answered[] {
  if (status !== 200) return [];
  const read = JSON.parse(body) as AnswerBody & { results: AnswerBody[] };
  const bodies: AnswerBody[] = to === "batch" ? read.results : purchases.map(() => read);
  return purchases.flatMap((purchase, i) => {
    const own = bodies[i];
    return own?.ok ? [{ purchase, body: own }] : [];
  });
}
