const sameSignalMs = 1000;

/**
 * Resolves with the first SIGINT or SIGTERM. Ctrl-C under npm arrives twice, from the terminal and from npm, and
 * supervisors repeat SIGTERM: only a second Ctrl-C at least a second later calls `onForce`.
 */
export function waitForStopSignal(signals: Pick<NodeJS.Process, "on">, now: () => number, onForce: () => void): Promise<string> {
  return new Promise((resolve) => {
    let firstAt: number | null = null;
    const onSignal = (signal: string) => {
      if (firstAt === null) {
        firstAt = now();
        resolve(signal);
      } else if (signal === "SIGINT" && now() - firstAt >= sameSignalMs) onForce();
    };
    signals.on("SIGINT", onSignal);
    signals.on("SIGTERM", onSignal);
  });
}
