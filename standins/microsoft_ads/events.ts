// The UET Conversions API. An error makes an event invalid, and with it the batch unless the request says otherwise;
// a warning removes a field and keeps the event. The response lists the first ten of both.

import {
  also,
  currency,
  describeProblem,
  epoch,
  eventIndex,
  flag,
  hash,
  ipAddress,
  isObject,
  list,
  number,
  object,
  problemAt,
  readJson,
  text,
  webUrl,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { bearerToken, type Answer, type Call, type Context } from "../shared/standin.ts";

const maxAgeSeconds = 7 * 86_400;
const maxEvents = 1000;
const shownDetails = 10;

const uuid = text({ pattern: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i });
const amount = number();
const identifiers = ["anonymousId", "externalId", "em", "ph", "msclkid", "idfa", "gaid"];

/** An invalid value of these optional fields is a warning; everything else that is wrong is an error. */
const warned = /\.(?:em|ph|referrerUrl|currency|pageType|itemIds|items|ecommTotalValue|ecommCategory)\b/;

function eventShape(now: number): Check {
  const userData = object({
    clientUserAgent: text(),
    anonymousId: text(),
    externalId: text(),
    em: hash,
    ph: hash,
    clientIpAddress: ipAddress,
    // Auto-tagging often gives 32 digits without dashes. It is uncertain if Microsoft accepts those: here they fail.
    msclkid: uuid,
    idfa: uuid,
    gaid: uuid,
  });
  const customData = object({
    eventCategory: text(),
    eventLabel: text(),
    eventValue: amount,
    searchTerm: text(),
    transactionId: text(),
    value: amount,
    currency,
    items: list(object({ id: text(), quantity: number({ integer: true }), price: amount, name: text() })),
    itemIds: list(text()),
    pageType: text({ oneOf: ["cart", "category", "home", "other", "product", "purchase", "searchresults"] }),
    ecommTotalValue: amount,
    ecommCategory: text(),
    hotelData: object({}, { open: true }),
  });
  const event = object(
    {
      eventType: text({ oneOf: ["pageLoad", "custom"] }),
      eventId: text(),
      eventName: text(),
      eventTime: epoch("seconds", { now, maxAgeSeconds, maxAheadSeconds: 0 }),
      eventSourceUrl: webUrl,
      pageLoadId: uuid,
      referrerUrl: webUrl,
      pageTitle: text(),
      keywords: text(),
      adStorageConsent: text({ oneOf: ["G", "D"] }),
      userData,
      customData,
    },
    { required: ["eventType", "eventTime", "userData"] },
  );
  return also(event, (value, path) => {
    // The event id is documented as required for deduplication only. A relay that retries needs it, so it is required here.
    const needed = value.eventType === "pageLoad" ? ["eventSourceUrl"] : ["eventId", "eventName"];
    const missing = needed.filter((name) => value[name] === undefined);
    const known = isObject(value.userData) ? value.userData : {};
    const usable = identifiers.some(
      (name) => known[name] !== undefined && (!["em", "ph"].includes(name) || hash(known[name], "").length === 0),
    );
    // Other senders put these into the event, where they have no effect: the relay must not believe that they do.
    const misplaced = ["continueOnValidationError", "dataProvider"].filter((name) => name in value);
    return [
      ...misplaced.flatMap((name) => problemAt("value", `${path}.${name}`, "belongs to the root")),
      ...missing.flatMap((name) => problemAt("missing", `${path}.${name}`, "is required")),
      // An invalid hash is removed first, so it is no match key.
      ...(usable ? [] : problemAt("missing", `${path}.userData`, "needs at least one identifier")),
    ];
  });
}

export function receiveEvents(call: Call, context: Context): Answer {
  const tag = call.params.tag ?? "";
  const token = bearerToken(call);
  if (context.tokens.state(token) !== "valid" || !context.tokens.allows(token, `tag:${tag}`)) return unauthorized();
  const read = readJson(call);
  if ("fault" in read || !isObject(read.value)) return invalid(problemAt("type", "", "the body is not JSON"));

  const { data, ...root } = read.value;
  const rootProblems = object({ continueOnValidationError: flag, dataProvider: text() }, { required: ["dataProvider"] })(
    root,
    "",
  );
  const dataProblems = list(() => [], { min: 1, max: maxEvents })(data, "data");
  const whole = [...rootProblems.filter(({ kind }) => kind !== "unknown"), ...dataProblems];
  if (whole.length > 0) return invalid(whole);

  const events = data as Record<string, unknown>[];
  const shape = eventShape(context.now());
  const found = events.map((event, index) => shape(event, `data[${index}]`));
  // Microsoft ignores unknown fields silently; the log lists them, because they are lost.
  const unknown = found.flatMap((problems) => problems.filter(({ kind }) => kind === "unknown"));
  const issues = found.map((problems) => problems.filter(({ kind }) => kind !== "unknown"));
  const all = issues.flat();
  const isBad = (index: number) => issues[index]?.some((one) => !isWarning(one)) ?? false;
  const good = events.filter((_, index) => !isBad(index));
  if (good.length < events.length && (root.continueOnValidationError !== true || good.length === 0)) return invalid(all);

  return {
    status: 200,
    body: { eventsReceived: good.length, ...(all.length ? { error: describe(all) } : {}) },
    accepted: good.map((event) => ({
      id: typeof event.eventId === "string" ? event.eventId : null,
      name: String(event.eventName ?? event.eventType),
      key: `${tag}/${String(event.eventId)}/${String(event.eventName)}`,
      windowSeconds: maxAgeSeconds,
      event,
    })),
    rejected: [...all, ...unknown].map(describeProblem),
  };
}

const isWarning = ({ path, kind }: Problem) => kind !== "missing" && warned.test(path);

function describe(problems: Problem[]) {
  const code = problems.every(isWarning) ? "ValidationWarning" : "ValidationError";
  return {
    code,
    message: "Some parameters did not pass validation; only the first 10 errors and warnings are shown.",
    details: problems.slice(0, shownDetails).map((problem) => {
      const { path, message, value } = problem;
      const index = eventIndex(path);
      return {
        ...(index === null ? {} : { index }),
        propertyName: path,
        ...(value === undefined ? {} : { attemptedValue: value }),
        errorMessage: `'${path.split(".").at(-1)}' ${message}.`,
        errorCode: errorCode(problem),
        isWarning: isWarning(problem),
      };
    }),
  };
}

function errorCode({ path, kind }: Problem): string {
  if (kind === "missing") return "Empty";
  if (path.endsWith("eventTime")) return "InvalidEventTime";
  if (/\.(?:em|ph)$/.test(path)) return "InvalidSha256";
  if (path.endsWith("Url")) return "InvalidUrl";
  return /(?:eventType|adStorageConsent|pageType)$/.test(path) ? "InvalidEnumValue" : "InvalidValue";
}

function invalid(problems: Problem[]): Answer {
  return { status: 400, body: { error: describe(problems) }, rejected: problems.map(describeProblem) };
}

export function unauthorized(): Answer {
  return {
    status: 401,
    body: { error: { code: "Unauthorized", message: "No access to this resource." } },
    rejected: ["the token is not the one of this tag"],
  };
}
