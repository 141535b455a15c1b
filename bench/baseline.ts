// Compares the relay with a bare Node server that does the unavoidable minimum of work.

import { countOf } from "../src/kernel/text.ts";
import {
  closeHarness,
  eventBytes,
  middle,
  openHarness,
  pick,
  startBare,
  startOurs,
  measureLoad,
  warmUp,
  type Candidate,
  type LoadResult,
} from "./support/loadTest.ts";
import {
  atLeast,
  atMost,
  interleaved,
  medianRatio,
  number,
  roundsOf,
  type Findings,
  type Mode,
  type Part,
} from "./part.ts";
import { platforms, stopPostgres } from "./support/relay.ts";

const allCounts = [0, 1, 3, 6];
const kinds = ["bare", "SQLite", "PostgreSQL"] as const;
type Kind = (typeof kinds)[number];
const nameOf = (kind: Kind, connections: number) => `${kind} ${connections}`;

async function run(mode: Mode): Promise<Findings> {
  const counts = mode.quick ? [0, 3] : allCounts;
  const harness = await openHarness(0);
  const candidates = new Map<string, Candidate>();
  for (const connections of counts) {
    const connected = platforms.slice(0, connections);
    candidates.set(nameOf("bare", connections), await startBare(harness, connections));
    candidates.set(nameOf("SQLite", connections), await startOurs(harness, "sqlite", connected));
    candidates.set(nameOf("PostgreSQL", connections), await startOurs(harness, "postgres", connected));
  }
  await warmUp(harness, candidates.values(), mode);
  const load = { senders: 64, ms: mode.quick ? 250 : 2500 };
  const results = await interleaved(
    roundsOf(mode),
    Object.fromEntries([...candidates].map(([name, one]) => [name, () => measureLoad(harness, one, load)])),
  );
  await closeHarness(harness, candidates.values());
  await stopPostgres();
  return findingsOf(counts, (kind, connections) => results[nameOf(kind, connections)] ?? []);
}

function findingsOf(
  counts: number[],
  resultsOf: (kind: Kind, connections: number) => LoadResult[],
): Findings {
  const ratio = (kind: Kind, connections: number, what: "cpu" | "perSecond") =>
    medianRatio(pick(resultsOf(kind, connections), what), pick(resultsOf("bare", connections), what));
  const rows = counts.flatMap((connections) =>
    kinds.map((kind) => {
      const results = resultsOf(kind, connections);
      return [
        `${connections}`,
        kind === "bare" ? "the baseline" : kind,
        middle(results, "perSecond"),
        number(ratio(kind, connections, "perSecond")),
        middle(results, "cpu"),
        number(ratio(kind, connections, "cpu")),
        kind === "PostgreSQL" ? middle(results, "databaseCpu") : "",
        middle(results, "requests"),
        middle(results, "p50"),
        middle(results, "p99"),
      ];
    }),
  );
  const engines = ["SQLite", "PostgreSQL"] as const;
  return {
    tables: [
      {
        title: "64 senders, platforms that answer at once",
        head: [
          "connections", "", "events/s", "× baseline", "CPU µs/event", "× baseline", "database CPU µs/event", "requests/event",
          "p50 ms", "p99 ms",
        ], // prettier-ignore
        rows,
      },
    ],
    targets: [
      atLeast(
        "No connection, SQLite: throughput, relative to the baseline",
        ratio("SQLite", 0, "perSecond"),
        0.45,
      ),
      ...engines.flatMap((engine) =>
        counts
          .filter((connections) => connections > 0)
          .map((connections) =>
            atMost(
              `${countOf(connections, "connection")}, ${engine}: CPU per event, relative to the baseline`,
              ratio(engine, connections, "cpu"),
              1.3,
            ),
          ),
      ),
    ],
    notes: [],
  };
}

export const baseline: Part = {
  name: "baseline",
  title: "The baseline",
  about: `The baseline is a bare Node server that parses the same JSON (${eventBytes} bytes), sends one bare pooled request (undici) to each
platform, and answers in the same format. It checks and stores nothing. The relay does everything: keys, checks, hashing, consent and
identity records (every second event belongs to a person who has one), durable storage before and after the calls, the sync log and the
log file. Connections: ${platforms.join(", ")}, in this order. CPU is that of the server's process, all threads.`,
  run,
};
