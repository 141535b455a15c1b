/** The store took too long for whoever waited; it may be fine a moment later. */
export class Late extends Error {}

/** The result of `work`, or a failure once `ms` have passed. The work itself goes on: nobody waits for it any more. */
export function within<T>(
  ms: number,
  work: Promise<T>,
  failure: string,
  Failure: new (message: string) => Error = Error,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Failure(failure)), ms);
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
