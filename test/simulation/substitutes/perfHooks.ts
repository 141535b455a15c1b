// node:perf_hooks with the clock of the simulated process.

export { virtualPerformance as performance } from "../runtime/globals.ts";
