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
