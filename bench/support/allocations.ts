// Counts the bytes that this process allocates on the JavaScript heap, for the bare server and, loaded with --import, for the
// relay.
//
// V8 has no counter of allocated bytes. But the used heap only grows between two garbage collections, and the GC profiler
// reads it before and after each one: the sum of the growth is what was allocated. Buffers, whose memory is outside of the
// heap, and other threads are not counted.

import { GCProfiler, getHeapStatistics } from "node:v8";

export type AllocationOrder = "begin" | "end";

let profiler = new GCProfiler();
let usedAtBegin = 0;

/** "begin" starts a count; "end" returns its bytes. */
export function countAllocations(order: AllocationOrder): number {
  if (order === "begin") {
    profiler = new GCProfiler();
    profiler.start();
    usedAtBegin = getHeapStatistics().used_heap_size;
    return 0;
  }
  const usedAtEnd = getHeapStatistics().used_heap_size;
  let used = usedAtBegin;
  let allocated = 0;
  for (const { beforeGC, afterGC } of profiler.stop()?.statistics ?? []) {
    allocated += beforeGC.heapStatistics.usedHeapSize - used;
    used = afterGC.heapStatistics.usedHeapSize;
  }
  return allocated + usedAtEnd - used;
}

if (process.execArgv.some((arg) => arg.includes(import.meta.filename))) {
  process.on("message", (order: AllocationOrder) => process.send?.(countAllocations(order)));
  // The relay ends as it would without a listener.
  process.channel?.unref();
}
