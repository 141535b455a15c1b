// The fields of an event of Spotify's Conversions API.

import {
  also,
  currency,
  flag,
  ipAddress,
  isObject,
  isoTime,
  list,
  number,
  object,
  problemAt,
  text,
  webUrl,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { hashed, hasOneOf } from "../shared/contactChecks.ts";

/** Not documented: a cautious number. */
const maxEvents = 1000;
const names = [
  ..."VIEW PRODUCT LEAD ADD_TO_CART CHECK_OUT PURCHASE SIGN_UP ALIAS".split(" "),
  ...[1, 2, 3, 4, 5].map((slot) => `CUSTOM_EVENT_${slot}`),
];
const identifiers = ["ip_address", "device_id", "hashed_emails", "hashed_phone_number"];

const userData = object({
  ip_address: ipAddress,
  // Spotify's own guide is inconsistent about hashing; its example is a raw id.
  device_id: text({ pattern: /^(?![0-9a-f]{64}$)\S+$/ }),
  hashed_emails: list(hashed("email"), { min: 1 }),
  // It is not documented if the plus sign is hashed: both forms are accepted.
  hashed_phone_number: hashed("other"),
});

const eventDetails = object({
  currency,
  amount: number({ min: 0 }),
  content_name: text(),
  // The numbers of Google's product taxonomy.
  content_category: text({ pattern: /^\d{1,7}$/ }),
});

const eventShape = (now: number): Check =>
  also(
    object(
      {
        event_name: text({ oneOf: names }),
        event_id: text(),
        // "Must be in the past"; a maximum age is not documented.
        event_time: isoTime({ now, maxAheadSeconds: 0 }),
        user_data: userData,
        event_details: eventDetails,
        event_source_url: webUrl,
        action_source: text({ oneOf: ["WEB", "APP", "OFFLINE"] }),
        opt_out_targeting: flag,
      },
      { required: ["event_name", "event_id", "event_time", "user_data"] },
    ),
    eventProblems,
  );

function eventProblems(event: Record<string, unknown>, path: string): Problem[] {
  const details = isObject(event.event_details) ? event.event_details : {};
  const problems: Problem[] = [];
  if (isObject(event.user_data) && !hasOneOf(event.user_data, identifiers))
    problems.push(...problemAt("missing", `${path}.user_data`, "has no identifier"));
  if (event.event_name === "PURCHASE")
    for (const field of ["amount", "currency"])
      if (details[field] === undefined)
        problems.push(...problemAt("missing", `${path}.event_details.${field}`, "is required with PURCHASE"));
  return problems;
}

export const requestShape = (now: number): Check =>
  object(
    {
      conversion_events: object(
        { capi_connection_id: text(), events: list(eventShape(now), { min: 1, max: maxEvents }) },
        { required: ["capi_connection_id", "events"] },
      ),
    },
    { required: ["conversion_events"] },
  );
