// Seeds that found a bug in the product, or in the simulation itself. They run in every test run, whatever the other seeds are.
// A change of the product's timing changes what a seed does, so a bug of the product gets a test of its own, too, or is planted
// again as a mutation.

const found: readonly { seed: number; what: string }[] = [
  { seed: 442, what: "The simulation handed requests to a node that had closed its connections." },
  { seed: 547, what: "The rules took the erasure of a person for the commit that accepted the event." },
  { seed: 605, what: "The rules did not excuse an answer whose event was lost in a failover." },
  {
    seed: 616,
    what: "A failover lost the outcome of an event that survived, and its deliveries stayed open.",
  },
];

export const pinned: readonly number[] = found.map(({ seed }) => seed);
