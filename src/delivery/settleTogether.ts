// The outcomes of one event, which mostly come at nearly the same moment: each waits a little for the others, so that one
// commit makes them all durable. The sender waits for the last of them in any case, and that one waits for nobody.

export type Companions = {
  /** One of them has its outcome. Resolves when all have, or when they took too long; undefined where there is nobody to wait for. */
  arrive(): Promise<void> | undefined;
};

const maxMs = 2;

export function companionsOf(count: number): Companions {
  let missing = count;
  let gathered: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let leave: () => void = () => {};

  return {
    arrive() {
      missing -= 1;
      if (missing > 0)
        return (gathered ??= new Promise((resolve) => {
          leave = resolve;
          timer = setTimeout(resolve, maxMs);
        }));
      clearTimeout(timer);
      leave();
      return undefined;
    },
  };
}
