// One node of the relay: the steps of an event as in src/pipeline.ts and src/delivery, with the cost of each.

import type { Clock } from "./clock.ts";
import type { Costs } from "./costs.ts";
import { Pool, readsFor, statementsFor, type Database } from "./database.ts";
import { Groups } from "./groupCommit.ts";
import { Lanes, type Limits } from "./lanes.ts";
import type { Thread } from "./machine.ts";

export type Event = { site: number; left: number; answered: () => void };
/** A delivery; `sent` is true when the platform accepted it. */
export type Job = {
  /** The event whose first attempt this is; absent for a delivery that has a row. */
  first?: OpenEvent;
  settled: (sent: boolean) => void;
};

/** Assumed shares of the steps in the cost of an event and of a delivery; only the sums are measured. */
const beforeStore = 0.3;
const inReads = 0.2;
const inAccept = 0.3;

/** Outcomes of one event wait this long for each other: `gatherMs` of src/delivery/openEvents.ts. */
const gatherMs = 2;

export type NodeOptions = {
  clock: Clock;
  thread: Thread;
  database: Database;
  poolSize: number;
  costs: Costs;
  /** The number of groups of sites that share transactions. */
  commitGroups: number;
  platforms: readonly Limits[];
  /** Calls a platform; `passed` is false when it is down. */
  call: (limits: Limits, answered: (passed: boolean) => void) => void;
  /** Receives the result of a delivery's first attempt; a failed delivery waits in the store. */
  onFirst: (limits: Limits, site: number, sent: boolean) => void;
};

type Settlement = { sent: boolean; job: Job; durable: () => void };
/** An event with first attempts that are not settled, and those that ended and are not written. */
type OpenEvent = { site: number; left: number; ended: Settlement[] };
/** First attempts of one event, which are written as one row of outcomes. */
type FirstSettlement = { site: number; ended: Settlement[] };

export class RelayNode {
  readonly lanes: Lanes<Job>;
  readonly readers: Pool;
  readonly writers: Pool;
  readonly options: NodeOptions;
  #people: Groups<() => void>;
  #consents: Groups<() => void>;
  #accepts: Groups<Event>;
  #settlements: Groups<Settlement>;
  #firstSettlements: Groups<FirstSettlement>;
  #answers: Event[] = [];

  constructor(options: NodeOptions) {
    const { clock, thread, poolSize } = options;
    this.options = options;
    const forReads = Math.max(1, Math.floor(poolSize / 2));
    this.readers = new Pool(clock, forReads);
    this.writers = new Pool(clock, Math.max(1, poolSize - forReads));
    this.lanes = new Lanes(clock, (limits, site, batch, done) => this.#deliver(limits, site, batch, done));
    const nextTurn = (begin: () => void) => thread.run(0, begin);
    this.#people = new Groups(nextTurn, (_site, items, done) => this.#read(items, 1, done));
    this.#consents = new Groups(nextTurn, (_site, items, done) => this.#read(items, 0.5, done));
    this.#accepts = new Groups(nextTurn, (_group, items, done) => this.#accept(items, done));
    this.#settlements = new Groups(nextTurn, (_group, items, done) => this.#settle(items, done));
    this.#firstSettlements = new Groups(nextTurn, (_group, items, done) => this.#settleFirst(items, done));
  }

  #groupOf(site: number): number {
    return site % this.options.commitGroups;
  }

  receive(event: Event): void {
    this.options.thread.run(this.options.costs.node.event * beforeStore, () => {
      // One query reads consent and identity.
      this.#people.add(event.site, () => this.#accepts.add(this.#groupOf(event.site), event));
    });
  }

  readConsent(site: number, read: () => void): void {
    this.#consents.add(site, read);
  }

  /** Runs statements in one round trip on one connection. */
  ask(count: number, us: number, done: () => void): void {
    const { database, thread, costs } = this.options;
    const own = us + count * costs.database.statement;
    database.ask(thread, count, count * costs.node.statement, own, done);
  }

  commit(done: () => void): void {
    const { database, thread, costs } = this.options;
    database.commit(thread, costs.node.statement, costs.database.statement, done);
  }

