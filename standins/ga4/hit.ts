// The fields of a hit. The real collector silently drops a hit that breaks these rules.

import {
  also,
  currency,
  epoch,
  hash,
  ipAddress,
  isObject,
  list,
  number,
  object,
  oneOrMany,
  problemAt,
  text,
  type Check,
  type Problem,
} from "../shared/checks.ts";

const maxAgeSeconds = 72 * 3600;
/** Not documented; other senders reject more, and a clock further ahead is wrong anyway. */
const maxAheadSeconds = 15 * 60;

const reservedNames = new Set(
  (
    "ad_activeview ad_click ad_exposure ad_query ad_reward adunit_exposure app_clear_data app_exception app_install " +
    "app_remove app_store_refund app_update app_upgrade dynamic_link_app_open dynamic_link_app_update " +
    "dynamic_link_first_open error firebase_campaign first_open first_visit in_app_purchase notification_dismiss " +
    "notification_foreground notification_open notification_receive os_update session_start user_engagement"
  ).split(" "),
);
const reservedMessage = "is a reserved name";
const reservedPrefix = /^(?:_|firebase_|ga_|google_|gtag\.)/;
const longValues: Record<string, number> = { page_title: 300, page_referrer: 420, page_location: 1000 };

function nameProblems(name: unknown, path: string, max: number): Problem[] {
  const checked = text({ max, pattern: /^[A-Za-z]\w*$/ })(name, path);
  const reserved = typeof name === "string" && (reservedPrefix.test(name) || reservedNames.has(name));
  return reserved ? problemAt("unknown", path, reservedMessage) : checked;
}

/** Text or number. Null, lists and objects drop the event; true and false are uncertain, so they do too. */
const paramValue =
  (name: string): Check =>
  (value, path) => {
    if (typeof value === "number") return number()(value, path);
    return text({ min: 0, max: longValues[name] ?? 100 })(value, path);
  };

const item: Check = also(
  object(
    {
      item_id: text({ max: 100 }),
      item_name: text({ max: 100 }),
      item_category: text({ max: 100 }),
      item_brand: text({ max: 100 }),
      price: number(),
      quantity: number({ integer: true }),
    },
    { open: true },
  ),
  (value, path) =>
    value.item_id === undefined && value.item_name === undefined ? problemAt("missing", path, "needs item_id or item_name") : [],
);

function paramProblems(params: unknown, path: string): Problem[] {
  if (params === undefined) return [];
  if (!isObject(params)) return problemAt("type", path, "must be an object");
  const typed: Record<string, Check> = {
    items: list(item, { max: 200 }),
    value: number(),
    tax: number(),
    shipping: number(),
    currency,
    engagement_time_msec: number({ integer: true, min: 0 }),
  };
  const names = Object.keys(params);
  return [
    ...(names.length > 25 ? problemAt("count", path, "must not have more than 25 parameters") : []),
    ...names.flatMap((name) => {
      const at = `${path}.${name}`;
      return [...nameProblems(name, at, 40), ...(typed[name] ?? paramValue(name))(params[name], at)];
    }),
    ...(params.value !== undefined && params.currency === undefined
      ? problemAt("missing", `${path}.currency`, "is required with value")
      : []),
  ];
}

/** Google documents items for these. On other events they are a list like any other, which drops the event. */
const withItems = `add_payment_info add_shipping_info add_to_cart add_to_wishlist begin_checkout purchase refund remove_from_cart
   select_item select_promotion view_cart view_item view_item_list view_promotion`.split(/\s+/);

const event: Check = also(object({ name: () => [], params: () => [] }, { required: ["name"] }), ({ name, params }, path) => [
  ...(name === undefined ? [] : nameProblems(name, `${path}.name`, 40)),
  ...paramProblems(params, `${path}.params`),
  ...(name === "purchase" && (!isObject(params) || params.transaction_id === undefined)
    ? problemAt("missing", `${path}.params.transaction_id`, "is required for a purchase")
    : []),
  ...(isObject(params) && params.items !== undefined && !withItems.includes(String(name))
    ? problemAt("type", `${path}.params.items`, "must not be a list")
    : []),
]);

const consentValue = text({ oneOf: ["GRANTED", "DENIED"] });
const plain = text({ max: 100 });

function shape(now: number): Check {
  return object(
    {
      client_id: text(),
      app_instance_id: text({ pattern: /^[0-9a-f]{32}$/i }),
      user_id: text({ max: 256 }),
      timestamp_micros: epoch("microseconds", { now, maxAgeSeconds, maxAheadSeconds }),
      user_properties: object({}, { open: true }),
      consent: object({ ad_user_data: consentValue, ad_personalization: consentValue }),
      user_data: object({
        sha256_email_address: oneOrMany(hash),
        sha256_phone_number: oneOrMany(hash),
        address: oneOrMany(
          object({
            sha256_first_name: hash,
            sha256_last_name: hash,
            sha256_street: hash,
            city: plain,
            region: plain,
            postal_code: plain,
            country: text({ pattern: /^[A-Za-z]{2}$/ }),
          }),
        ),
      }),
      ip_override: ipAddress,
      user_location: object({}, { open: true }),
      device: object({}, { open: true }),
      validation_behavior: text({ oneOf: ["RELAXED", "ENFORCE_RECOMMENDATIONS"] }),
      non_personalized_ads: () => [],
      events: list(event, { min: 1, max: 25 }),
    },
    { required: ["events"] },
  );
}

/** The recommendations are always enforced, because the collector would not report a fault. */
export function hitProblems(value: unknown, { now, app }: { now: number; app: boolean }): Problem[] {
  const owner = app ? "app_instance_id" : "client_id";
  return also(shape(now), (hit) => [
    ...(hit[owner] === undefined ? problemAt("missing", owner, "is required") : []),
    ...userPropertyProblems(hit.user_properties),
  ])(value, "");
}

function userPropertyProblems(properties: unknown): Problem[] {
  if (!isObject(properties)) return [];
  const path = "user_properties";
  return [
    ...(Object.keys(properties).length > 25 ? problemAt("count", path, "must not have more than 25 entries") : []),
    ...Object.entries(properties).flatMap(([name, property]) => [
      ...nameProblems(name, `${path}.${name}`, 24),
      ...object({ value: (one, at) => (typeof one === "number" ? [] : text({ min: 0, max: 36 })(one, at)) })(
        property,
        `${path}.${name}`,
      ),
    ]),
  ];
}

export function validationMessages(problems: Problem[]) {
  return problems.map(({ path, kind, message }) => ({
    fieldPath: path,
    description: `${path || "The body"} ${message}.`,
    validationCode: code(kind, message, path),
  }));
}

function code(kind: Problem["kind"], message: string, path: string): string {
  if (message === reservedMessage) return "NAME_RESERVED";
  if (kind === "missing") return "VALUE_REQUIRED";
  if (kind === "count") return "EXCEEDED_MAX_ENTITIES";
  if (kind === "size" || kind === "old" || kind === "future") return "VALUE_OUT_OF_BOUNDS";
  return path.endsWith(".name") ? "NAME_INVALID" : "VALUE_INVALID";
}
