// Measures the time from the start to the first answer, and the memory of an idle relay.

import { request } from "node:http";
import { startBare, createHarness, closeHarness } from "./support/loadTest.ts";
import { atMost, interleaved, median, number, roundsOf, type Findings, type Mode, type Part } from "./part.ts";
import { cpuOf, memoryOf, sleep } from "./support/processes.ts";
import { install, startRelay } from "./support/relay.ts";

export type Start = { ms: number; cpuMs: number };
type Started = { pid: number; port: number; stop: () => Promise<void> };

/** Starts a server, waits for the answer to a first request, and stops it. */
export async function timeStart(start: () => Promise<Started>, ask: (port: number) => Promise<void>): Promise<Start> {
  const began = performance.now();
  const started = await start();
  await ask(started.port);
  const result = { ms: performance.now() - began, cpuMs: cpuOf(started.pid) / 1000 };
  await started.stop();
  return result;
}

let orders = 0;
export const postEvent = (key: string) => (port: number) =>
  new Promise<void>((resolve, reject) => {
    const headers = { "X-CC-Api-Key": key, "Content-Type": "application/json" };
    const body = JSON.stringify({
      email: "a@example.com",
      event: "lead",
      orderId: `start-${process.pid}-${orders++}`,
    });
    request({ port, host: "127.0.0.1", path: "/__cc/inbound", method: "POST", headers, agent: false }, (answer) =>
      answer.resume().on("end", resolve),
    )
      .on("error", reject)
      .end(body);
  });

async function run(mode: Mode): Promise<Findings> {
  const harness = await createHarness(0);
  const installation = await install("sqlite", [], null);
  const ask = postEvent(installation.key);
  const starts = await interleaved(roundsOf(mode, 7), {
    bare: () => timeStart(() => startBare(harness, 0), ask),
    ours: () => timeStart(() => startRelay(installation), ask),
  });
  const [bare, ours] = [await startBare(harness, 0), await startRelay(installation)];
  await sleep(mode.quick ? 1000 : 5000);
  const memory = { bare: memoryOf(bare.pid), ours: memoryOf(ours.pid) };
  await ours.stop();
  await closeHarness(harness, [bare]);

  const of = (who: "bare" | "ours", what: keyof Start) => median(starts[who].map((one) => one[what]));
  const row = (who: "bare" | "ours", name: string) => [
    name,
    number(of(who, "ms")),
    number(of(who, "cpuMs")),
    number(memory[who]),
  ];
  return {
    tables: [
      {
        title: "SQLite, one site",
        head: ["", "ms to the first answer", "CPU ms to the first answer", "idle memory MB"],
        rows: [row("bare", "a bare Node server"), row("ours", "the relay")],
      },
    ],
    targets: [
      atMost("Cold start, CPU", of("ours", "cpuMs"), 500, " ms"),
      atMost("Idle memory after 5 s", memory.ours, 120, " MB"),
    ],
    notes: [],
  };
}

export const start: Part = {
  name: "start",
  title: "Cold start and idle memory",
  about:
    "Time from the start of the process to the first answered event. Memory is the resident set size of an idle process five seconds after its start.",
  run,
};
