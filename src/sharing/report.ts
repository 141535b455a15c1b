// The shared report of a site: its funnel in numbers, for people outside. It holds counts, money and causes of a closed set, and
// nothing that a sender or a platform wrote, so no personal data can be in it.

import { dayMs, hourMs } from "../kernel/time.ts";
import { platformOf } from "../platforms/index.ts";
import { skipRulesOf } from "../platforms/shared/skips.ts";
import { makeReport } from "../reconcile/report.ts";
import { dayOf, startOfDay } from "../reconcile/window.ts";
import type { Site } from "../sites/directory.ts";
import { moneyOf } from "../statistics/aggregate.ts";
import { createStatistics } from "../statistics/read.ts";
import type { Store } from "../store/store.ts";
import { codeOf } from "../kernel/messages/message.ts";
import { unselectedReason } from "../kernel/event.ts";

/** Why a conversion is not at a platform. What cannot apply is no loss: nobody can repair it. */
const lossCauses = ["never_received", "rejected", "expired", "waiting", "needs_reconnection", "paused"] as const;
const otherCauses = [
  "bots",
  "blocked",
  "opted_out",
  "no_click_id",
  "not_selected",
  "too_old",
  "not_supported",
  "not_connected",
] as const;
export type Cause = (typeof lossCauses)[number] | (typeof otherCauses)[number];
export type CauseCount = { cause: Cause; count: number };

export const isLoss = ({ cause }: CauseCount) => (lossCauses as readonly Cause[]).includes(cause);

type Money = { currency: string; value: number };

export type SharedConnection = {
  platform: string;
  /** The name of the platform; numbered where the site has several connections to it. */
  name: string;
  /** What the platform should have, and what it accepted. */
  deliverable: number;
  accepted: number;
  /** Of the accepted, those that the platform counts; null where it cannot be asked. */
  confirmed: number | null;
  /** What the accepted are worth, and what never reached the platform. Without a list of orders the latter is not known. */
  worth: Money[];
  missed: Money[];
  /** The largest first. */
  causes: CauseCount[];
};

export type SharedReport = {
  host: string;
  timeZone: string;
  /** Whole days, `to` not included; or up to now. */
  from: number;
  to: number;
  /** The shop's list of orders was compared with what was received; without one, the report begins with what was received. */
  orders: number | null;
  received: number;
  /** Received, and not filtered. */
  conversions: number;
  values: Money[];
  causes: CauseCount[];
  connections: SharedConnection[];
};

/** The name of its file: the site and the last day. */
export const fileNameOf = ({ host, to, timeZone }: SharedReport): string =>
  `${host.replaceAll(/[^a-z0-9.-]/gi, "_")}-${dayOf(to - 1, timeZone)}.pdf`;

type ReportStore = Pick<Store, "reconciliations" | "statistics" | "traffic" | "inboundCounts" | "confirmations">;

/** A comparison that is older than this says nothing of the present. */
const maxComparisonAgeMs = 10 * dayMs;

/** Reports the newest comparison with the list of orders, or the last days without one. */
export async function readSharedReport(
  store: ReportStore,
  site: Site,
  { days, now }: { days: number; now: () => number },
): Promise<SharedReport> {
  const runs = await store.reconciliations.list(site.id);
  const newest = runs.find(({ state }) => state === "done");
  if (newest && newest.startedAt > now() - maxComparisonAgeMs) {
    const run = await store.reconciliations.find(newest);
    if (run?.isReadable) {
      const compared = reportComparison(site, makeReport(run, site.connections));
      if (compared.orders > 0) return { ...frameOf(site), from: run.from, to: run.to, ...compared };
    }
  }
  return reportEvents(store, site, { days, now });
}

const frameOf = ({ hosts, id, settings }: Site) => ({ host: hosts[0] ?? id, timeZone: settings.timeZone });

type Compared = ReturnType<typeof makeReport>;

function reportComparison({ connections: known }: Site, report: Compared) {
  const { orders, received, values, connections, funnel } = report;
  return {
    orders,
    received,
    conversions: funnel.at(-1)?.count ?? received,
    values: values.map(({ currency, listed }) => ({ currency, value: listed })),
    causes: sumCauses(
      funnel.flatMap(({ losses }) => losses.map(({ rows, count }) => ({ cause: causeBefore(rows.filtered), count }))),
    ),
    connections: named(
      connections
        // One that was removed, or that has nothing to do with these orders, would only be noise.
        .filter(({ connectionId, deliverable }) => deliverable > 0 || known.some(({ id }) => id === connectionId))
        .map(({ platform, deliverable, accepted, waiting, failed, confirmed, values: worth, funnel: own }) => ({
          platform,
          deliverable,
          accepted,
          confirmed,
          worth: worth.map(({ currency, accepted: value }) => ({ currency, value })),
          missed: worth
            .map(({ currency, accepted: value, deliverable: due }) => ({
              currency,
              value: Math.round((due - value) * 100) / 100,
            }))
            .filter(({ value }) => value > 0),
          causes: sumCauses([
            // What was never received is lost at every platform that should have it.
            { cause: "never_received" as const, count: deliverable - accepted - waiting - failed },
            ...own
              .filter(({ step }) => step === "due" || step === "accepted")
              .flatMap(({ losses }) =>
                losses.map(({ rows, count }) => ({ cause: causeAt(platform, rows.state ?? "skipped", rows.reason), count })),
              ),
          ]),
        })),
    ),
  };
}

