// ApplyOfflineConversionAdjustments: restates the value of an uploaded offline conversion, or retracts it.

import { currency, isObject, isoTime } from "../shared/checks.ts";
import type { AcceptedInput, Answer, Call, Context } from "../shared/standin.ts";
import { accessError, campaignError } from "./access.ts";
import { readBody, rowErrors, toAccepted, toBatchError, type RowError } from "./offline.ts";
import { isUploaded } from "./reports.ts";

const maxAdjustments = 1000;

const fields = new Set([
  ..."AdjustmentCurrencyCode AdjustmentTime AdjustmentType AdjustmentValue ConversionName".split(" "),
  ..."ConversionTime HashedEmailAddress HashedPhoneNumber MicrosoftClickId".split(" "),
]);

/** The newest adjustment of each conversion, by its key. Null where it was retracted. */
const adjustments = (context: Context) => context.remember("adjustments", () => new Map<string, number | null>());

/** The codes are not documented; the names follow those of uploads and of the reports. */
function adjustmentErrors(row: Record<string, unknown>, context: Context): RowError[] {
  const now = context.now();
  const found = rowErrors(Object.fromEntries(Object.entries(row).filter(([name]) => !name.startsWith("Adjustment"))), now);
  const add = (code: number, name: string, field: string) => found.push({ code, name, field });
  const { AdjustmentType: type, AdjustmentTime: time, AdjustmentValue: value } = row;
  if (type !== "Restate" && type !== "Retract") add(5630, "AdjustmentTypeInvalid", "AdjustmentType");
  const isTime = isoTime({ now, maxAgeSeconds: 90 * 86_400, maxAheadSeconds: 0 })(time, "").length === 0;
  if (!isTime || String(time) < String(row.ConversionTime)) add(5631, "AdjustmentTimeInvalid", "AdjustmentTime");
  if (type === "Restate" && !(typeof value === "number" && value >= 0)) add(5632, "AdjustmentValueRequired", "AdjustmentValue");
  if (type === "Restate" && currency(row.AdjustmentCurrencyCode, "").length)
    add(5633, "AdjustmentCurrencyInvalid", "AdjustmentCurrencyCode");
  if (type === "Retract" && value !== undefined) add(5632, "AdjustmentValueNotExpected", "AdjustmentValue");
  const { key } = toAccepted(row);
  if (found.length > 0) return found;
  if (!isUploaded(key, context)) add(5634, "AdjustmentOriginalNotFound", "");
  else if (adjustments(context).get(key) === null) add(5635, "ConversionAlreadyRetracted", "");
  return found;
}

export function applyAdjustments(call: Call, context: Context): Answer {
  const fault = accessError(call, context, { account: true });
  if (fault) return fault;
  const rows = readBody(call)?.OfflineConversionAdjustments;
  if (!Array.isArray(rows) || rows.length === 0 || !rows.every(isObject))
    return campaignError(400, 100, "NullRequest", "OperationErrors");
  if (rows.length > maxAdjustments) return campaignError(400, 5602, "OfflineConversionsLimitExceeded", "OperationErrors");
  const stray = rows.flatMap((row) => Object.keys(row)).find((key) => !fields.has(key));
  if (stray !== undefined)
    return {
      ...campaignError(400, 100, "NullRequest", "OperationErrors"),
      rejected: [`${stray} is not a known field`],
    };
  const accepted: AcceptedInput[] = [];
  const errors = rows.flatMap((row, index) => {
    const found = adjustmentErrors(row, context);
    if (found.length === 0) {
      const input = toAccepted(row);
      accepted.push(input);
      adjustments(context).set(input.key, row.AdjustmentType === "Retract" ? null : Number(row.AdjustmentValue));
    }
    return found.map((error) => toBatchError(error, index));
  });
  return {
    status: 200,
    body: { PartialErrors: errors },
    accepted,
    rejected: errors.map(({ Index, ErrorCode }) => `OfflineConversionAdjustments[${Index}]: ${ErrorCode}`),
  };
}
