// The reports of offline conversions: what became of uploaded rows, by goal and day, with counts by reason.

import { isObject, readJson } from "../shared/checks.ts";
import type { Answer, Call, Context } from "../shared/standin.ts";
import { accessError, campaignError, microsoftGoals } from "./access.ts";

/** Every reason of the API. Checked 2026-11-15. */
export const unattributedReasons = [
  "NoMatchingClickFound",
  "MissingMatchIdentifiers",
  "OutsideGoalLookbackWindow",
  "AccountMismatch",
  "ClickTimestampAfterConversion",
  "ConversionTimeExceedsMaxLookback",
  "ConversionTimeInFuture",
  "GoalNotFoundOrInactive",
  "DuplicateConversionKey",
  "HistoricalClickDataExpired",
  "AdjustmentOriginalNotFound",
  "ConversionAlreadyRetracted",
  "MalformedData",
  "Unknown",
] as const;
type Reason = (typeof unattributedReasons)[number];

/** A click id that makes the stand-in report its row with this reason: tests need reasons that no rule here produces. */
export const clickWith = (reason: Reason) =>
  `ffffff${unattributedReasons.indexOf(reason).toString(16).padStart(2, "0")}-0000-4000-8000-000000000000`;
const scripted = /^ffffff(?<index>[0-9a-f]{2})-?0000/i;

type Uploaded = { goal: string; at: number; reason: Reason | null };

/** True where a row with this key was uploaded. */
export const isUploaded = (key: string, context: Context) => uploads(context).keys.has(key);

const dayMs = 86_400_000;
const maxDays = 7;
const maxGoals = 20;
/** Reports lag behind by up to six hours; here by as much always. */
const lagMs = 6 * 3_600_000;
const maxKept = 20_000;

const uploads = (context: Context) => context.remember("uploads", () => ({ rows: [] as Uploaded[], keys: new Set<string>() }));

/** Keeps a row that was accepted. `key` is by what Microsoft recognises repeats. */
export function keepUpload(row: Record<string, unknown>, key: string, context: Context): void {
  const { rows, keys } = uploads(context);
  if (rows.length >= maxKept) rows.shift();
  const index = scripted.exec(String(row.MicrosoftClickId))?.groups?.index;
  const wanted = index === undefined ? null : (unattributedReasons[Number.parseInt(index, 16)] ?? null);
  const reason = keys.has(key) ? "DuplicateConversionKey" : wanted;
  if (keys.size < maxKept) keys.add(key);
  rows.push({ goal: String(row.ConversionName), at: context.now(), reason });
}

export function queryReport(call: Call, context: Context): Answer {
  const fault = accessError(call, context, { account: true });
  if (fault) return fault;
  const read = readJson(call);
  const body = "value" in read && isObject(read.value) ? read.value : null;
  const [from, to] = [timeOf(body?.StartDateUtc), timeOf(body?.EndDateUtc)];
  const ids = body?.GoalIds;
  const invalid = (name: string) => campaignError(400, 100, name, "OperationErrors");
  if (!body || from === null || to === null || to <= from) return invalid("InvalidDateRange");
  if (to - from > maxDays * dayMs) return invalid("DateRangeTooLong");
  if (!Array.isArray(ids) || ids.length === 0 || ids.length > maxGoals) return invalid("InvalidGoalIds");
  const goals = microsoftGoals.filter(({ Id }) => ids.map(String).includes(Id));
  const ended = uploads(context).rows.filter(({ at }) => at >= from && at < to && at <= context.now() - lagMs);
  const summaries = goals.map(({ Id, Name }) => {
    const rows = ended.filter(({ goal }) => goal === Name);
    const days = Map.groupBy(rows, ({ at }) => new Date(at).toISOString().slice(0, 10));
    return {
      GoalId: Id,
      ConversionName: Name,
      ...totals("Overall", rows),
      OverallAlerts: alertsOf(rows),
      DailySummaries: [...days].map(([day, some]) => ({
        GoalId: Id,
        UploadDate: `${day}T00:00:00Z`,
        ...totals("", some),
        Alerts: alertsOf(some),
      })),
    };
  });
  return { status: 200, body: { OfflineGoalConversionSummaries: summaries, PartialErrors: [] } };
}

const timeOf = (value: unknown) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value) ? Date.parse(value) : null;

/** Long numbers arrive as texts. */
function totals(prefix: string, rows: readonly Uploaded[]): Record<string, string> {
  const lost = rows.filter(({ reason }) => reason !== null).length;
  const rate = rows.length === 0 ? 0 : (rows.length - lost) / rows.length;
  return {
    [`${prefix}SuccessCount`]: String(rows.length - lost),
    [`${prefix}UnattributedCount`]: String(lost),
    [`${prefix}SuccessRate`]: String(rate),
  };
}

const alertsOf = (rows: readonly Uploaded[]) =>
  [
    ...Map.groupBy(
      rows.flatMap(({ reason }) => reason ?? []),
      (reason) => reason,
    ),
  ].map(([reason, some]) => ({
    UnattributedReason: reason,
    Count: String(some.length),
  }));
