// Makes the first attempt of every delivery of one event, while the sender waits for the answer.

import type { DeliveryState, Result } from "../kernel/event.ts";
import type { Outcome } from "./lanes/deliver.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { Job, PlannedDelivery } from "./plan.ts";
import type { OpenEvent } from "./openEvents.ts";

/** Sends all jobs in parallel and returns the results by platform: by `deadline` at the latest. */
export async function dispatch(
  planned: readonly PlannedDelivery[],
  openEvent: OpenEvent | null,
  lanes: Lanes,
  deadline: number,
  now: number,
): Promise<Record<string, Result>> {
  const outcomes = await Promise.all(
    planned.map((one) =>
      one.job ? sendBy(deadline - now, one.job, openEvent, lanes) : Promise.resolve<Outcome>(one),
    ),
  );
  return toResults(planned, outcomes);
}

/** Resolves with the outcome, or with `queued` after `timeoutMs`; the attempt then goes on without the sender. */
function sendBy(timeoutMs: number, job: Job, openEvent: OpenEvent | null, lanes: Lanes): Promise<Outcome> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      lanes.withdraw(job);
      resolve({ state: "queued", reason: "no answer yet" });
    }, timeoutMs);
    void lanes.send(job, openEvent).then((outcome) => {
      clearTimeout(timer);
      resolve(outcome);
    });
  });
}

/** The least to the most urgent: of several connections to one platform, the most urgent state is the platform's result. */
const severity: readonly DeliveryState[] = ["sent", "skipped", "queued", "parked", "expired", "rejected"];

function toResults(
  planned: readonly PlannedDelivery[],
  outcomes: readonly Outcome[],
): Record<string, Result> {
  const worst: Record<string, Outcome> = {};
  planned.forEach(({ platform }, i) => {
    const outcome = outcomes[i] as Outcome;
    const known = worst[platform];
    if (!known || severity.indexOf(outcome.state) > severity.indexOf(known.state)) worst[platform] = outcome;
  });
  return Object.fromEntries(
    Object.entries(worst).map(([platform, outcome]) => [platform, toResult(outcome)]),
  );
}

function toResult({ state, reason }: Outcome): Result {
  return state === "sent" ? { ok: true } : { ok: false, status: state, error: reason ?? state };
}
