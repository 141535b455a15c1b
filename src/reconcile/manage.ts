// Starts and cancels reconciliations for people and programs: wrong input is refused with one sentence, and every change writes
// an audit line.

import { ulid } from "../kernel/ids.ts";
import { defaultReconciledEvent, maxTolerance } from "../kernel/reconciliation.ts";
import { english, say } from "../kernel/messages/message.ts";
import { Conflict, Missing, Refusal, type By } from "../kernel/refusal.ts";
import type { Site } from "../sites/directory.ts";
import { auditLine, requireSettings } from "../sites/manage.ts";
import type { Run } from "../store/reconciliation/runs.ts";
import type { Store } from "../store/store.ts";
import { newTally } from "../store/reconciliation/tally.ts";
import { readWindow } from "./window.ts";

type RunRequest = {
  /** Days like 2026-11-15 in the time zone of the site, both included. */
  from?: string | undefined;
  to?: string | undefined;
  event?: string | undefined;
  /** In percent. */
  tolerance?: number | undefined;
};

const maxEventLength = 100;

/** The run goes on in the background of a relay; any node does its steps. */
export async function startRun(
  store: Pick<Store, "orders" | "reconciliations">,
  site: Site,
  wanted: RunRequest,
  by: By,
): Promise<Run> {
  requireSettings(site);
  const { event = defaultReconciledEvent, tolerance = 0 } = wanted;
  if (event.trim() === "" || event.length > maxEventLength)
    throw new Refusal("event", say("event_name_invalid", { max: maxEventLength }));
  if (!(tolerance >= 0 && tolerance <= maxTolerance))
    throw new Refusal("tolerance", say("tolerance_invalid", { max: maxTolerance }));
  const window = readWindow(wanted, site.settings.timeZone, by.now);
  const summary = await store.orders.summarize(site.id);
  if (summary.orders === 0)
    throw new Refusal(
      "orders",
      say("no_orders"),
      "The site has no orders yet. Upload its list first: cleancast reconcile upload SITE FILE",
    );
  const run: Run = {
    siteId: site.id,
    id: ulid(),
    state: "running",
    phase: "orders",
    cursor: "",
    ...window,
    event: event.trim(),
    tolerance,
    tally: newTally(),
    isReadable: true,
    startedBy: by.actor,
    startedAt: by.now,
    updatedAt: by.now,
  };
  const detail = { id: run.id, ...window, event: run.event };
  if (await store.reconciliations.start(run, auditLine(site.id, "reconciliation started", detail, by))) return run;
  throw new Conflict("", say("reconciliation_running"));
}

export async function findRun(store: Pick<Store, "reconciliations">, siteId: string, id: string): Promise<Run> {
  const run = await store.reconciliations.find({ siteId, id });
  if (run) return run;
  const sentence = say("no_reconciliation", { id });
  throw new Missing("run", sentence, `${english(sentence)} 'cleancast reconcile list SITE' shows their ids.`);
}

/** The rows that it made until now stay. */
export async function cancelRun(store: Pick<Store, "reconciliations" | "audit">, run: Run, by: By): Promise<Run> {
  if (!(await store.reconciliations.cancel(run, by.now)))
    throw new Conflict("", say("reconciliation_not_running", { id: run.id }));
  await store.audit.add(auditLine(run.siteId, "reconciliation cancelled", { id: run.id }, by));
  return findRun(store, run.siteId, run.id);
}
