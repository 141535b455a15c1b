// The way of an event: what was received, what was checked, and what each platform answered.

import { ConsentStep, IdentityStep } from "./IdentitySteps.tsx";
import { PathStep } from "./PathStep.tsx";
import { PlatformStep } from "./PlatformStep.tsx";
import { DuplicateStep, NoPlatformStep, ReceivedStep, VerdictStep, type EventTrace } from "./ReceivedSteps.tsx";
import { Steps } from "./Step.tsx";

/** Polls while a delivery is waiting. */
export function pollInterval(trace: EventTrace | undefined): number | false {
  const waiting = trace?.deliveries.filter(({ state }) => state === "queued") ?? [];
  if (waiting.length === 0) return false;
  const next = Math.min(...waiting.map(({ nextTryAt }) => nextTryAt ?? 0));
  return next < Date.now() + 60_000 ? 2_000 : 30_000;
}

export function TraceSteps({ trace, site }: { trace: EventTrace; site: string }) {
  return (
    <Steps>
      <ReceivedStep trace={trace} />
      <DuplicateStep trace={trace} site={site} />
      <VerdictStep trace={trace} site={site} />
      <IdentityStep trace={trace} site={site} />
      <PathStep trace={trace} />
      <ConsentStep trace={trace} site={site} />
      {trace.deliveries.length === 0 && <NoPlatformStep trace={trace} site={site} />}
      {trace.deliveries.map((one) => (
        <PlatformStep key={one.connection} trace={trace} delivery={one} site={site} />
      ))}
    </Steps>
  );
}
