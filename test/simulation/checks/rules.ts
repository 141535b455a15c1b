// The promises of the relay, checked while a seed runs. The first that is broken ends the run.

import { recheckAfterMs } from "../../../src/delivery/recheck.ts";
import type { Sha256 } from "../../../src/kernel/event.ts";
import type { Change } from "../database/tables.ts";
import type { Push } from "../network/receivers.ts";
import type { PlatformCall, PlatformWatcher } from "../network/platforms.ts";
import { clickIdOf, emailSha256Of, everyone } from "../relay/base.ts";
import { sqliteConfig } from "../relay/config.ts";
import type { Answered, Purchase, SenderWatcher } from "../relay/senders.ts";
import { deliveryOfValue } from "../scenario.ts";
import type { World } from "../runtime/world.ts";
import { deliveryKey, finalStates, Ledger, type LedgerEvent } from "./ledger.ts";

export class Violation extends Error {}

type RulesOptions = {
  /** True when no fault can undo this commit. */
  isDurable: (commit: number) => boolean;
  /** Acknowledged commits may be undone: the standby is asynchronous, and may be promoted without them. */
  mayLose: boolean;
  /** The embedded store writes a batch in several short commits. */
  commitsWholeBatches: boolean;
  /** True where nodes share the database, and nothing has kept them from knowing its time exactly. */
  hasExactLeases: () => boolean;
  /** True where nothing but platforms and receivers has failed, so that the relay loses no time. */
  isUndisturbed: () => boolean;
};

/** A delivery gets into its lane, and is sent after the look at what has changed, within this time if nothing disturbs the relay. */
const promptMs = 200;

/** Two events with the same key are duplicates: a seed is shorter than every window. */
const duplicateKey = (of: { siteId: string; name: string; orderId: string | null; emailSha256: string; value: number | null }) =>
  `${of.siteId} ${of.name} ${of.orderId ?? `value ${of.value}`} ${of.emailSha256}`;

const keyOfPurchase = ({ site, person, ...rest }: Purchase) =>
  duplicateKey({ ...rest, siteId: site.id, emailSha256: emailSha256Of(person) });

/** The delivery of a sender to a source that has no order id, and may come with another value each time; null for others. */
const deliveryOf = ({ siteId, orderId, value }: { siteId: string; orderId: string | null; value: number | null }) => {
  const delivery = orderId === null && value !== null ? deliveryOfValue(value) : null;
  return delivery === null ? null : `${siteId} ${delivery}`;
};

const personKey = ({ siteId, emailSha256 }: { siteId: string; emailSha256: string }) => `${siteId} ${emailSha256}`;

export class Rules implements PlatformWatcher, SenderWatcher {
  readonly ledger = new Ledger();
  /** The first broken promise. */
  violation: Violation | null = null;
  readonly #world: World;
  readonly #isDurable: RulesOptions["isDurable"];
  readonly #mayLose: boolean;
  readonly #commitsWholeBatches: boolean;
  readonly #hasExactLeases: RulesOptions["hasExactLeases"];
  readonly #isUndisturbed: RulesOptions["isUndisturbed"];
  /** Deliveries that a platform accepted, in an answer that reached a process, by the id that platforms get. */
  readonly #accepted = new Set<string>();
  readonly #byKey = new Map<string, LedgerEvent>();
  /** Events of deliveries to sources. */
  readonly #byDelivery = new Map<string, LedgerEvent>();
  readonly #answered = new Set<LedgerEvent>();
  /** Events that were answered with anything but "deduped". */
  readonly #processed = new Set<string>();
  /** When each person's refusal was confirmed to the operator. */
  readonly #refusedAt = new Map<string, number>();
  /** The grants of each person that were not confirmed, and when the last one was. One that fails may take effect at any time. */
  readonly #grants = new Map<string, { open: number; endedAt: number }>();
  /** When a commit was lost that had written a decision about the person. */
  readonly #consentLostAt = new Map<string, number>();
  /** When a purchase reached a node for the first time, by duplicate key. */
  readonly #arrivedAt = new Map<string, number>();
  /** How many requests with a duplicate key have reached nodes. */
  readonly #arrivals = new Map<string, number>();
  /** When the current claim of a delivery was committed. */
  readonly #claimedAt = new Map<string, number>();
  /** When a delivery ended because its person was erased. */
  readonly #erasedAt = new Map<string, number>();
  /** When a delivery was last called for. A call that follows at once repeats a part of a batch, which is not looked at again. */
  readonly #calledAt = new Map<string, number>();
  /** When the release of an event began. */
  readonly #releasingAt = new Map<string, number>();
  /** What receivers got, by site and number of the period. */
  readonly #pushes = new Map<string, Map<number, string>>();
  /** Sites whose deliveries an operator replays. */
  readonly #replayed = new Set<string>();
  /** True when an acknowledged commit was undone. */
  hasLost = false;
  /** The events that a lost commit had accepted: their ids, those that platforms get, and their duplicate keys. */
  readonly #lost = new Set<string>();
  /** Counters for the report. */
  readonly seen = { commits: 0, pushes: 0, calls: 0, accepted: 0, answers: 0, lost: 0 };

