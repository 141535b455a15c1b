// The fields of an event of Nextdoor's Conversion API, without the deprecated event_time, client_id and pixel_id, and without
// delivery_optimization, which its connectors no longer offer.

import {
  also,
  currency,
  epoch,
  ipAddress,
  isObject,
  list,
  number,
  object,
  problemAt,
  text,
  webUrl,
  wording,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { hashed, maxAheadSeconds, plainId } from "../shared/contactChecks.ts";

const names = [
  ..."purchase lead sign_up add_to_cart initiate_checkout page_view search view_content add_to_wishlist subscribe".split(" "),
  ...Array.from({ length: 10 }, (_, i) => `custom_conversion_${i + 1}`),
];
const sources = "email website app phone_call chat physical_store system_generated other".split(" ");

const customer = object({
  email: hashed("email"),
  // Nextdoor's reference asks for E.164, its own connector for ten digits: uncertain, so the reference.
  phone_number: hashed("plusPhone"),
  first_name: hashed("name"),
  last_name: hashed("name"),
  date_of_birth: hashed("other"),
  street_address: hashed("other"),
  city: hashed("other"),
  state: hashed("code"),
  zip_code: hashed("other"),
  country: hashed("country"),
  gender: hashed("other"),
  external_id: hashed("other"),
  click_id: plainId,
  client_ip_address: ipAddress,
  // One connector hashes it by mistake.
  client_user_agent: plainText,
});

function plainText(value: unknown, path: string): Problem[] {
  const problems = text()(value, path);
  return problems.length === 0 && /^[0-9a-f]{64}$/.test(String(value))
    ? problemAt("value", path, "must not be hashed")
    : problems;
}

/** The currency, directly followed by the number. */
const orderValue: Check = (value, path) => {
  if (typeof value !== "string") return problemAt("type", path, wording.notString, value);
  const parts = /^([A-Z]{3})\d+(?:\.\d+)?$/.exec(value);
  return parts ? currency(parts[1], path) : problemAt("value", path, "is not a value like USD49.90", value);
};

const custom = object({
  order_value: orderValue,
  order_id: text(),
  delivery_category: text({ oneOf: ["in_store", "curbside", "home_delivery"] }),
  product_context: list(
    object({ id: text(), item_price: number({ min: 0 }), quantity: number({ integer: true, min: 1 }) }, { required: ["id"] }),
  ),
});

export const eventShape = (now: number): Check =>
  also(
    object(
      {
        event_name: text({ oneOf: names }),
        event_id: text(),
        // A maximum age is not documented.
        event_time_epoch: epoch("seconds", { now, maxAheadSeconds }),
        action_source: text({ oneOf: sources }),
        action_source_url: webUrl,
        data_source_id: text(),
        partner_id: text(),
        // 1 is the only value that is documented, and the United States the only country.
        restricted_data_usage: number({ integer: true, min: 1, max: 1 }),
        restricted_data_usage_country: number({ integer: true, min: 1, max: 1 }),
        restricted_data_usage_state: number({ integer: true, min: 1000, max: 1099 }),
        test_event: text({ oneOf: ["true", "false"] }),
        customer,
        custom,
      },
      {
        required: ["event_name", "event_id", "event_time_epoch", "action_source", "data_source_id", "customer"],
      },
    ),
    eventProblems,
  );

function eventProblems(event: Record<string, unknown>): Problem[] {
  const order = isObject(event.custom) ? event.custom : {};
  const required = (isMissing: boolean, path: string, message: string) => (isMissing ? problemAt("missing", path, message) : []);
  return [
    ...required(isObject(event.customer) && Object.keys(event.customer).length === 0, "customer", "has no identifier"),
    ...required(
      event.action_source === "website" && event.action_source_url === undefined,
      "action_source_url",
      "is required with website",
    ),
    ...required(
      event.event_name === "purchase" && order.order_value === undefined,
      "custom.order_value",
      "is required with purchase",
    ),
    ...required(
      event.action_source === "physical_store" && order.order_id === undefined,
      "custom.order_id",
      "is required offline",
    ),
  ];
}
