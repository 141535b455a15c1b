// The parts of the Google Ads API that pickers need: the accounts that the sign-in can access, and searches for
// accounts and conversion actions. Uploads are disabled, as they are for every new developer token.

import { isObject, readJson } from "../shared/checks.ts";
import { adwordsScope, googleAccounts, googleKnown, accessError, type GoogleAccount } from "./access.ts";
import { bearerToken, type Answer, type Call, type Context } from "../shared/standin.ts";
import type { TokenState } from "../shared/tokens.ts";

/** v22 was retired on 2026-10-07. v23 has no known date, so it still works. */
const supported = ["v23", "v24", "v25"];

/** Each error with its HTTP status, its status word and its family. */
const errors = {
  UNSUPPORTED_VERSION: [400, "INVALID_ARGUMENT", "requestError"],
  UNRECOGNIZED_FIELD: [400, "INVALID_ARGUMENT", "queryError"],
  CUSTOMER_NOT_ALLOWLISTED_FOR_THIS_FEATURE: [400, "INVALID_ARGUMENT", "notAllowlistedError"],
  OAUTH_TOKEN_EXPIRED: [401, "UNAUTHENTICATED", "authenticationError"],
  OAUTH_TOKEN_REVOKED: [401, "UNAUTHENTICATED", "authenticationError"],
  OAUTH_TOKEN_INVALID: [401, "UNAUTHENTICATED", "authenticationError"],
  DEVELOPER_TOKEN_PARAMETER_MISSING: [401, "UNAUTHENTICATED", "authenticationError"],
  DEVELOPER_TOKEN_NOT_APPROVED: [403, "PERMISSION_DENIED", "authorizationError"],
  USER_PERMISSION_DENIED: [403, "PERMISSION_DENIED", "authorizationError"],
} as const;

function adsError(error: keyof typeof errors, version: string, requestId: string) {
  const [code, status, family] = errors[error];
  const failure = {
    "@type": `type.googleapis.com/google.ads.googleads.${version}.errors.GoogleAdsFailure`,
    errors: [{ errorCode: { [family]: error }, message: error }],
    requestId,
  };
  const message = "The request could not be served.";
  return {
    status: code,
    body: { error: { code, message, status, details: [failure] } },
    rejected: [error],
  } satisfies Answer;
}

const callError = (error: keyof typeof errors, call: Call, context: Context) =>
  adsError(error, call.params.version ?? "", context.nextId());

/** Unlike the Data Manager API, this one distinguishes revoked from expired tokens. */
export function adsTokenError(state: Exclude<TokenState, "valid">, version: string, requestId: string): Answer {
  const error = {
    expired: "OAUTH_TOKEN_EXPIRED",
    revoked: "OAUTH_TOKEN_REVOKED",
    unknown: "OAUTH_TOKEN_INVALID",
  } as const;
  return adsError(error[state], version, requestId);
}

function listingError(call: Call, context: Context): Answer | null {
  const version = call.params.version ?? "";
  if (!supported.includes(version)) return callError("UNSUPPORTED_VERSION", call, context);
  const state = context.tokens.state(bearerToken(call));
  if (state !== "valid") return adsTokenError(state, version, context.nextId());
  const fault = accessError(call, context, adwordsScope);
  if (fault) return fault;
  const developerToken = call.headers["developer-token"];
  if (!developerToken) return callError("DEVELOPER_TOKEN_PARAMETER_MISSING", call, context);
  return developerToken === googleKnown.developerToken ? null : callError("DEVELOPER_TOKEN_NOT_APPROVED", call, context);
}

/** Lists only accounts with direct access; those below a manager are found through the manager. */
export function listCustomers(call: Call, context: Context): Answer {
  const fault = listingError(call, context);
  if (fault) return fault;
  const direct = googleAccounts.filter(({ managers }) => managers.length === 0);
  return { status: 200, body: { resourceNames: direct.map(({ id }) => `customers/${id}`) } };
}

export function searchStream(call: Call, context: Context): Answer {
  const fault = listingError(call, context);
  if (fault) return fault;
  const account = googleAccounts.find(({ id }) => id === call.params.customer);
  const login = call.headers["login-customer-id"];
  const hasAccess =
    account && (account.managers.length ? account.managers.includes(login ?? "") : !login || login === account.id);
  if (!hasAccess) return callError("USER_PERMISSION_DENIED", call, context);
  const read = readJson(call);
  const query = "value" in read && isObject(read.value) ? read.value.query : undefined;
  const rows = typeof query === "string" ? search(query, account) : null;
  if (!rows) return callError("UNRECOGNIZED_FIELD", call, context);
  return { status: 200, body: rows.length ? [{ results: rows, requestId: context.nextId() }] : [] };
}