  constructor(world: World, { isDurable, mayLose, commitsWholeBatches, hasExactLeases, isUndisturbed }: RulesOptions) {
    this.#world = world;
    this.#isDurable = isDurable;
    this.#mayLose = mayLose;
    this.#commitsWholeBatches = commitsWholeBatches;
    this.#hasExactLeases = hasExactLeases;
    this.#isUndisturbed = isUndisturbed;
  }

  fail(what: string): void {
    this.#world.log("rules", `violation: ${what}`);
    this.violation ??= new Violation(`${what} (at ${this.#world.now.toFixed(3)} ms)`);
  }

  /** True for the id of an event that a lost commit had accepted. Rows that were written later may still name it. */
  isLost(id: string): boolean {
    return this.#lost.has(id);
  }

  /** Without an id: what follows from any lost commit is excused. */
  #failUnlessLost(what: string, lost?: string): void {
    const isExcused = lost === undefined ? this.hasLost : this.#lost.has(lost);
    if (!isExcused) this.fail(what);
  }

  /** To be called before the ledger drops the events. */
  #noteLost(changes: readonly Change[]): void {
    if (!this.#mayLose) return;
    this.hasLost = true;
    for (const { table, before, after } of changes) {
      const [siteId, id] = table.key.map((at) => String(before?.[at]));
      if (table.name === "consents") {
        // A decision that was confirmed is gone like any other commit that the promoted server lacks.
        this.#refusedAt.delete(`${siteId} ${id}`);
        this.#consentLostAt.set(`${siteId} ${id}`, this.#world.now);
      }
      const event = table.name === "events" ? this.ledger.events.get(`${siteId} ${id}`) : undefined;
      if (!event) continue;
      // Of an event that is filtered again, only the release was lost.
      const lost = after ? [event.platformEventId] : [event.id, event.platformEventId, duplicateKey(event)];
      for (const one of lost) this.#lost.add(one);
    }
  }

  onCommit(changes: readonly Change[], commit: number, isLost: boolean): void {
    this.seen.commits += 1;
    if (isLost) {
      this.seen.lost += 1;
      this.#noteLost(changes);
    }
    const before = new Map(
      changes
        .filter(({ table }) => table.name === "deliveries")
        .map(({ table, after, before: old }) => {
          const row = after ?? old ?? [];
          const key = deliveryKey(...(table.key.map((at) => String(row[at])) as [string, string, string]));
          return [key, this.ledger.deliveries.get(key)];
        }),
    );
    this.ledger.apply(changes, commit);
    for (const change of changes) this.#checkChange(change, isLost);
    if (!isLost) this.#checkDeliveries(before);
    this.#checkTotals();
  }

  #checkChange({ table, before, after }: Change, isLost: boolean): void {
    const column = (row: (string | number | null)[] | null, name: string) => String(row?.[table.columns.indexOf(name)]);
    if (table.name === "events") {
      const row = after ?? before;
      const [siteId, id] = [column(row, "site_id"), column(row, "id")];
      if (after && !before) this.#addEvent(siteId, id);
      else if (!after) this.#removeEvent(siteId, id, isLost);
      if (after && !isLost) this.#checkStored(siteId, id, before ? column(before, "status") : null);
    }
    if (table.name === "outcomes" && after && !before) {
      const [siteId, id] = [column(after, "site_id"), column(after, "event_id")];
      this.#checkOutcomes(siteId, id);
    }
  }

  #addEvent(siteId: string, id: string): void {
    const event = this.ledger.events.get(`${siteId} ${id}`);
    if (!event) return;
    const key = duplicateKey(event);
    const other = this.#byKey.get(key);
    if (other && other.id !== id) this.fail(`order ${event.orderId} was accepted twice: ${other.id} and ${id}`);
    this.#byKey.set(key, event);
    const delivery = deliveryOf(event);
    if (delivery === null) return;
    const first = this.#byDelivery.get(delivery);
    if (first) this.fail(`delivery ${delivery} was accepted twice: ${first.id} and ${id}`);
    this.#byDelivery.set(delivery, event);
  }

  /** `status` is the one before; null for a new event. */
  #checkStored(siteId: string, id: string, status: string | null): void {
    const event = this.ledger.events.get(`${siteId} ${id}`);
    if (!event || event.status === status) return;
    const sentAs = this.ledger.sentAs(siteId, event.platformEventId);
    if (sentAs.size > 1) this.fail(`the events ${[...sentAs.keys()].join(" and ")} are sent under one id`);
    // Consent is read when the event has arrived, or when its release has begun.
    const readAt = status === null ? this.#arrivedAt.get(duplicateKey(event)) : this.#releasingAt.get(`${siteId} ${id}`);
    const refusedAt = this.#refusedAt.get(personKey(event));
    if (refusedAt !== undefined && readAt !== undefined && refusedAt <= readAt && !event.isWithheld)
      this.fail(`event ${id} is stored with identifiers, although its person has refused consent`);
  }

  #removeEvent(siteId: string, id: string, isLost: boolean): void {
    for (const [key, event] of this.#byKey) if (event.siteId === siteId && event.id === id) this.#byKey.delete(key);
    for (const [key, event] of this.#byDelivery) if (event.siteId === siteId && event.id === id) this.#byDelivery.delete(key);
    if (!isLost) this.fail(`event ${id} was removed`);
    for (const event of this.#answered)
      if (event.id === id) this.#failUnlessLost(`event ${id} was answered with 200 and is lost`, id);
  }

  #checkOutcomes(siteId: string, eventId: string): void {
    const outcomes = this.ledger.outcomesOf(siteId, eventId);
    const event = this.ledger.events.get(`${siteId} ${eventId}`);
    if (!event) return this.#failUnlessLost(`outcomes of event ${eventId}, which is not there`, eventId);
    if (new Set(outcomes.map(({ position }) => position)).size < outcomes.length)
      this.fail(`event ${eventId} has two outcomes for one delivery`);
    for (const { position, sent } of outcomes) {
      const connectionId = event.plan[position]?.connectionId;
      if (connectionId === undefined) this.fail(`event ${eventId} has an outcome that its plan does not have`);
      else if (sent) this.#checkAccepted(event, connectionId);
    }
  }

  #checkAccepted({ siteId, id, platformEventId }: LedgerEvent, connectionId: string): void {
    if (!this.#accepted.has(deliveryKey(siteId, platformEventId, connectionId)))
      this.fail(`event ${id} counts as sent to ${connectionId}, which never accepted it`);
  }

  #checkDeliveries(before: ReadonlyMap<string, { state: string; attempts: number } | undefined>): void {
    for (const [key, old] of before) {
      const now = this.ledger.deliveries.get(key);
      if (!now) continue;
      const [siteId = "", eventId = "", connectionId = ""] = key.split(" ");
      const event = this.ledger.events.get(`${siteId} ${eventId}`);
      if (!event) {
        this.#failUnlessLost(`a delivery of event ${eventId}, which is not there`, eventId);
        continue;
      }
      // A row that was inserted with its owner belongs to an event that arrived a moment ago.
      if (old && now.state === "queued" && now.owner !== "") this.#claimedAt.set(key, this.#world.now);
      if (now.reason === "person erased") this.#erasedAt.set(key, this.#world.now);
      if (now.state === "sent" && old?.state !== "sent") this.#checkAccepted(event, connectionId);
      if (old && now.attempts < old.attempts) this.fail(`attempts of event ${eventId} were lost`);
      const isReplayed = now.state === "queued" && this.#replayed.has(siteId);
      if (old && finalStates.includes(old.state as never) && now.state !== old.state && !isReplayed)
        this.fail(`event ${eventId} had ended as ${old.state} and is ${now.state}`);
    }
  }

  /** Totals and events are written in one transaction, so they agree after each. */
  #checkTotals(): void {
    for (const [siteId, { conversions, removed }] of this.ledger.totals) {
      const counted = this.ledger.counted.get(siteId) ?? { conversions: 0, removed: 0 };
      if (conversions !== counted.conversions || removed !== counted.removed)
        this.fail(
          `the totals of site ${siteId} are ${conversions} and ${removed}, its rows ${counted.conversions} and ${counted.removed}`,
        );
    }
  }

  onSent({ call, site, connection, items }: PlatformCall): void {
    this.seen.calls += 1;
    for (const { platformEventId, text } of items) {
      const [event] = this.ledger.sentAs(site.id, platformEventId).values();
      if (!event) {
        // A node may send what it accepted before the commit was lost.
        this.#failUnlessLost(`call ${call.id} sends ${platformEventId}, which was not accepted`, platformEventId);
        continue;
      }
      if (!this.#isDurable(event.commit)) this.fail(`call ${call.id} sends event ${event.id} before it is durable`);
      const state = this.ledger.stateOf(event, connection.id);
      const hasEnded = state !== null && finalStates.includes(state);
      if (hasEnded && !this.#isErasedMeanwhile(event, connection.id))
        this.fail(`call ${call.id} sends event ${event.id} to ${connection.id} after its outcome was recorded: ${state}`);
      this.#checkLease(event, connection.id);
      this.#checkConsent(event, connection.id, text);
      this.#calledAt.set(deliveryKey(event.siteId, event.id, connection.id), this.#world.now);
    }
  }

  /** Another node may send what this one has no lease for until its attempt has ended. */
  #checkLease(event: LedgerEvent, connectionId: string): void {
    const state = this.ledger.stateOf(event, connectionId);
    if (!this.#hasExactLeases() || (state !== null && state !== "queued")) return;
    const { epoch, now } = this.#world;
    const leftMs = this.ledger.leaseEndOf(event, connectionId) - (epoch + now);
    if (leftMs < sqliteConfig.attemptMs)
      this.fail(
        `event ${event.id} is sent to ${connectionId}, and its lease may end during the attempt, in ${Math.round(leftMs)} ms`,
      );
  }

  /** When the consent was read with which a delivery is sent: when its event arrived, or when it was claimed. */
  #readAt(event: LedgerEvent, connectionId: string): number | undefined {
    const claimedAt = this.#claimedAt.get(deliveryKey(event.siteId, event.id, connectionId));
    return claimedAt ?? this.#arrivedAt.get(duplicateKey(event));
  }

  /** How old a change may be that a call does not know of. What waited in a lane is looked at again directly before its call. */
  #unawareMs(event: LedgerEvent, connectionId: string): number {
    // After the erasure of its person it is not known any more when an event arrived that was never claimed.
    const readAt = this.#readAt(event, connectionId) ?? this.#world.now;
    const calledAt = this.#calledAt.get(deliveryKey(event.siteId, event.id, connectionId)) ?? -1;
    const hasWaited = this.#world.now - readAt > recheckAfterMs + promptMs;
    return hasWaited && calledAt < readAt && this.#isUndisturbed() ? promptMs : sqliteConfig.leaseMs;
  }

  /** An erasure does not wait for what a node has leased and may be sending. */
  #isErasedMeanwhile(event: LedgerEvent, connectionId: string): boolean {
    const erasedAt = this.#erasedAt.get(deliveryKey(event.siteId, event.id, connectionId));
    return erasedAt !== undefined && this.#world.now <= erasedAt + this.#unawareMs(event, connectionId);
  }

  /** A refusal counts for what is read after it, and for what is looked at again after it. */
  #checkConsent(event: LedgerEvent, connectionId: string, text: string): void {
    const person = everyone.find((one) => emailSha256Of(one) === event.emailSha256);
    // What an erasure has not stopped is checked above.
    if (person === undefined) return;
    if (!text.includes(event.emailSha256) && !text.includes(clickIdOf(person))) return;
    if (event.isWithheld) this.fail(`event ${event.id} is sent with identifiers that were withheld when it arrived`);
    const refusedAt = this.#refusedAt.get(personKey(event));
    const readAt = this.#readAt(event, connectionId);
    if (refusedAt === undefined || readAt === undefined) return;
    if (readAt >= refusedAt || (this.#isUndisturbed() && this.#world.now > refusedAt + this.#unawareMs(event, connectionId)))
      this.fail(`event ${event.id} is sent with identifiers, although its person has refused consent`);
  }

  onAccepted({ site, connection, items }: PlatformCall): void {
    this.seen.accepted += items.length;
    for (const { platformEventId } of items) this.#accepted.add(deliveryKey(site.id, platformEventId, connection.id));
  }

  /** A request reached a node. */
  onArrived(purchase: Purchase): void {
    const key = keyOfPurchase(purchase);
    if (!this.#arrivedAt.has(key)) this.#arrivedAt.set(key, this.#world.now);
    this.#arrivals.set(key, (this.#arrivals.get(key) ?? 0) + 1);
  }

  /** A refusal was confirmed that began at `since`. Of a grant at the same time it is not known which of the two came last. */
  onRefused(siteId: string, emailSha256: Sha256, since: number): void {
    const key = `${siteId} ${emailSha256}`;
    const grant = this.#grants.get(key);
    if (grant && (grant.open > 0 || grant.endedAt >= since)) return;
    if ((this.#consentLostAt.get(key) ?? -1) >= since) return;
    this.#refusedAt.set(key, this.#world.now);
  }

  onReleasing(siteId: string, eventId: string): void {
    this.#releasingAt.set(`${siteId} ${eventId}`, this.#world.now);
  }

  /** The events of a person that an erasure has to find. */
  eventsOf(siteId: string, emailSha256: Sha256): LedgerEvent[] {
    return [...this.ledger.events.values()].filter((event) => event.siteId === siteId && event.emailSha256 === emailSha256);
  }

  /** The erasure of a person was confirmed, who had these events when it began. */
  onErased(events: readonly LedgerEvent[]): void {
    for (const event of events) {
      // As it is now: a release meanwhile gives an event another plan.
      const left = this.ledger.events.get(`${event.siteId} ${event.id}`);
      if (!left) continue;
      if (left.emailSha256 !== "") this.#failUnlessLost(`event ${event.id} names its person after the erasure`);
      for (const { connectionId } of left.plan) {
        const state = this.ledger.stateOf(left, connectionId);
        if (state === null || !finalStates.includes(state))
          this.#failUnlessLost(`event ${event.id} waits for ${connectionId} after the erasure of its person: ${state ?? "open"}`);
      }
    }
  }

  onReplay(siteId: string): void {
    this.#replayed.add(siteId);
  }

  onGranting(siteId: string, emailSha256: Sha256): void {
    const key = `${siteId} ${emailSha256}`;
    this.#refusedAt.delete(key);
    const { open, endedAt } = this.#grants.get(key) ?? { open: 0, endedAt: -1 };
    this.#grants.set(key, { open: open + 1, endedAt });
  }

  onGranted(siteId: string, emailSha256: Sha256): void {
    const key = `${siteId} ${emailSha256}`;
    const { open } = this.#grants.get(key) ?? { open: 1 };
    this.#grants.set(key, { open: open - 1, endedAt: this.#world.now });
  }

  /** A relay wrote 200 to the socket. */
  onAnswered(answered: readonly Answered[]): void {
    for (const one of answered) this.#checkAnswer(one);
    const commits = answered.flatMap(({ purchase, body }) =>
      body.results ? (this.#byKey.get(keyOfPurchase(purchase))?.commit ?? []) : [],
    );
    if (this.#commitsWholeBatches && new Set(commits).size > 1)
      this.fail(`a batch was accepted in the commits ${commits.join(", ")}`);
  }

  /** Of deliveries to a source nobody is told what became of them, only that they are durable. */
  onTaken(purchases: readonly Purchase[]): void {
    this.seen.answers += purchases.length;
    for (const purchase of purchases) {
      const key = keyOfPurchase(purchase);
      const delivery = deliveryOf({ ...purchase, siteId: purchase.site.id });
      const event = delivery === null ? this.#byKey.get(key) : this.#byDelivery.get(delivery);
      const name = purchase.orderId === null ? `delivery ${delivery}` : `order ${purchase.orderId}`;
      if (!event) this.#failUnlessLost(`${name} was answered with 200 and is not there`);
      else if (!this.#isDurable(event.commit)) this.fail(`${name} was answered with 200 before it is durable`);
      else this.#answered.add(event);
    }
  }

  #checkAnswer({ purchase, body: answer }: Answered): void {
    this.seen.answers += 1;
    const { orderId } = purchase;
    const key = keyOfPurchase(purchase);
    const event = this.#byKey.get(key);
    if (!event) return this.#failUnlessLost(`order ${orderId} was answered with 200 and is not there`, key);
    if (!this.#isDurable(event.commit)) this.fail(`order ${orderId} was answered with 200 before it is durable`);
    this.#answered.add(event);
    if (answer.deduped) {
      if ((this.#arrivals.get(key) ?? 0) < 2) this.fail(`order ${orderId} arrived once and is a duplicate`);
      return;
    }
    if (this.#processed.has(event.id)) this.#failUnlessLost(`order ${orderId} was processed twice`);
    this.#processed.add(event.id);
    // It may be the answer to a request whose own event is lost; the sender's next one was accepted as another event since.
    if (this.#lost.has(key)) return;
    if (answer.filtered && event.status !== "filtered") this.fail(`order ${orderId} was not filtered`);
    for (const { id, platform } of purchase.site.connections) if (answer.results?.[platform]?.ok) this.#checkAccepted(event, id);
  }

  /** A receiver has taken the totals of a period. */
  onPush({ siteId, id, conversions, removed }: Push): void {
    this.seen.pushes += 1;
    const number = Number(id.split("_")[2]);
    const received = this.#pushes.get(siteId) ?? new Map<number, string>();
    this.#pushes.set(siteId, received);
    const text = `${conversions} ${removed}`;
    const known = received.get(number);
    if (known !== undefined && known !== text)
      this.#failUnlessLost(`period ${number} of site ${siteId} was pushed as ${known} and as ${text}`);
    if (known === undefined && number > 1 && !received.has(number - 1))
      this.#failUnlessLost(`period ${number} of site ${siteId} was pushed before period ${number - 1}`);
    received.set(number, text);
  }

  /** What has not ended yet; null when everything has. */
  findOpen(): string | null {
    for (const event of this.ledger.events.values()) {
      if (event.status === "filtered") continue;
      for (const { connectionId } of event.plan) {
        const state = this.ledger.stateOf(event, connectionId);
        if (state === null || !finalStates.includes(state)) return `event ${event.id} is ${state ?? "open"} at ${connectionId}`;
      }
    }
    const [push] = this.ledger.queuedPushes;
    return push === undefined ? null : `push ${push} is queued`;
  }

  /** The periods that were pushed add up to the totals at the last one. */
  #checkPushes(): void {
    for (const [siteId, head] of this.ledger.heads) {
      let [conversions, removed] = [0, 0];
      const received = this.#pushes.get(siteId);
      for (let number = 1; number <= head.number; number++) {
        const text = received?.get(number);
        if (text === undefined) return this.fail(`period ${number} of site ${siteId} was never pushed`);
        const [one = 0, other = 0] = text.split(" ").map(Number);
        conversions += one;
        removed += other;
      }
      if (conversions !== head.conversions || removed !== head.removed)
        this.fail(`site ${siteId} was told of ${conversions} and ${removed}, and has ${head.conversions} and ${head.removed}`);
    }
  }

  /** Everything has drained: each delivery has ended, and says why. */
  checkEnd(): void {
    if (!this.hasLost) this.#checkPushes();
    for (const event of this.#answered)
      if (!this.ledger.events.has(`${event.siteId} ${event.id}`))
        this.#failUnlessLost(`event ${event.id} was answered with 200 and is not there`, event.id);
    for (const event of this.ledger.events.values()) {
      if (event.emailSha256 === "") this.#checkErased(event);
      if (event.status === "filtered") continue;
      for (const { connectionId } of event.plan) {
        const state = this.ledger.stateOf(event, connectionId);
        if (state === null || !finalStates.includes(state))
          this.fail(`event ${event.id} has not ended at ${connectionId}: ${state ?? "open"}`);
        else if (state !== "sent" && !this.ledger.reasonOf(event, connectionId))
          this.fail(`event ${event.id} ended at ${connectionId} as ${state} without a reason`);
      }
    }
  }

  /** Requests and answers are written by nodes that may learn of the erasure late. */
  #checkErased({ siteId, id }: LedgerEvent): void {
    for (const [key, request] of this.ledger.requestsOf(siteId, id))
      if (request !== "" && request !== "(erased)") this.#failUnlessLost(`attempt ${key} keeps its request after the erasure`);
    if (this.ledger.outcomesOf(siteId, id).some(({ sent }) => (sent?.response ?? null) !== null))
      this.#failUnlessLost(`an outcome of event ${id} keeps its answer after the erasure`);
  }
}
