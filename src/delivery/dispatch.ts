// Makes the first attempt of every delivery of one event, while the sender waits for the answer.

import { clearCoarseTimeout, setCoarseTimeout } from "../kernel/coarseTimers.ts";
import type { Conversion, DeliveryState, Event, Result } from "../kernel/event.ts";
import type { Lanes } from "./lanes/lanes.ts";
import type { Ownership } from "./ownership.ts";
import type { Job } from "./job.ts";
import type { PlannedDelivery } from "./plan.ts";
import { toResult } from "./decide.ts";

/** An event that is durable, with what was planned and stored of it. */
type Dispatched = {
  event: Pick<Event, "siteId" | "id" | "receivedAt">;
  conversion: Conversion;
  planned: readonly PlannedDelivery[];
  ownership: Ownership;
};

/** Sends all jobs in parallel and returns the results by platform. What has no result in time goes on without the sender. */
export function dispatch(dispatched: Dispatched, lanes: Lanes, timeoutMs: number): Promise<Record<string, Result>> {
  const { planned } = dispatched;
  const jobs = createJobs(dispatched);
  const results = planned.map((one, i): Result | null => (jobs[i] ? null : toResult(one)));
  let missing = jobs.reduce((sum, job) => (job ? sum + 1 : sum), 0);
  if (missing === 0) return Promise.resolve(byPlatform(planned, results));
  return new Promise((resolve) => {
    const timeout = setCoarseTimeout(timeoutMs, () => {
      jobs.forEach((job, i) => {
        if (job && results[i] === null) lanes.withdraw(job);
        results[i] ??= noAnswerYet;
      });
      resolve(byPlatform(planned, results));
    });
    jobs.forEach((job, i) => {
      if (!job) return;
      void lanes.send(job).then((result) => {
        results[i] = result;
        missing -= 1;
        if (missing > 0) return;
        clearCoarseTimeout(timeout);
        resolve(byPlatform(planned, results));
      });
    });
  });
}

const createJobs = ({ event, conversion, planned, ownership }: Dispatched): (Job | null)[] =>
  planned.map(({ connectionId, expiresAt }) => {
    if (expiresAt === null) return null;
    const { siteId, id: eventId, receivedAt } = event;
    const lookedAt = conversion.person ? receivedAt : Infinity;
    return { siteId, eventId, connectionId, conversion, lookedAt, attemptsMade: 0, expiresAt, ownership };
  });

const noAnswerYet: Result = { ok: false, status: "queued", error: "no answer yet" };

/** The least to the most urgent: of several connections to one platform, the most urgent state is the platform's result. */
const severity: readonly DeliveryState[] = ["sent", "skipped", "queued", "parked", "expired", "rejected"];
const severityOf = (result: Result) => severity.indexOf(result.ok ? "sent" : result.status);

function byPlatform(planned: readonly PlannedDelivery[], results: readonly (Result | null)[]): Record<string, Result> {
  const worst: Record<string, Result> = {};
  /** Made only where a platform has several connections, which is rare. */
  let shared: Set<string> | null = null;
  for (const [i, { platform }] of planned.entries()) {
    const result = results[i] as Result;
    const known = worst[platform];
    if (known) (shared ??= new Set()).add(platform);
    if (!known || severityOf(result) > severityOf(known)) worst[platform] = result;
  }
  for (const platform of shared ?? []) {
    const result = worst[platform] as Result;
    if (!result.ok) worst[platform] = { ...result, error: errorsOf(platform, result.status) };
  }
  return worst;

  /** Names the connections of a platform that have this state, because the answer has one result for all of them. */
  function errorsOf(platform: string, status: DeliveryState): string {
    return planned
      .flatMap((one, i) => {
        const result = results[i] as Result;
        const isNamed = one.platform === platform && !result.ok && result.status === status;
        return isNamed ? [`connection ${one.connectionId}: ${result.error}`] : [];
      })
      .join("; ");
  }
}
