// Measures the memory of a relay over a million events: it must not grow with the number of events.

import { request } from "node:http";
import { once } from "node:events";
import { atMost, number, type Findings, type Mode, type Part } from "./part.ts";
import { closeHarness, createHarness, sendLoad, startOurs } from "./support/loadTest.ts";
import { memoryOf } from "./support/processes.ts";

const steps = 10;
const limit = 1.2;
/** Enough to keep the relay busy; a sender waits for its answer. */
const senders = 64;
/** The sender ends a run after 30 seconds, so that a slow machine needs several for a step. */
const runEvents = 10_000;

type Sample = {
  events: number;
  /** MB. Pages of files that are mapped into memory: the system takes them back when it needs them. */
  mapped: number;
  /** MB of everything else: heap, buffers, caches of the database. */
  own: number;
  resident: number;
  heap: number;
  external: number;
};

async function readMetrics(port: number): Promise<(name: string) => number> {
  const asked = request({ port, host: "127.0.0.1", path: "/metrics" }).end();
  const [answer] = (await once(asked, "response")) as [AsyncIterable<Buffer>];
  const text = Buffer.concat(await Array.fromAsync(answer)).toString();
  return (name) => Number(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, "m").exec(text)?.[1]) / 1024 / 1024;
}

async function sample(pid: number, port: number, events: number): Promise<Sample> {
  const megabytes = await readMetrics(port);
  const [resident, own] = [memoryOf(pid), memoryOf(pid, "RssAnon")];
  return {
    events,
    resident,
    own,
    mapped: resident - own,
    heap: megabytes("nodejs_heap_size_used_bytes"),
    external: megabytes("nodejs_external_memory_bytes"),
  };
}

async function run(mode: Mode): Promise<Findings> {
  const stepEvents = mode.quick ? 500 : 100_000;
  const harness = await createHarness(0);
  const relay = await startOurs(harness, mode.engine, ["meta"]);
  const { pid, port, key, known } = relay;
  const samples = [await sample(pid, port, 0)];
  for (let events = 0; events < steps * stepEvents;) {
    const due = samples.length * stepEvents;
    while (events < due) {
      const atLeast = Math.min(runEvents, due - events);
      const { sent } = await sendLoad(harness, { port, key, known, senders, ms: 0, atLeast }, () => ({}));
      events += sent.events;
    }
    const one = await sample(pid, port, events);
    samples.push(one);
    console.log(`${number(events)} events: ${number(one.own, 3)} MB of its own, ${number(one.mapped, 3)} MB of mapped files`);
  }
  await closeHarness(harness, [relay]);
  const [, first, ...later] = samples as [Sample, Sample, ...Sample[]];
  const most = Math.max(...later.map(({ own }) => own));
  return {
    tables: [
      {
        title: `One connection, ${mode.engine}, ${senders} senders`,
        head: ["events", "own MB", "mapped files MB", "resident MB", "heap MB", "external MB"],
        rows: samples.map(({ events, own, mapped, resident, heap, external }) =>
          [events, own, mapped, resident, heap, external].map((value) => number(value, 3)),
        ),
      },
    ],
    targets: [
      atMost(
        `Memory of its own over ${number(steps * stepEvents)} events, relative to that after the first ${number(stepEvents)}`,
        most / first.own,
        limit,
        " ×",
        `${number(most)} and ${number(first.own)} MB`,
      ),
    ],
    notes: [],
  };
}

export const memory: Part = {
  name: "memory",
  title: "Memory over a million events",
  about: `A relay takes a million events, and its memory is read after every 100,000. Its own memory (RssAnon) is the heap, buffers and the
caches of the embedded database: two connections with 32 MB each at most. Mapped files are pages of the database, 256 MB at most for each
connection: they grow with the file, and the system takes them back when it needs memory. Tools that show the resident memory show both.`,
  run,
};
