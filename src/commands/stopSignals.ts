// When the relay is asked to stop. Ctrl-C under npm arrives twice, from the terminal and from npm, and supervisors repeat
// themselves: only a second Ctrl-C that comes a moment later is a person who does not want to wait.

const sameWishMs = 1000;

/** Resolves with the first SIGINT or SIGTERM. `onImpatience` is for a later Ctrl-C. */
export function untilAskedToStop(
  signals: Pick<NodeJS.Process, "on">,
  now: () => number,
  onImpatience: () => void,
): Promise<string> {
  return new Promise((resolve) => {
    let askedAt: number | null = null;
    const onSignal = (signal: string) => {
      if (askedAt === null) {
        askedAt = now();
        resolve(signal);
      } else if (signal === "SIGINT" && now() - askedAt >= sameWishMs) onImpatience();
    };
    signals.on("SIGINT", onSignal);
    signals.on("SIGTERM", onSignal);
  });
}
