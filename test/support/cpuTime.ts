/**
 * Returns the milliseconds of CPU time that `work` takes. Unlike the time on a clock, they hardly depend on what else the machine
 * does.
 */
export function cpuMsOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** How much more CPU time `work` takes than `other`. The minimum of three each: the first one may compile, and others may collect garbage. */
export function cpuRatio(work: () => void, other: () => void): number {
  const minOf = (one: () => void) => Math.min(...[1, 2, 3].map(() => cpuMsOf(one)));
  return minOf(work) / minOf(other);
}
