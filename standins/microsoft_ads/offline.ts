// The Campaign Management and Customer Management APIs, REST v13: offline conversions, and the lists for the pickers.

import { currency, hash, isObject, isoTime, readJson } from "../shared/checks.ts";
import { campaignError, microsoftGoals, microsoftKnown, microsoftTags, accessError } from "./access.ts";
import { keepUpload } from "./reports.ts";
import type { AcceptedInput, Answer, Call, Context } from "../shared/standin.ts";

const maxAgeSeconds = 90 * 86_400;
const maxConversions = 1000;

export type RowError = { code: number; name: string; field: string };

/** The documented numbers. Except for 5612 and 5615, the names of the 56xx codes are ours. */
export function rowErrors(row: unknown, now: number): RowError[] {
  if (!isObject(row)) return [{ code: 5605, name: "OfflineConversionIsNull", field: "" }];
  const found: RowError[] = [];
  const add = (code: number, name: string, field: string) => found.push({ code, name, field });
  const { ConversionName: name, ConversionTime: time, ConversionValue: value } = row;

  const goal = microsoftGoals.find(({ Name, Type }) => Name === name && Type === "OfflineConversion");
  if (name === undefined) add(5605, "OfflineConversionNameRequired", "ConversionName");
  else if (!goal) add(5606, "OfflineConversionNameInvalid", "ConversionName");
  else if (goal.Name === microsoftKnown.newOfflineGoal) add(5615, "OfflineConversionNotAcceptedForGoal", "ConversionName");

  if (time === undefined) add(5607, "OfflineConversionTimeRequired", "ConversionTime");
  else {
    // UTC is required; a time without Z would be read as another time.
    const kinds = isoTime({ now, maxAgeSeconds, maxAheadSeconds: 0 })(time, "").map(({ kind }) => kind);
    if (kinds.includes("future")) add(5614, "OfflineConversionTimeInFuture", "ConversionTime");
    else if (kinds.includes("old")) add(5609, "OfflineConversionTimeTooOld", "ConversionTime");
    else if (kinds.length || !(typeof time === "string" && time.endsWith("Z")))
      add(5608, "OfflineConversionTimeInvalid", "ConversionTime");
  }

  const hashes = ["HashedEmailAddress", "HashedPhoneNumber"].filter((field) => row[field] !== undefined);
  const clickId = row.MicrosoftClickId;
  if (clickId === undefined && hashes.length === 0) add(5603, "OfflineConversionClickIdRequired", "MicrosoftClickId");
  if (clickId !== undefined && !isClickId(clickId)) add(5604, "OfflineConversionClickIdInvalid", "MicrosoftClickId");
  for (const field of hashes) if (hash(row[field], "").length) add(5604, "OfflineConversionHashInvalid", field);
  if (value !== undefined && (typeof value !== "number" || value < 0))
    add(5610, "OfflineConversionValueInvalid", "ConversionValue");
  if (row.ConversionCurrencyCode !== undefined && currency(row.ConversionCurrencyCode, "").length)
    add(5611, "OfflineConversionCurrencyInvalid", "ConversionCurrencyCode");
  return found;
}

/** With dashes or without: both are seen in practice. */
const isClickId = (value: unknown) => typeof value === "string" && /^[0-9a-f]{32}$/i.test(value.replaceAll("-", ""));

const rowFields = new Set([
  ..."ConversionName ConversionTime ConversionValue ConversionCurrencyCode MicrosoftClickId".split(" "),
  ..."HashedEmailAddress HashedPhoneNumber ExternalAttributionCredit ExternalAttributionModel".split(" "),
]);

export function applyConversions(call: Call, context: Context): Answer {
  const fault = accessError(call, context, { account: true });
  if (fault) return fault;
  const body = readBody(call);
  const rows = body?.OfflineConversions;
  if (!Array.isArray(rows) || rows.length === 0) return campaignError(400, 100, "NullRequest", "OperationErrors");
  if (rows.length > maxConversions) return campaignError(400, 5602, "OfflineConversionsLimitExceeded", "OperationErrors");
  const stray = rows.flatMap((row: unknown) => (isObject(row) ? Object.keys(row) : [])).find((key) => !rowFields.has(key));
  // An unknown field makes the JSON unreadable for the API, and the request empty.
  if (stray !== undefined)
    return {
      ...campaignError(400, 100, "NullRequest", "OperationErrors"),
      rejected: [`${stray} is not a known field`],
    };

  const accepted: AcceptedInput[] = [];
  const errors = rows.flatMap((row: Record<string, unknown>, index) => {
    const found = rowErrors(row, context.now());
    if (found.length === 0) {
      const input = toAccepted(row);
      accepted.push(input);
      keepUpload(row, input.key, context);
    }
    return found.map((error) => toBatchError(error, index));
  });
  return {
    status: 200,
    // Only the rows that failed, named by their index.
    body: { PartialErrors: errors },
    accepted,
    rejected: errors.map(({ Index, ErrorCode }) => `OfflineConversions[${Index}]: ${ErrorCode}`),
  };
}