  /** `share`: the part of an event's reads that one item takes. */
  #read(items: (() => void)[], share: number, done: () => void): void {
    const us = items.length * this.options.costs.database.event * inReads * share;
    this.readers.use((release) =>
      this.ask(readsFor(items.length), us, () => {
        release();
        for (const read of items) read();
        done();
      }),
    );
  }

  /** The claims; then the events with their plans; then the totals. */
  #accept(items: Event[], done: () => void): void {
    const { costs, platforms } = this.options;
    const plans = platforms.length * costs.database.delivery * inAccept;
    const rows = items.length * (costs.database.event * (1 - inReads) + plans);
    this.writers.use((release) =>
      this.ask(1 + statementsFor(items.length), rows / 2, () =>
        this.ask(statementsFor(items.length), rows / 2, () =>
          this.ask(1, 0, () =>
            this.commit(() => {
              release();
              this.#dispatch(items);
              done();
            }),
          ),
        ),
      ),
    );
  }

  #dispatch(items: Event[]): void {
    const { thread, costs, platforms } = this.options;
    if (platforms.length === 0) return items.forEach((event) => this.#answer(event));
    thread.run((items.length * platforms.length * costs.node.delivery) / 2, () => {
      const open = items.map((event) => ({
        event,
        first: { site: event.site, left: platforms.length, ended: [] },
      }));
      for (const [site, ofSite] of Map.groupBy(open, ({ event }) => event.site))
        for (const limits of platforms)
          this.lanes.send(
            limits,
            site,
            ofSite.map(({ event, first }) => this.#jobOf(event, first, limits)),
          );
    });
  }

  #jobOf(event: Event, first: OpenEvent, limits: Limits): Job {
    return {
      first,
      settled: (sent) => {
        this.options.onFirst(limits, event.site, sent);
        event.left -= 1;
        if (event.left === 0) this.#answer(event);
      },
    };
  }

  /** Answers of the same moment are written together, before the next request is read. */
  #answer(event: Event): void {
    this.#answers.push(event);
    if (this.#answers.length > 1) return;
    const { clock, thread, costs } = this.options;
    clock.after(0, () => {
      const answers = this.#answers;
      this.#answers = [];
      thread.run(answers.length * costs.node.event * (1 - beforeStore), () => {
        for (const { answered } of answers) answered();
      });
    });
  }

  #deliver(limits: Limits, site: number, batch: Job[], done: () => void): void {
    const { thread, costs, call } = this.options;
    thread.run(costs.node.request, () =>
      call(limits, (sent) =>
        thread.run((batch.length * costs.node.delivery) / 2, () => {
          let left = batch.length;
          const durable = () => {
            left -= 1;
            if (left === 0) done();
          };
          for (const job of batch) {
            if (job.first) this.#gather(job.first, { job, sent, durable });
            else this.#settlements.add(this.#groupOf(site), { job, sent, durable });
          }
        }),
      ),
    );
  }

  /** Writes the outcomes of an event when all have arrived, and else a little after the first. */
  #gather(event: OpenEvent, settlement: Settlement): void {
    event.ended.push(settlement);
    event.left -= 1;
    const write = () => {
      const { site, ended } = event;
      if (ended.length === 0) return;
      event.ended = [];
      this.#firstSettlements.add(this.#groupOf(site), { site, ended });
    };
    if (event.left === 0) write();
    else if (event.ended.length === 1) this.options.clock.after(gatherMs, write);
  }

  /** Sites follow each other: a row of outcomes per event, and the rows of deliveries that were not sent. */
  #settleFirst(items: FirstSettlement[], done: () => void): void {
    const { costs } = this.options;
    const bySite = [...Map.groupBy(items, ({ site }) => site).values()];
    this.writers.use((release) => {
      const next = (begin: 0 | 1) => {
        const ofSite = bySite.shift();
        if (!ofSite)
          return this.commit(() => {
            release();
            for (const { ended } of items)
              for (const { job, sent, durable } of ended) {
                job.settled(sent);
                durable();
              }
            done();
          });
        const ended = ofSite.flatMap((one) => one.ended);
        const unsent = ended.filter(({ sent }) => !sent).length;
        const us = ended.length * costs.database.delivery * (1 - inAccept);
        const unsentUs = (unsent * costs.database.delivery) / 2;
        this.ask(begin + statementsFor(ofSite.length), us, () => {
          if (unsent === 0) return next(0);
          const count = statementsFor(unsent);
          this.ask(count, unsentUs, () => this.ask(count, unsentUs, () => next(0)));
        });
      };
      next(1);
    });
  }

  /** Deliveries that have a row: the row and the attempt. */
  #settle(items: Settlement[], done: () => void): void {
    const { costs } = this.options;
    const rows = items.length * costs.database.delivery;
    const count = statementsFor(items.length);
    this.writers.use((release) =>
      this.ask(1 + count, rows / 2, () =>
        this.ask(count, rows / 2, () =>
          this.commit(() => {
            release();
            for (const { job, sent, durable } of items) {
              job.settled(sent);
              durable();
            }
            done();
          }),
        ),
      ),
    );
  }
}
