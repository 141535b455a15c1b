// What speaks PostgreSQL's language without being PostgreSQL may lack some of it. It is switched off in DATABASE_URL
// itself: `?cleancast=no-skip-locked,no-advisory-locks,no-pipelining`. `as-sharded` tries the other way round. None of it is
// needed for anything to be right.

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
  const words = /[?&]cleancast=([^&#]*)/.exec(url)?.[1] ?? "";
  const off = decodeURIComponent(words).split(",").filter(Boolean);
  const odd = off.find((word) => !known.includes(word as Switch));
  if (odd !== undefined) throw new UnknownSwitch(`"${odd}" is not one of ${known.join(", ")}`);
  return {
    skipLocked: !off.includes("no-skip-locked"),
    advisoryLocks: !off.includes("no-advisory-locks"),
    pipelining: !off.includes("no-pipelining"),
    asSharded: off.includes("as-sharded"),
  };
}
