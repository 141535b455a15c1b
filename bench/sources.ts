// Measures a sender's own webhook: how soon it is answered while platforms hang, and what it costs next to an inbound event.

import {
  closeHarness,
  createHarness,
  measureLoad,
  middle,
  middleOf,
  pick,
  startOurs,
  warmUpEvents,
  type Candidate,
  type Harness,
  type LoadResult,
} from "./support/loadTest.ts";
import { atMost, interleaved, medianRatio, number, roundsOf, type Findings, type Mode, type Part } from "./part.ts";
import { addStripeSource, platforms } from "./support/relay.ts";
import type { SourceTarget } from "./support/sender.ts";
import { sleep } from "./support/processes.ts";

const perSecond = 200;
/** Longer than a run: no platform answers. */
const hangMs = 3_600_000;

/** The running relay learns of the source a moment later, and a wrong address must not be measured. */
export async function sourceOf(harness: Harness, candidate: Candidate): Promise<SourceTarget> {
  if (!candidate.installation) throw new Error("only a relay has sources");
  const source = await addStripeSource(candidate.installation);
  for (let tries = 0; ; tries++) {
    const first = await measureLoad(harness, candidate, { senders: 1, ms: 0, atLeast: 1, source }).catch(
      (error: unknown) => error,
    );
    if (!(first instanceof Error)) return source;
    if (tries > 100) throw first;
    await sleep(100);
  }
}

async function measureAnswers(mode: Mode): Promise<LoadResult[]> {
  const harness = await createHarness(hangMs);
  const ours = await startOurs(harness, mode.engine, platforms.slice(0, 3));
  const source = await sourceOf(harness, ours);
  const load = { perSecond, ms: mode.quick ? 500 : 10_000, source };
  const results: LoadResult[] = [];
  // The first round warms up.
  for (let round = 0; round <= roundsOf(mode, 3); round++) {
    const one = await measureLoad(harness, ours, load);
    if (round > 0) results.push(one);
  }
  await closeHarness(harness, [ours]);
  return results;
}

async function measureCosts(mode: Mode) {
  const harness = await createHarness(0);
  const ours = await startOurs(harness, mode.engine, [], { counts: true });
  const { counters = [], ...uncounted } = ours;
  const source = await sourceOf(harness, ours);
  const atLeast = warmUpEvents(mode);
  await measureLoad(harness, uncounted, { senders: 64, ms: 0, atLeast });
  await measureLoad(harness, uncounted, { senders: 64, ms: 0, atLeast, source });
  const load = { senders: 64, ms: mode.quick ? 500 : 3000 };
  const measure = (candidate: Candidate) => ({
    inbound: () => measureLoad(harness, candidate, load),
    source: () => measureLoad(harness, candidate, { ...load, source }),
  });
  const costs = await interleaved(roundsOf(mode), measure(uncounted));
  // Counters cost CPU themselves.
  const counted = await interleaved(1, measure({ ...uncounted, counters }));
  await closeHarness(harness, [ours]);
  return { costs, counted };
}

async function run(mode: Mode): Promise<Findings> {
  const answers = await measureAnswers(mode);
  const { costs, counted } = await measureCosts(mode);
  const { inbound, source } = costs;
  const ratio = medianRatio(pick(source, "cpu"), pick(inbound, "cpu"));
  const kilobytes = (some: LoadResult[], what: "allocated" | "walBytes") => number(middleOf(some, what) / 1024);
  const row = (name: string, which: "inbound" | "source") => [
    name,
    middle(costs[which], "cpu"),
    middle(costs[which], "perSecond"),
    kilobytes(counted[which], "allocated"),
    kilobytes(counted[which], "walBytes"),
  ];
  return {
    tables: [
      {
        title: `${perSecond} payments a second, 3 connections whose platforms never answer`,
        head: ["answered", "ms"],
        rows: [
          ["median", middle(answers, "p50")],
          ["99th percentile", middle(answers, "p99")],
        ],
      },
      {
        title: "64 senders, no connections",
        head: ["", "CPU µs/event", "events/s", "allocated KB", "log KB"],
        rows: [row("inbound", "inbound"), row("a checkout of Stripe", "source")],
      },
    ],
    targets: [
      atMost("Answer to a source while platforms hang, median", middleOf(answers, "p50"), 50, " ms"),
      atMost("Answer to a source while platforms hang, p99", middleOf(answers, "p99"), 250, " ms"),
      atMost(
        "CPU of a source's request next to an inbound event",
        ratio,
        1.3,
        " ×",
        `${middle(source, "cpu")} and ${middle(inbound, "cpu")} µs`,
      ),
    ],
    notes: [
      `A payment that comes from its sender is more work than the same event from code: it is signed, its body is larger and mapped, and
its transaction has two more rows, which promises need: the claim of the sender's delivery id, so that a repeat is known whatever it
carries, and the customer id. Their keys are the sender's and scattered, so that they change pages that no other row of the commit does:
the bytes of the database's log show it.`,
      `Other processes used ${number(middleOf(answers, "otherCores"))} cores while the answers were measured (median), and \
${number(middleOf(source, "otherCores"))} while the costs were; they delay every answer.`,
    ],
  };
}

export const sources: Part = {
  name: "sources",
  title: "Sources",
  about: `Payments arrive as Stripe's own webhooks, signed, each of another order. They are answered when they are stored, and not when
the platforms have answered. They come at random times (Poisson), whether earlier ones are answered or not; the clock starts when one
should have been sent. The cost is compared with inbound events of the same people at the same relay, in the same round. Payments are
signed before the clock starts. Each names another customer.`,
  run,
};
