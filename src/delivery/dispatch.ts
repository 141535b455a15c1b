// Makes the first attempt of every delivery of one event, while the sender waits for the answer.

import { clearCoarseTimeout, setCoarseTimeout } from "../kernel/coarseTimers.ts";
import type { DeliveryState, Result } from "../kernel/event.ts";
import type { Outcome } from "./lanes/deliver.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { PlannedDelivery } from "./plan.ts";
import type { OpenEvent } from "./openEvents.ts";

/** Sends all jobs in parallel and returns the results by platform. What has no result by `deadline` goes on without the sender. */
export function dispatch(
  planned: readonly PlannedDelivery[],
  openEvent: OpenEvent | null,
  lanes: Lanes,
  deadline: number,
  now: number,
): Promise<Record<string, Result>> {
  const outcomes: (Outcome | null)[] = planned.map((one) => (one.job ? null : one));
  let open = 0;
  return new Promise((resolve) => {
    const timeout = setCoarseTimeout(deadline - now, () => {
      planned.forEach(({ job }, i) => {
        if (job && outcomes[i] === null) lanes.withdraw(job);
        outcomes[i] ??= noAnswerYet;
      });
      resolve(toResults(planned, outcomes));
    });
    const resolveIfDone = () => {
      if (open > 0) return;
      clearCoarseTimeout(timeout);
      resolve(toResults(planned, outcomes));
    };
    planned.forEach(({ job }, i) => {
      if (!job) return;
      open += 1;
      void lanes.send(job, openEvent).then((outcome) => {
        outcomes[i] = outcome;
        open -= 1;
        resolveIfDone();
      });
    });
    resolveIfDone();
  });
}

const noAnswerYet: Outcome = { state: "queued", reason: "no answer yet" };

/** The least to the most urgent: of several connections to one platform, the most urgent state is the platform's result. */
const severity: readonly DeliveryState[] = ["sent", "skipped", "queued", "parked", "expired", "rejected"];

function toResults(planned: readonly PlannedDelivery[], outcomes: readonly (Outcome | null)[]): Record<string, Result> {
  const worst: Record<string, Outcome> = {};
  /** Made only where a platform has several connections, which is rare. */
  let shared: Set<string> | null = null;
  for (const [i, { platform }] of planned.entries()) {
    const outcome = outcomes[i] as Outcome;
    const known = worst[platform];
    if (known) (shared ??= new Set()).add(platform);
    if (!known || severity.indexOf(outcome.state) > severity.indexOf(known.state)) worst[platform] = outcome;
  }
  const results: Record<string, Result> = {};
  for (const platform in worst) {
    const result = toResult(worst[platform] as Outcome);
    if (!result.ok && shared?.has(platform)) result.error = errorsOf(platform, result.status);
    results[platform] = result;
  }
  return results;

  /** Names the connections of a platform that have this state, because the answer has one result for all of them. */
  function errorsOf(platform: string, status: string): string {
    return planned
      .flatMap((one, i) => {
        const { state, reason } = outcomes[i] as Outcome;
        const isNamed = one.platform === platform && state === status;
        return isNamed ? [`connection ${one.connectionId}: ${reason ?? state}`] : [];
      })
      .join("; ");
  }
}

function toResult({ state, reason }: Outcome): Result {
  return state === "sent" ? { ok: true } : { ok: false, status: state, error: reason ?? state };
}
