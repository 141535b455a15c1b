// The fields of a conversion event. The schema is closed: one unknown field rejects the whole request. Faults that the
// schema cannot express (hashes, times, match keys) fail one event and leave the others.

import {
  amountText,
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
import { maxAheadSeconds, hasOneOf, hashed, plainId } from "../shared/contactChecks.ts";

// Uncertain: no limit is documented, seven days are a safe choice.
const maxAgeSeconds = 7 * 86_400;
const maxEvents = 1000;

const names =
  "add_payment_info add_to_cart add_to_wishlist app_install app_open checkout contact custom customize_product " +
  "find_location initiate_checkout lead page_visit schedule search signup start_trial submit_application subscribe " +
  "view_category view_content watch_video";

/** Always a list, also of one value. */
const many = (form: Parameters<typeof hashed>[0]) => list(hashed(form), { min: 1 });

const userData = object({
  em: many("email"),
  ph: many("digitsPhone"),
  fn: many("name"),
  ln: many("name"),
  ct: many("other"),
  st: many("code"),
  zp: many("other"),
  country: many("country"),
  db: many("other"),
  ge: many("other"),
  external_id: many("other"),
  hashed_maids: many("other"),
  click_id: plainId,
  partner_id: text(),
  client_ip_address: ipAddress,
  client_user_agent: text(),
});

const customData = object({
  currency,
  // It is uncertain if a number is accepted instead of the documented string, so only the string passes.
  value: amountText(),
  content_ids: list(text()),
  content_name: text(),
  content_category: text(),
  content_brand: text(),
  contents: list(
    object({
      id: text(),
      item_price: amountText(),
      quantity: number({ integer: true, min: 0 }),
      item_name: text(),
      item_category: text(),
      item_brand: text(),
    }),
  ),
  num_items: number({ integer: true, min: 0 }),
  order_id: text(),
  search_string: text(),
  opt_out_type: text({ oneOf: ["LDP"] }),
  np: text(),
});

const eventShape = (now: number): Check =>
  object(
    {
      event_name: text({ oneOf: names.split(" ") }),
      action_source: text({ oneOf: ["web", "app_android", "app_ios", "offline"] }),
      event_time: epoch("seconds", { now, maxAgeSeconds, maxAheadSeconds }),
      event_id: text(),
      event_source_url: webUrl,
      opt_out: flag,
      partner_name: text(),
      user_data: userData,
      custom_data: customData,
      app_id: text(),
      app_name: text(),
      app_version: text(),
      device_brand: text(),
      device_carrier: text(),
      device_model: text(),
      device_type: text(),
      os_version: text(),
      wifi: flag,
      language: text(),
    },
    { required: ["event_name", "action_source", "event_time", "event_id", "user_data"] },
  );

export const requestShape = (now: number): Check =>
  object({ data: list(eventShape(now), { min: 1, max: maxEvents }) }, { required: ["data"] });

/** True for a fault in the schema, which rejects the whole request. */
export const isSchemaProblem = ({ kind, path }: Problem): boolean =>
  kind === "unknown" || kind === "type" || kind === "missing" || path === "data" || !path.startsWith("data[");

/** A phone or a click id alone is not enough. */
export function matchProblems(event: Record<string, unknown>, path: string): Problem[] {
  const person = isObject(event.user_data) ? event.user_data : {};
  const browser = person.client_ip_address !== undefined && person.client_user_agent !== undefined;
  return hasOneOf(person, ["em", "hashed_maids"]) || browser
    ? []
    : problemAt("missing", `${path}.user_data`, "needs em, hashed_maids, or client_ip_address with client_user_agent");
}
