// Starts traces. Everything of them but their settings is loaded here, and only where an endpoint is set.

import type { Logger } from "pino";
import { createSender } from "../../delivery/send.ts";
import { shortId } from "../../kernel/ids.ts";
import { createSpanExporter } from "./exporter.ts";
import type { TraceSettings } from "./settings.ts";
import { createTraces, type Traces } from "./traces.ts";

const attemptMs = 5000;

export type TraceStart = { version: string; connectMs: number; log: Logger; now: () => number };

export function startTraces(settings: TraceSettings, { version, connectMs, log, now }: TraceStart): Traces {
  // The operator chose the address, so it may be a private one.
  const sender = createSender({ connectMs, attemptMs, allow: { hosts: new Set(), networks: [] }, origins: {} });
  const exporter = createSpanExporter({ settings, version, instance: shortId(), sender, log, now });
  const traces = createTraces({ settings, exporter, now, elapsed: () => performance.now() });
  return {
    ...traces,
    async close() {
      await traces.close();
      await sender.close();
    },
  };
}
