// The fields of an event of OpenAI's Conversions API, in the newer form with lists of user fields.

import {
  also,
  currency,
  epoch,
  flag,
  ipAddress,
  isObject,
  list,
  number,
  object,
  problemAt,
  text,
  webUrl,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { hashed, plainId } from "../shared/contactChecks.ts";

const maxAgeSeconds = 7 * 86_400;
const maxAheadSeconds = 10 * 60;
const maxEvents = 1000;

const typesByData: Readonly<Record<string, readonly string[]>> = {
  contents: ["page_viewed", "contents_viewed", "items_added", "checkout_started", "order_created"],
  customer_action: ["lead_created", "registration_completed", "appointment_scheduled", "app_installed", "app_opened"],
  plan_enrollment: ["subscription_created", "trial_started"],
  custom: ["custom"],
};
const types = Object.values(typesByData).flat();
const sources = ["web", "mobile_app", "offline", "physical_store", "phone_call", "email", "other"];

/** Peers send up to three values of each. */
const some = (item: Check) => list(item, { min: 1, max: 3 });
const opaque = text({ max: 2048, pattern: /^\S+$/ });

// The older form with single values (email_sha256, zip_code) is not accepted here, so that the two are never mixed.
const user = object({
  emails_sha256: some(hashed("email")),
  phone_numbers_sha256: some(hashed("digitsPhone")),
  external_ids_sha256: some(hashed("other")),
  first_names_sha256: some(hashed("name")),
  last_names_sha256: some(hashed("name")),
  countries: some(text({ pattern: /^[A-Z]{2}$/ })),
  regions: some(text({ max: 128 })),
  cities: some(text({ max: 128 })),
  postal_codes: some(text({ max: 32 })),
  ip_address: ipAddress,
  user_agent: text(),
  obref: opaque,
  android_advertising_id: text(),
});

/** Whole minor units: 49.9 would be read as 49 cents at best. */
const amount = number({ integer: true, min: 0 });

function moneyProblems(value: Record<string, unknown>, path: string): Problem[] {
  if ((value.amount === undefined) === (value.currency === undefined)) return [];
  const missing = value.amount === undefined ? "amount" : "currency";
  return problemAt("missing", `${path}.${missing}`, "amount and currency must be given together");
}

const content = also(
  object(
    {
      id: text(),
      name: text(),
      content_type: text(),
      quantity: number({ integer: true, min: 1 }),
      amount,
      currency,
    },
    { required: ["content_type"] },
  ),
  moneyProblems,
);

const data = also(
  object(
    {
      type: text({ oneOf: Object.keys(typesByData) }),
      amount,
      currency,
      contents: list(content),
      plan_id: text(),
    },
    { required: ["type"] },
  ),
  moneyProblems,
);

const eventShape = (now: number): Check =>
  also(
    object(
      {
        id: text(),
        type: text({ oneOf: types }),
        custom_event_name: text({ pattern: /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/ }),
        timestamp_ms: epoch("milliseconds", { now, maxAgeSeconds, maxAheadSeconds }),
        action_source: text({ oneOf: sources }),
        source_url: webUrl,
        oppref: (value, path) => [...opaque(value, path), ...plainId(value, path)].slice(0, 1),
        opt_out: flag,
        user,
        data,
      },
      { required: ["id", "type", "timestamp_ms", "data"] },
    ),
    eventProblems,
  );

function eventProblems(event: Record<string, unknown>, path: string): Problem[] {
  const problems: Problem[] = [];
  const type = String(event.type);
  const dataType = isObject(event.data) ? String(event.data.type) : "";
  const name = event.custom_event_name;
  if (types.includes(type) && !typesByData[dataType]?.includes(type))
    problems.push(...problemAt("value", `${path}.data.type`, `does not belong to ${type}`));
  if (type === "custom" && name === undefined)
    problems.push(...problemAt("missing", `${path}.custom_event_name`, "is required with custom"));
  if (type !== "custom" && name !== undefined)
    problems.push(...problemAt("value", `${path}.custom_event_name`, "is only allowed with custom"));
  if (types.includes(String(name).toLowerCase()))
    problems.push(...problemAt("value", `${path}.custom_event_name`, "is the name of a standard event"));
  // The documentation calls the source optional; without one it may be web, which needs a page.
  if ((event.action_source ?? "web") === "web" && event.source_url === undefined)
    problems.push(...problemAt("missing", `${path}.source_url`, "is required with web"));
  if (type.startsWith("app_") && event.action_source !== "mobile_app")
    problems.push(...problemAt("value", `${path}.action_source`, "must be mobile_app"));
  return problems;
}

export const requestShape = (now: number): Check =>
  object(
    {
      validate_only: flag,
      integration_source: text({ pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/ }),
      events: list(eventShape(now), { min: 1, max: maxEvents }),
    },
    { required: ["events"] },
  );
