// The outcomes of one event usually arrive at nearly the same moment. Each waits briefly for the others, so that one commit
// makes them all durable. The last one does not wait, and the sender waits for that one in any case.

export type SettleGroup = {
  /** One outcome has arrived. Resolves when all have or `maxWaitMs` have passed; undefined for the last one. */
  join(): Promise<void> | undefined;
};

const maxWaitMs = 2;

export function createSettleGroup(size: number): SettleGroup {
  let missing = size;
  let complete: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let release: () => void = () => {};

  return {
    join() {
      missing -= 1;
      if (missing > 0)
        return (complete ??= new Promise((resolve) => {
          release = resolve;
          timer = setTimeout(resolve, maxWaitMs);
        }));
      clearTimeout(timer);
      release();
      return undefined;
    },
  };
}
