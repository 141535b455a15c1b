// The fields of an events:ingest request. The schema is closed: an unknown field fails the whole request.

import {
  also,
  currency,
  eventIndex,
  flag,
  hash,
  ipAddress,
  isoTime,
  list,
  number,
  object,
  problemAt,
  text,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import type { FieldViolation } from "./access.ts";

/** The rules of one Google product that takes events. */
export type ProductRules = {
  account: Check;
  maxAgeSeconds: number;
};

const maxEvents = 2000;

const consentValue = text({ oneOf: ["CONSENT_GRANTED", "CONSENT_DENIED", "CONSENT_STATUS_UNSPECIFIED"] });
const consent = object({ adUserData: consentValue, adPersonalization: consentValue });

export const accountShape = (type: string, idPattern: RegExp): Check =>
  object(
    { accountType: text({ oneOf: [type] }), accountId: text({ pattern: idPattern }) },
    { required: ["accountType", "accountId"] },
  );

/** The API's reference says "encoded" only; Google's snippet for forms writes JSON in base64url. */
const sessionAttributes: Check = (value, path) => {
  if (typeof value !== "string") return problemAt("type", path, "must be a string", value);
  try {
    const read: unknown = JSON.parse(Buffer.from(value, "base64url").toString());
    const fields = object({
      gad_source: text(),
      gad_campaignid: text(),
      session_start_time_usec: text({ pattern: /^\d{16}$/ }),
      landing_page_url: text({ pattern: /^https?:/ }),
      landing_page_referrer: text(),
      landing_page_user_agent: text(),
    });
    return /^[\w-]+$/.test(value) ? fields(read, path) : problemAt("value", path, "is not base64url", value);
  } catch {
    return problemAt("value", path, "cannot be decoded", value);
  }
};

const device = object({ userAgent: text(), ipAddress });
const base64Hash = text({ pattern: /^[A-Za-z0-9+/]{43}=$/ });

function eventShape(now: number, encoding: unknown, maxAgeSeconds: number): Check {
  const hashed = encoding === "BASE64" ? base64Hash : hash;
  const identifier = also(
    object({
      emailAddress: hashed,
      phoneNumber: hashed,
      address: object(
        {
          givenName: hashed,
          familyName: hashed,
          regionCode: text({ pattern: /^[A-Z]{2}$/ }),
          postalCode: text(),
        },
        { required: ["givenName", "familyName", "regionCode", "postalCode"] },
      ),
    }),
    (value, path) => (Object.keys(value).length === 1 ? [] : problemAt("value", path, "must hold exactly one identifier")),
  );
  const time = isoTime({ now, maxAgeSeconds, maxAheadSeconds: 0 });
  return object(
    {
      destinationReferences: list(text()),
      transactionId: text({ max: 512 }),
      eventTimestamp: time,
      lastUpdatedTimestamp: time,
      userData: object({ userIdentifiers: list(identifier, { min: 1, max: 10 }) }, { required: ["userIdentifiers"] }),
      consent,
      adIdentifiers: object({
        sessionAttributes,
        gclid: text(),
        gbraid: text(),
        wbraid: text(),
        dclid: text(),
        impressionId: text(),
        matchId: text(),
        mobileDeviceId: text(),
        landingPageDeviceInfo: device,
      }),
      currency,
      // Proto JSON would also read a number from a string. The documented type is a number, so only that passes.
      conversionValue: number({ min: 0 }),
      eventSource: text({ oneOf: ["WEB", "APP", "IN_STORE", "PHONE", "MESSAGE", "OTHER"] }),
      eventDeviceInfo: device,
      cartData: object({
        merchantId: text(),
        merchantFeedLabel: text(),
        merchantFeedLanguageCode: text(),
        transactionDiscount: number({ min: 0 }),
        items: list(
          object(
            {
              merchantProductId: text(),
              quantity: number({ integer: true, min: 1 }),
              unitPrice: number({ min: 0 }),
            },
            { required: ["merchantProductId", "quantity", "unitPrice"] },
          ),
        ),
      }),
      customVariables: list(object({ variable: text(), value: text({ min: 0 }), destinationReferences: list(text()) })),
      userProperties: object({ customerType: text({ oneOf: ["NEW", "RETURNING", "REENGAGED"] }) }),
    },
    // The release notes require the source for offline events although the schema does not: the stricter rule is used.
    // The same for the transaction id, without which nothing can be deduplicated.
    { required: ["eventTimestamp", "transactionId", "eventSource"] },
  );
}

export function requestShape(now: number, encoding: unknown, { account, maxAgeSeconds }: ProductRules): Check {
  return object(
    {
      destinations: list(
        object(
          {
            reference: text(),
            operatingAccount: account,
            loginAccount: account,
            productDestinationId: text(),
          },
          { required: ["operatingAccount", "productDestinationId"] },
        ),
        { min: 1, max: 10 },
      ),
      events: list(eventShape(now, encoding, maxAgeSeconds), { min: 1, max: maxEvents }),
      encoding: text({ oneOf: ["HEX", "BASE64"] }),
      consent,
      validateOnly: flag,
    },
    { required: ["destinations", "events"] },
  );
}

/** Writes the field in snake case and below the request's own field, as Google does: `events.events[0].user_data…`. */
export function toViolation({ path, kind, message, value }: Problem): FieldViolation {
  const snake = path.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const reason = {
    missing: "REQUIRED_FIELD_MISSING",
    unknown: "INVALID_ARGUMENT",
    type: "INVALID_FORMAT",
    value: /currency$/i.test(path) ? "INVALID_CURRENCY_CODE" : "INVALID_FORMAT",
    hash: /^[0-9a-f]*$/i.test(String(value)) ? "INVALID_SHA256_FORMAT" : "INVALID_HEX_ENCODING",
    unit: "EVENT_TIME_INVALID",
    old: "EVENT_TIME_INVALID",
    future: "EVENT_TIME_INVALID",
    size: "INVALID_FORMAT",
    count: countReason(path),
  }[kind];
  const listName = /^(events|destinations)\b/.exec(snake)?.[1];
  const field = listName && eventIndex(path) !== null ? `${listName}.${snake}` : snake;
  return { field, description: message, reason };
}

function countReason(path: string): string {
  if (path === "events") return "TOO_MANY_EVENTS";
  if (path === "destinations") return "TOO_MANY_DESTINATIONS";
  return path.endsWith("userIdentifiers") ? "TOO_MANY_USER_IDENTIFIERS" : "INVALID_FORMAT";
}