export const toBatchError = ({ code, name, field }: RowError, index: number) => ({
  Code: code,
  Details: null,
  ErrorCode: name,
  FieldPath: field || null,
  ForwardCompatibilityMap: null,
  Index: index,
  Message: name,
  Type: "BatchError",
});

/** There is no order id: rows with the same click and time are the same. */
export function toAccepted(row: Record<string, unknown>): AcceptedInput & { key: string } {
  const person = row.MicrosoftClickId ?? row.HashedEmailAddress ?? row.HashedPhoneNumber;
  const key = `${String(row.ConversionName)}/${String(person)}/${String(row.ConversionTime)}`;
  return { id: key, key, name: String(row.ConversionName), windowSeconds: Infinity, event: row };
}

export function readBody(call: Call): Record<string, unknown> | null {
  const read = readJson(call);
  return "value" in read && isObject(read.value) ? read.value : null;
}

/** Answers with the token of a tag. The guide and the reference name the fields differently; both forms work. */
export function queryTagToken(call: Call, context: Context): Answer {
  const fault = accessError(call, context, { account: true });
  if (fault) return fault;
  const body = readBody(call);
  const given = body?.TagId ?? body?.UetTagId;
  if (String(given) !== microsoftKnown.uetTagId) return campaignError(400, 4200, "InvalidUetTagId", "OperationErrors");
  const key = { AuthKey: microsoftKnown.tagToken };
  const answer = body?.TagId === undefined ? { UetTagAuthKey: key } : { TagAuthKey: key };
  return { status: 200, body: { ...answer, PartialErrors: [] } };
}

export function queryUser(call: Call, context: Context): Answer {
  const fault = accessError(call, context, { account: false });
  if (fault) return fault;
  if (!readBody(call)) return campaignError(400, 100, "NullRequest", "OperationErrors");
  return {
    status: 200,
    body: {
      User: {
        Id: microsoftKnown.userId,
        UserName: "ada@shop.example",
        CustomerId: microsoftKnown.customerId,
      },
      CustomerRoles: [{ RoleId: 41, CustomerId: microsoftKnown.customerId, AccountIds: null }],
    },
  };
}

export function searchAccounts(call: Call, context: Context): Answer {
  const fault = accessError(call, context, { account: false });
  if (fault) return fault;
  const body = readBody(call);
  if (!isObject(body?.PageInfo) || !Array.isArray(body.Predicates))
    return campaignError(400, 100, "NullRequest", "OperationErrors");
  const matches = body.Predicates.every(
    (predicate: unknown) =>
      !isObject(predicate) || predicate.Field !== "UserId" || String(predicate.Value) === microsoftKnown.userId,
  );
  const account = {
    Id: microsoftKnown.accountId,
    Name: "Example Shop",
    Number: "F1200001",
    ParentCustomerId: microsoftKnown.customerId,
    CurrencyCode: "EUR",
    AccountLifeCycleStatus: "Active",
  };
  return { status: 200, body: { Accounts: matches && body.PageInfo.Index === 0 ? [account] : [] } };
}

export function queryTags(call: Call, context: Context): Answer {
  const fault = accessError(call, context, { account: true });
  if (fault) return fault;
  const asked = readBody(call)?.TagIds;
  const all = !Array.isArray(asked) || asked.length === 0;
  const tags = microsoftTags.filter(({ Id }) => all || asked.map(String).includes(Id));
  return { status: 200, body: { UetTags: tags, PartialErrors: [] } };
}

export function queryGoals(call: Call, context: Context): Answer {
  const fault = accessError(call, context, { account: true });
  if (fault) return fault;
  const body = readBody(call);
  const types = body?.ConversionGoalTypes;
  if (typeof types !== "string") return campaignError(400, 100, "NullRequest", "OperationErrors");
  const tags = Array.isArray(body?.TagIds) ? body.TagIds.map(String) : null;
  const wanted = types.split(/[\s,]+/);
  const goals = microsoftGoals.filter(
    ({ Type, TagId }) => wanted.includes(Type) && (tags === null || (TagId !== null && tags.includes(TagId))),
  );
  return { status: 200, body: { ConversionGoals: goals, PartialErrors: [] } };
}
