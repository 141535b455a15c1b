/** It took too long; whoever was waited for may be fine. */
export class Late extends Error {}

/** The result of `work`, or a failure once `ms` have passed. The work itself goes on: nobody waits for it any more. */
export function within<T>(ms: number, work: Promise<T>, failure: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Late(failure)), ms);
    work.then(
      (result) => {
        clearTimeout(timer);
        resolve(result);
      },
      (error: unknown) => {
        clearTimeout(timer);
        reject(error);
      },
    );
  });
}
