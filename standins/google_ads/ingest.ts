// events:ingest and requestStatus:retrieve of the Data Manager API. One invalid event rejects the whole request.

import { isObject, readJson } from "../shared/checks.ts";
import { accessError, dataManagerScope, findAction, googleError, type Destination, type FieldViolation } from "./access.ts";
import { accountShape, requestShape, toViolation, type ProductRules } from "./event.ts";
import { keepIngested, retrieveStatus, warningClick, type IngestedEvent } from "./status.ts";
import type { AcceptedInput, Answer, Call, Context } from "../shared/standin.ts";

/** The rules of a Google product that takes events. */
export type Product = ProductRules & {
  destinationViolations(destination: Destination, index: number, events: readonly Event[]): FieldViolation[];
  /** Violations beyond those that all products have. */
  eventViolations(event: Event, destinations: readonly Destination[]): EventViolation[];
};

/** The field is below the event; empty for the event itself. */
type EventViolation = { field: string; reason: string; description: string };

export const ingestInto =
  (product: Product) =>
  (call: Call, context: Context): Answer => {
    const fault = accessError(call, context, dataManagerScope) ?? spendQuota(context);
    if (fault) return fault;
    const requestId = `t-${context.nextId()}`;
    const read = readJson(call);
    if ("fault" in read || !isObject(read.value))
      return googleError(400, "INVALID_ARGUMENT", "Invalid JSON payload received.", { requestId });

    const body = read.value;
    const problems = requestShape(context.now(), body.encoding, product)(body, "");
    const unknown = problems.find(({ kind }) => kind === "unknown");
    // The JSON parser runs before the API and has no reasons of its own.
    if (unknown)
      return {
        ...googleError(400, "INVALID_ARGUMENT", "Invalid JSON payload received. Unknown name.", {
          requestId,
        }),
        rejected: [`${unknown.path} is not a known field`],
      };
    if (problems.length > 0) return invalidArgument(problems.map(toViolation), requestId);

    const events = body.events as Event[];
    const destinations = body.destinations as Destination[];
    const validateOnly = body.validateOnly === true;
    const violations = [
      ...destinations.flatMap((one, index) => product.destinationViolations(one, index, events)),
      ...events.flatMap((event, index) =>
        eventViolations(event, index, { destinations, encoding: body.encoding, validateOnly, product }),
      ),
    ];
    const denied = violations.find(({ reason }) => reason === "PERMISSION_DENIED");
    if (denied)
      return googleError(403, "PERMISSION_DENIED", "No access to the account.", {
        requestId,
        violations: [denied],
      });
    if (violations.length > 0) return invalidArgument(violations, requestId);
    if (validateOnly) return { status: 200, body: { requestId: `v-${context.nextId()}` }, tested: true };

    keepIngested(requestId, events, destinations, context);
    return {
      status: 200,
      body: { requestId, ...warningsOf(events) },
      accepted: events.flatMap((event) => destinations.map((one) => toAccepted(event, one))),
    };
  };

type Event = IngestedEvent & { destinationReferences?: string[]; userData?: unknown };

/** A repeat within one conversion action is an adjustment of the first, and never a second conversion. */
const toAccepted = (event: Event, { productDestinationId }: Destination): AcceptedInput => ({
  id: event.transactionId,
  key: `${productDestinationId}/${event.transactionId}`,
  windowSeconds: Infinity,
  event,
});

const adsProduct: Product = {
  account: accountShape("GOOGLE_ADS", /^\d{10}$/),
  // No limit is documented; ninety days is the usual click window. This is stricter than Google, which may accept an old
  // event and count it as EVENT_TOO_OLD half an hour later.
  maxAgeSeconds: 90 * 86_400,
  destinationViolations,
  eventViolations: ({ userData }, destinations) =>
    userData && destinations.some((one) => findAction(one).owner?.enhancedForLeads === false)
      ? [
          {
            field: "destination_references[0]",
            reason: "DESTINATION_ACCOUNT_NOT_ENABLED_ENHANCED_CONVERSIONS_FOR_LEADS",
            description: "The account is not enabled for enhanced conversions for leads.",
          },
        ]
      : [],
};

export const ingestEvents = ingestInto(adsProduct);

export const statusRoute = {
  kind: "status",
  method: "GET",
  path: "/v1/requestStatus:retrieve",
  handle: (call: Call, context: Context) => retrieveStatus(call, context, () => spendQuota(context)),
} as const;

