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
  {
    seed: 1314,
    what: "A retry that was planned by a wrong clock was written after its correction, and waited for hours.",
  },
  {
    seed: 3275,
    what: "A replay that began before a wrong clock was corrected was written afterwards, and waited for hours.",
  },
  {
    seed: 14_027,
    what: "A retry that a full disk had kept from being written was due by a clock that was corrected meanwhile.",
  },
  {
    seed: 1490,
    what: "The rules lost an order's id when an event was released that had left it to another.",
  },
  { seed: 2186, what: "A node whose clock was ahead planned pushes by it, and the others pushed them late." },
  {
    seed: 2408,
    what: "An owner whose first outcomes were lost in a failover wrote others after the event was taken over.",
  },
  {
    seed: 1041,
    what: "A node that was suspended claimed a delivery again whose attempt ended before the claim was durable.",
  },
  {
    seed: 1791,
    what: "An hour that a wrong clock took for closed was not computed again, and lacked its later events.",
  },
  { seed: 12_322, what: "As 1791, at two sites." },
  {
    seed: 13_351,
    what: "A process whose clock was ahead freed leases of a former one, and the correction left their due times.",
  },
  {
    seed: 743,
    what: "A node renewed its lease after it had ended, and sent an event that another node had taken over.",
  },
  {
    seed: 5865,
    what: "A lease of a node whose clock was ahead was corrected although it had the right time, and ended early.",
  },
  {
    seed: 20_511,
    what: "A promoted server had lost the row of a node, which accepted an event there and died before it wrote the row again.",
  },
  { seed: 28_554, what: "As 20511, behind a question to Meta that the simulation could not answer." },
  {
    seed: 33_108,
    what: "The rules did not excuse work that found the store closed after a stop in want of time.",
  },
  {
    seed: 6574,
    what: "A write failed while an embedded node took over what an earlier process had left, and it was not tried again.",
  },
  { seed: 953_839_125, what: "The rules did not excuse identifiers after a failover that had lost the refusal of consent." },
  { seed: 953_843_446, what: "As 953839125." },
  {
    seed: 953_844_427,
    what: "A node whose clock was behind added an event to an hour that another one had counted for the last time.",
  },
  {
    seed: 821,
    what: "A clock was set back while due times were being corrected, and the correction was not repeated a minute later.",
  },
  {
    seed: 1_794_995_743,
    what: "The rules looked at the hours of a clock ahead before its node had noticed that the clock was corrected.",
  },
  {
    seed: 1_795_024_727,
    what: "The simulation did not wait for a node that died with a wrong clock and could not start for seconds.",
  },
];

export const pinned: readonly number[] = found.map(({ seed }) => seed);

/** The same, with a focus. */
export const pinnedWithFocus: readonly [seed: number, focus: string][] = [
  // A node that was suspended while it read a connection again sent what another one had sent meanwhile.
  [20, "suspended nodes"],
  [816, "suspended nodes"],
  // A node that was suspended in a takeover took what the dead node accepted after it had come back, and both sent it.
  [1_658_805_040, "suspended batches"],
  // A first attempt whose lease had ended gave up waiting, and freed the row that the same node had claimed anew.
  [1_658_807_460, "suspended batches"],
  // While a rejected batch was halved, a person was erased, and consent was refused: the halves were sent as they were.
  [1_658_807_792, "suspended batches"],
  [1_658_808_979, "suspended batches"],
  // The rules took the answer to a request whose event was lost in a failover for one about the event that replaced it.
  [187, "failovers"],
  // The rules did not excuse a node that sent what it had claimed before the release of the event was lost.
  [1008, "failovers"],
  // A clock ahead found an hour unchanged that it had taken for closed before, and the second correction left it closed.
  [6, "wrong clock and restarts"],
  // An hour that a clock ahead had counted was found unchanged after the correction, and closed before it had ended.
  [102, "wrong clock and restarts"],
  [106, "wrong clock and restarts"],
  [154, "wrong clock and restarts"],
  // A clock ahead was set back too far, and nothing was corrected when it was set right.
  [164, "wrong clocks"],
  // As seed 953844427.
  [7, "clocks behind"],
  // A clock was set far ahead and partly back between two looks at it, and due times were not corrected.
  [175, "wrong clock"],
  // The seed ended before the relay tried again to correct due times, which a full disk had kept it from.
  [158, "full disk and crashes"],
  [198, "periods"],
  // It ended before the second correction: a result from before the first one was written after it, when the disk worked again.
  [1_658_826_727, "wrong clock and restarts"],
  // A transaction that ran again took an event for a duplicate to which a filtered event had handed over the order's id.
  [7_237_368, "large takeover"],
];