/** New developer tokens get this for every row since 2026-06-15. */
export function uploadClicks(call: Call, context: Context): Answer {
  const fault = listingError(call, context);
  if (fault) return fault;
  const { body, rejected } = callError("CUSTOMER_NOT_ALLOWLISTED_FOR_THIS_FEATURE", call, context);
  const { message, details } = body.error;
  return {
    status: 200,
    body: { partialFailureError: { code: 3, message, details }, results: [{}] },
    rejected,
  };
}

type Row = Record<string, string | boolean>;

function rowsOf(resource: string, account: GoogleAccount): Row[] | null {
  const describe = (prefix: string, { id, name, isManager }: GoogleAccount): Row => ({
    [`${prefix}.id`]: id,
    [`${prefix}.resource_name`]: `customers/${id}`,
    [`${prefix}.descriptive_name`]: name,
    [`${prefix}.currency_code`]: "EUR",
    [`${prefix}.time_zone`]: "Europe/Berlin",
    [`${prefix}.manager`]: isManager,
    [`${prefix}.status`]: "ENABLED",
  });
  switch (resource) {
    case "customer":
      return [describe("customer", account)];
    case "customer_client":
      return googleAccounts
        .filter(({ id, managers }) => id === account.id || managers.includes(account.id))
        .map((one) => ({
          ...describe("customer_client", one),
          "customer_client.client_customer": `customers/${one.id}`,
          "customer_client.level": one.id === account.id ? "0" : "1",
        }));
    case "conversion_action":
      return account.actions.map((one) => ({
        ...describe("customer", account),
        "conversion_action.id": one.id,
        "conversion_action.resource_name": `customers/${account.id}/conversionActions/${one.id}`,
        "conversion_action.name": one.name,
        "conversion_action.type": one.type,
        "conversion_action.status": one.status,
        "conversion_action.category": one.category,
        "conversion_action.counting_type": one.countingType,
        "conversion_action.owner_customer": `customers/${account.id}`,
      }));
    default:
      return null;
  }
}

/** Runs the queries that pickers use: SELECT … FROM … WHERE a = b AND c IN (…). Returns null for any other query. */
function search(query: string, account: GoogleAccount): unknown[] | null {
  const parts = /^\s*SELECT\s+(.+?)\s+FROM\s+(\w+)(?:\s+WHERE\s+(.+?))?(?:\s+ORDER BY\s.+?)?(?:\s+LIMIT\s+\d+)?\s*$/is.exec(
    query,
  );
  const rows = parts ? rowsOf(parts[2] as string, account) : null;
  if (!parts || !rows) return null;
  const fields = (parts[1] as string).split(",").map((field) => field.trim());
  const conditions = parts[3]?.split(/\s+AND\s+/i).map((one) => /^([\w.]+)\s*(=|!=|<=|IN)\s*(.+)$/is.exec(one.trim())) ?? [];
  const sample = rows[0] ?? {};
  if (rows.length > 0 && fields.some((field) => !(field in sample))) return null;
  if (conditions.some((one) => one === null || (rows.length > 0 && !((one[1] as string) in sample)))) return null;
  return rows
    .filter((row) =>
      conditions.every((one) => {
        const [, field = "", operator = "", operand = ""] = one ?? [];
        const wanted = operand.replace(/[()'"\s]/g, "").split(",");
        const value = String(row[field]);
        if (operator === "<=") return Number(value) <= Number(wanted[0]);
        return operator === "!=" ? value !== wanted[0] : wanted.some((each) => each.toLowerCase() === value.toLowerCase());
      }),
    )
    .map((row) => nest(row, fields));
}

/** `conversion_action.counting_type` → { conversionAction: { countingType } } */
function nest(row: Row, fields: string[]): Record<string, Record<string, unknown>> {
  const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const nested: Record<string, Record<string, unknown>> = {};
  for (const field of fields) {
    const [resource = "", name = ""] = field.split(".");
    const place = (nested[camel(resource)] ??= { resourceName: row[`${resource}.resource_name`] });
    place[camel(name)] = row[field];
  }
  return nested;
}
