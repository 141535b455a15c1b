// What speaks PostgreSQL's language without being PostgreSQL may lack some of it, or be sharded without being Citus. That is
// said in DATABASE_URL itself: `?cleancast=no-skip-locked,no-advisory-locks,no-pipelining,as-sharded`. With or without any of
// these words everything is right; what differs is how fast, and whether it is understood at all.

const known = ["no-skip-locked", "no-advisory-locks", "no-pipelining", "as-sharded"] as const;
type Switch = (typeof known)[number];

export type Switches = {
  skipLocked: boolean;
  advisoryLocks: boolean;
  pipelining: boolean;
  /** Asked as a sharded database is, also where nothing says that it is one. */
  asSharded: boolean;
};

export class UnknownSwitch extends Error {}

export function switchesIn(url: string): Switches {
  const found = /[?&]cleancast=([^&#]*)/.exec(url)?.[1] ?? "";
  const words = decodeURIComponent(found).split(",").filter(Boolean);
  const odd = words.find((word) => !known.includes(word as Switch));
  if (odd !== undefined) throw new UnknownSwitch(`"${odd}" is not one of ${known.join(", ")}`);
  return {
    skipLocked: !words.includes("no-skip-locked"),
    advisoryLocks: !words.includes("no-advisory-locks"),
    pipelining: !words.includes("no-pipelining"),
    asSharded: words.includes("as-sharded"),
  };
}