const causeBefore = (filtered: string | undefined): Cause => {
  if (filtered === undefined) return "never_received";
  return filtered === "only bot visits" || filtered === "late verdict" ? "bots" : "blocked";
};

const skipCauses: Readonly<Record<string, Cause>> = { opted_out: "opted_out", no_match_key: "no_click_id" };

const stateCauses: Readonly<Record<string, Cause>> = {
  none: "not_connected",
  queued: "waiting",
  parked: "needs_reconnection",
  rejected: "rejected",
  expired: "expired",
};

/** The reason of a delivery is a text: that of a rule, or a platform's own, which must not appear in a report. */
function causeAt(platformId: string, state: string, reason: string | undefined): Cause {
  if (state === "parked" && reason === "paused") return "paused";
  if (state !== "skipped") return stateCauses[state] ?? "waiting";
  if (reason === unselectedReason) return "not_selected";
  if (reason !== undefined && codeOf(reason) === "too_old") return "too_old";
  const platform = platformOf(platformId);
  const rule = platform && skipRulesOf(platform).find((one) => one.reason === reason);
  return skipCauses[rule?.code ?? ""] ?? "not_supported";
}

/** Adds up equal causes, the largest first. */
function sumCauses(counts: readonly CauseCount[]): CauseCount[] {
  const sums = new Map<Cause, number>();
  for (const { cause, count } of counts) if (count > 0) sums.set(cause, (sums.get(cause) ?? 0) + count);
  return [...sums].map(([cause, count]) => ({ cause, count })).toSorted((one, other) => other.count - one.count);
}

/** The account of a connection is not for outsiders: several connections to one platform are numbered. */
function named(connections: readonly Omit<SharedConnection, "name">[]): SharedConnection[] {
  const seen = new Map<string, number>();
  return connections
    .map((one) => {
      const number = (seen.get(one.platform) ?? 0) + 1;
      seen.set(one.platform, number);
      const name = platformOf(one.platform)?.name ?? one.platform;
      return { name: number > 1 ? `${name} ${number}` : name, ...one };
    })
    .toSorted((one, other) => other.deliverable - one.deliverable);
}

/** Reports what was received in the last days, up to the beginning of today. */
async function reportEvents(
  store: ReportStore,
  site: Site,
  { days, now }: { days: number; now: () => number },
): Promise<SharedReport> {
  const { timeZone } = site.settings;
  const to = Math.floor(startOfDay(dayOf(now(), timeZone), timeZone) / hourMs) * hourMs;
  const from = to - days * dayMs;
  const { total, details } = await createStatistics(store, now).read(site.id, { from, to, step: "day", timeZone });
  return { ...frameOf(site), from, to, orders: null, ...reportSums({ total, details }) };
}

type Sums = Pick<Awaited<ReturnType<ReturnType<typeof createStatistics>["read"]>>, "total" | "details">;

/** The funnel of a period by its sums: what was received, and what became of it at each platform. */
export function reportSums({
  total,
  details,
}: Sums): Pick<SharedReport, "received" | "conversions" | "values" | "causes" | "connections"> {
  return {
    received: total.conversions + total.filtered,
    conversions: total.conversions,
    values: moneyOf(total.values),
    causes: sumCauses([
      { cause: "bots", count: total.botEvents },
      { cause: "blocked", count: total.filtered - total.botEvents },
    ]),
    connections: named(
      [...details.platforms].map(([platform, states]) => {
        const accepted = states.sent ?? 0;
        const all = Object.values(states).reduce((sum, count) => sum + count, 0);
        return {
          platform,
          deliverable: all - (states.skipped ?? 0),
          accepted,
          confirmed: null,
          worth: moneyOf(details.delivered.get(platform)?.values ?? new Map()),
          missed: [],
          causes: sumCauses(
            Object.entries(states)
              .filter(([state]) => state !== "sent")
              .map(([state, count]) => ({ cause: causeAt(platform, state, undefined), count })),
          ),
        };
      }),
    ),
  };
}
