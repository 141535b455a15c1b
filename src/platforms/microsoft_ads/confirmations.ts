// Confirmations of offline conversions: Microsoft's report by goal and day of the upload, with counts by reason. An upload has no
// id and its rows have no order id, so the counts are ours only where Microsoft counted exactly as many as were sent: other
// uploads to the same goal leave the conversions unknown. Events of the Conversions API have no report.

import type { ConfirmationReason } from "../../kernel/confirmation.ts";
import { dayMs } from "../../kernel/time.ts";
import type { ConfirmationQuestion, Confirmations, ConfirmationStep, PlatformRequest, PlatformResponse } from "../platform.ts";
import { answered, combineCounts, readCount, undecidable, type Decided, type ReasonCount } from "../shared/confirmations.ts";
import { at, listAt, parseJson, textAt } from "../shared/json.ts";
import { parseBody, readStatus, rejected, retryLater, shorten, unauthorized, unreadable } from "../shared/response.ts";
import { isoTime } from "../shared/values.ts";
import { campaignRequest, goalOf, isoSeconds } from "./request.ts";
import { tokenCodes, transientCodes } from "./response.ts";

const minutesOfHours = (hours: number) => hours * 60;

export const confirmations: Confirmations = {
  coversAll: false,
  // A question covers a day, and reports lag behind by up to six hours.
  askAfterMinutes: [30, 42, 54, 78, 126].map(minutesOfHours),
  // No reason is temporary.
  retryAfterMinutes: minutesOfHours(24),
  perMinute: 20,
  subjectOf({ name, acceptedAt, answer }, settings) {
    // Only the upload of offline conversions answers with the rows that failed.
    const goal = Array.isArray(at(parseJson(answer), "PartialErrors")) ? goalOf({ name }, settings) : undefined;
    return goal === undefined ? null : `${isoTime(acceptedAt).slice(0, 10)} ${goal}`;
  },
  // Reports are asked for by the number of the goal, and settings have its name.
  toRequest: (_subject, settings) =>
    campaignRequest(settings, "ConversionGoals/QueryByIds", {
      ConversionGoalIds: null,
      ConversionGoalTypes: "OfflineConversion",
    }),
  read,
};

const dayOf = (subject: string) => subject.slice(0, 10);
const goalNameOf = (subject: string) => subject.slice(11);

function read(response: PlatformResponse, question: ConfirmationQuestion, now: number): ConfirmationStep {
  const body = parseBody(response);
  const [fault] = [...listAt(body, "Errors"), ...listAt(body, "OperationErrors")];
  if (fault !== undefined) return readFault(fault);
  const reading = readStatus(response, now);
  if (reading.kind !== "accepted") return reading;
  if (Array.isArray(at(body, "ConversionGoals"))) {
    const name = goalNameOf(question.subject);
    const goal = listAt(body, "ConversionGoals").find((one) => textAt(one, "Name") === name);
    const id = textAt(goal, "Id");
    return id
      ? { kind: "next", request: reportRequest(question, id) }
      : rejected(shorten(`the ad account has no offline goal ${name}`));
  }
  if (!Array.isArray(at(body, "OfflineGoalConversionSummaries"))) return unreadable(response, now);
  const days = listAt(body, "OfflineGoalConversionSummaries").flatMap((goal) => listAt(goal, "DailySummaries"));
  const day = days.find((one) => textAt(one, "UploadDate").startsWith(dayOf(question.subject)));
  return answered(readDay(day, question.conversions), question.conversions);
}

function reportRequest({ subject, settings }: ConfirmationQuestion, goalId: string): PlatformRequest {
  const startsAt = Date.parse(dayOf(subject));
  return campaignRequest(settings, "OfflineConversionReport/QueryByGoalIds", {
    StartDateUtc: isoSeconds(startsAt),
    EndDateUtc: isoSeconds(startsAt + dayMs),
    GoalIds: [goalId],
    UploadChannelFilter: null,
  });
}

/** Returns null while the report lacks a part of the day. */
function readDay(day: unknown, conversions: number): Decided | null {
  const counted = readCount(at(day, "SuccessCount"));
  const lost = readCount(at(day, "UnattributedCount"));
  if (counted === null || lost === null || counted + lost < conversions) return null;
  const total = counted + lost;
  const errors = listAt(day, "Alerts").map(toReasonCount);
  const named = errors.reduce((sum, { count }) => sum + count, 0);
  if (total > conversions) return undecidable(`${counted} of ${total} attributed, of which ${conversions} were sent from here`);
  if (named !== lost) return undecidable(`${counted} of ${total} attributed, ${named} with a reason`);
  return combineCounts(errors, { counted, total, conversions });
}

function toReasonCount(one: unknown): ReasonCount {
  const code = textAt(one, "UnattributedReason");
  return {
    code: shorten(code),
    reason: reasons.get(code) ?? "other",
    count: readCount(at(one, "Count")) ?? 0,
  };
}

function readFault(fault: unknown): ConfirmationStep {
  const code = textAt(fault, "Code");
  const error = shorten([code, textAt(fault, "ErrorCode"), textAt(fault, "Message")].filter(Boolean).join(" "));
  if (tokenCodes.has(code)) return unauthorized(error);
  return transientCodes.has(code) ? retryLater(error) : rejected(error);
}

/** Checked 2026-11-15. One that is not here, and Microsoft's own Unknown, read as `other`. */
const reasons = new Map<string, ConfirmationReason>([
  ["DuplicateConversionKey", "duplicate"],
  ["NoMatchingClickFound", "no ad click"],
  ["MissingMatchIdentifiers", "no ad click"],
  ["AccountMismatch", "no ad click"],
  ["OutsideGoalLookbackWindow", "too old"],
  ["ConversionTimeExceedsMaxLookback", "too old"],
  ["HistoricalClickDataExpired", "too old"],
  ["ClickTimestampAfterConversion", "bad data"],
  ["ConversionTimeInFuture", "bad data"],
  ["MalformedData", "bad data"],
  ["AdjustmentOriginalNotFound", "bad data"],
  ["ConversionAlreadyRetracted", "bad data"],
  ["GoalNotFoundOrInactive", "settings"],
]);
