import { constants, setPriority } from "node:os";

/**
 * Lets the other threads of this process go first where processors are scarce; for threads that parse what people upload. Linux has a
 * priority for each thread. Elsewhere it is that of the whole process, and stays.
 */
export function lowerThreadPriority(): void {
  if (process.platform === "linux") setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
}
