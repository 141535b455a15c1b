// Writes the report of a reconciliation for a terminal.

import type { RowClass } from "../../kernel/reconciliation.ts";
import { shownPercent } from "../../kernel/text.ts";
import { dayOf } from "../../reconcile/window.ts";
import type { Site } from "../../sites/directory.ts";
import { table, toPrintableLines } from "../context.ts";
import { formatAmount, formatCount } from "../terminal/progress.ts";
import type { Report, Run } from "./runOptions.ts";

type ConnectionReport = Report["connections"][number];
type FunnelStep = ConnectionReport["funnel"][number];

/** `2026-10-16 to 2026-11-14`, both included. */
export const dayText = ({ from, to }: Pick<Run, "from" | "to">, timeZone: string) =>
  `${dayOf(from, timeZone)} to ${dayOf(to - 1, timeZone)}`;

const classTexts: Record<RowClass, string> = {
  matched: "matched",
  value_differs: "with another value",
  currency_differs: "with another currency",
  duplicate: "received more than once",
  status_changed: "refunded or cancelled since",
  missing_here: "never received",
  not_due: "not paid and never received (not counted)",
  extra_here: "events without an order in the list (not counted)",
};

export function reportText(report: Report, { settings, connections }: Site): string {
  const { timeZone } = settings;
  const lines = [
    `Reconciliation ${report.id}: ${report.event}, ${dayText(report, timeZone)} (${timeZone}), ${report.state}`,
    "",
    number(report.orders, "orders"),
    ...Object.entries(classTexts).flatMap(([name, text]) => {
      const count = report.classes[name as RowClass] ?? 0;
      return count ? [number(count, text)] : [];
    }),
  ];
  const weak = report.foundBy.weak ?? 0;
  if (weak) lines.push(number(weak, "of them found by email, day and value alone"));
  for (const { currency, listed, received } of report.values)
    lines.push(`           ${currency}: ${formatAmount(listed, currency)} listed, ${formatAmount(received, currency)} received`);
  if (report.connections.length) lines.push("", connectionTable(report.connections, connections));
  for (const one of report.connections) lines.push("", funnelText(one));
  if (report.classes.missing_here) lines.push("", "Send what was never received: cleancast reconcile send SITE");
  if (report.classes.status_changed) lines.push("", "Take back what was refunded or cancelled: cleancast reconcile correct SITE");
  if (report.classes.value_differs)
    lines.push("", "Restate other values: cleancast reconcile correct SITE --class value_differs");
  return lines.join("\n");
}

const number = (count: number, text: string) => `${formatCount(count).padStart(10)} ${text}`;

function connectionTable(reports: readonly ConnectionReport[], known: Site["connections"]): string {
  const head = [
    "CONNECTION",
    "PLATFORM",
    "ACCEPTED OF DELIVERABLE",
    "VALUE",
    "WAITING",
    "FAILED",
    "NOT RECEIVED",
    "NOT APPLICABLE",
  ];
  const rows = reports.map((one) => [
    known.some(({ id }) => id === one.connectionId) ? one.connectionId : `${one.connectionId} (removed)`,
    one.platform,
    acceptedText(one),
    one.values.map(valueText).join(", ") || "–",
    ...[one.waiting, one.failed].map(formatCount),
    // Of days before the connection existed, nothing is missing there.
    one.deliverable === 0 ? "–" : formatCount(one.notReceived),
    formatCount(one.skipped + one.filtered + one.notConnected),
  ]);
  return table(head, rows, "");
}

const valueText = ({ currency, accepted, deliverable }: ConnectionReport["values"][number]) =>
  `${formatAmount(accepted, currency)} of ${formatAmount(deliverable, currency)} ${currency}`;

/** `120 of 197, 61 %`. */
function acceptedText({ accepted, deliverable }: ConnectionReport): string {
  if (deliverable === 0) return "–";
  return `${formatCount(accepted)} of ${formatCount(deliverable)}, ${shownPercent(accepted, deliverable)} %`;
}

const stepTexts: Record<FunnelStep["step"], string> = {
  orders: "orders in the list",
  received: "received",
  "not filtered": "not filtered",
  attributed: "with a click id of the platform",
  due: "due",
  accepted: "accepted",
  confirmed: "confirmed by the platform",
};

const maxLosses = 5;

function funnelText({ platform, connectionId, funnel }: ConnectionReport): string {
  const lines = funnel.flatMap(({ step, count, losses }) => [
    number(count, stepTexts[step]),
    ...losses
      .slice(0, maxLosses)
      .map(({ reason, count: lost }) => `             − ${formatCount(lost)} ${toPrintableLines(reason).join(" ")}`),
    ...(losses.length > maxLosses ? [`             − ${losses.length - maxLosses} more reasons`] : []),
  ]);
  return [`${platform} ${connectionId}`, ...lines].join("\n");
}