/** Google warns of parts that it leaves out; here a click id asks for the warning, as those of status.ts do for errors. */
function warningsOf(events: readonly Event[]): { fieldWarnings?: FieldViolation[] } {
  const warned = events.flatMap(({ adIdentifiers }, index) => (adIdentifiers?.gclid === warningClick ? [index] : []));
  if (warned.length === 0) return {};
  const reason = "CART_DATA_ITEM_MERCHANT_PRODUCT_ID_MISSING";
  const description = "The cart data is not used.";
  return { fieldWarnings: warned.map((index) => ({ field: `events.events[${index}].cart_data`, description, reason })) };
}

function destinationViolations(destination: Destination, index: number, events: readonly Event[]): FieldViolation[] {
  const at = `destinations.destinations[${index}]`;
  const { owner, action } = findAction(destination);
  const login = destination.loginAccount?.accountId;
  // Direct access has no login account; access through a manager must name it.
  const hasAccess = owner?.managers.length ? owner.managers.includes(login ?? "") : login === undefined;
  if (!owner || !hasAccess) return [{ field: at, description: "No access to the account.", reason: "PERMISSION_DENIED" }];
  const reason = !/^\d+$/.test(destination.productDestinationId) || !action ? "INVALID_CONVERSION_ACTION_ID" : null;
  const field = `${at}.product_destination_id`;
  if (reason) return [{ field, description: "The conversion action is not valid.", reason }];
  if (action?.status !== "ENABLED")
    return [{ field, description: "The conversion action is not active.", reason: "INVALID_CONVERSION_ACTION_ID" }];
  // Offline events need an action that imports clicks. Those that add to the tag's conversions have the person's data.
  if (action.type !== "UPLOAD_CLICKS" && !events.every(({ userData }) => userData))
    return [
      {
        field: "events.events[0]",
        description: "The conversion action type is not valid.",
        reason: "INVALID_CONVERSION_ACTION_TYPE",
      },
    ];
  return [];
}

function eventViolations(
  event: Event,
  index: number,
  {
    destinations,
    encoding,
    validateOnly,
    product,
  }: { destinations: Destination[]; encoding: unknown; validateOnly: boolean; product: Product },
): FieldViolation[] {
  const at = `events.events[${index}]`;
  const found: FieldViolation[] = [];
  const add = (field: string, reason: string, description: string) =>
    found.push({ field: field ? `${at}.${field}` : at, description, reason });
  const { adIdentifiers = {} } = event;
  const isIdentified = identifiers.some((name) => adIdentifiers[name] !== undefined);
  if (adIdentifiers.gbraid !== undefined && adIdentifiers.wbraid !== undefined)
    add("ad_identifiers", "INVALID_EVENT", "Only one of gbraid and wbraid may be set.");
  if (!isIdentified && !event.userData) add("", "NO_IDENTIFIERS_PROVIDED", "No user or ad identifier was given.");
  if (event.userData && encoding === undefined)
    found.push({
      field: "encoding",
      description: "Required field is missing.",
      reason: "REQUIRED_FIELD_MISSING",
    });
  // One sender saw this rejected at ingestion and not by a dry run. Uncertain, so the stricter rule is used.
  if (!validateOnly && /^\d+$/.test(event.transactionId)) add("transaction_id", "INVALID_FORMAT", "The format is not valid.");
  const references = event.destinationReferences ?? [];
  if (references.some((name) => !destinations.some(({ reference }) => reference === name)))
    add("destination_references", "INVALID_DESTINATION", "No destination has this reference.");
  for (const { field, reason, description } of product.eventViolations(event, destinations)) add(field, reason, description);
  return found;
}

/** The ad identifiers of all products. */
export const identifiers = ["gclid", "gbraid", "wbraid", "dclid", "impressionId", "matchId", "mobileDeviceId"];

const invalidArgument = (violations: FieldViolation[], requestId: string) =>
  googleError(400, "INVALID_ARGUMENT", "There was a problem with the request.", { requestId, violations });

/** Shared by all customers of one Cloud project. It is uncertain if status calls count too: here they do. */
function spendQuota(context: Context): Answer | null {
  const wait = context.useQuota("project", 300, 60) || context.useQuota("project", 100_000, 86_400);
  return wait ? googleThrottled(wait) : null;
}

export function googleThrottled(retryAfterSeconds: number): Answer {
  const answer = googleError(429, "RESOURCE_EXHAUSTED", "Quota exceeded.", { reason: "RATE_LIMIT_EXCEEDED" });
  const { error } = answer.body as { error: { details: unknown[] } };
  // Google gives the wait in the body, as a duration, and not in a header.
  error.details.push({
    "@type": "type.googleapis.com/google.rpc.RetryInfo",
    retryDelay: `${retryAfterSeconds}s`,
  });
  return answer;
}
