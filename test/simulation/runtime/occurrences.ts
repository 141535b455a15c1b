// The faults that a run can have, by the place where they happen, and how often each took effect. A fault that was begun and
// disturbed nothing does not count.

export const faultsByPlace = {
  node: [
    "crash before a call",
    "crash after a call",
    "restart in order",
    "suspension",
    "clock set forward",
    "clock set back",
    "clock set forward by an hour or so",
    "clock set back by an hour or so",
  ],
  "embedded database": ["power cut", "commit lost in a power cut", "failed write", "failed flush", "slow flush"],
  PostgreSQL: [
    "slow commit",
    "commit that overtakes an earlier one",
    "connection lost before the commit",
    "connection lost after the commit",
    "failing statement",
    "wait for a lock",
    "broken connection",
    "restart",
    "standby away",
    "commit that waits for the standby",
    "wait for the standby given up",
    "primary down",
    "primary silent",
    "failover without loss",
    "failover with loss",
    "commit lost in a failover",
  ],
  platform: [
    "slow",
    "late",
    "silent",
    "refusing",
    "deaf",
    "failing",
    "lying",
    "limiting",
    "garbling",
    "repeating",
    "unauthorised",
  ],
  "platform outage": ["late", "silent", "refusing", "failing", "limiting"],
  receiver: ["silent", "failing", "deaf"],
  network: [
    "platform out of reach",
    "slow message to or from the database",
    "lost request of a sender",
    "lost answer to a sender",
  ],
} as const;

type Place = keyof typeof faultsByPlace;
export type FaultAt<P extends Place> = (typeof faultsByPlace)[P][number];

export class Occurrences {
  readonly counts: Record<string, number> = {};

  /** Those that took effect. */
  get names(): string[] {
    return Object.keys(this.counts);
  }

  add<P extends Place>(place: P, fault: FaultAt<P>, times = 1): void {
    const name = `${place}: ${fault}`;
    if (times > 0) this.counts[name] = (this.counts[name] ?? 0) + times;
  }
}
