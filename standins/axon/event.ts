// The fields of an event of Axon's Conversion API, for each kind of website.

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
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { hashed, hasOneOf, maxAheadSeconds, plainId } from "../shared/contactChecks.ts";

/** As AppLovin set up the pixel. */
export type Website = "shop" | "leads" | "restricted";

const maxEvents = 100;
const names =
  "page_view view_item add_to_cart begin_checkout purchase view_cart remove_from_cart add_payment_info generate_lead login sign_up search subscribe app_open".split(
    " ",
  );
const leadNames = ["page_view", "generate_lead"];

/** The data that Axon requires of a shop's events. */
const requiredData: Readonly<Record<string, readonly string[]>> = {
  view_item: ["items"],
  add_to_cart: ["items"],
  begin_checkout: ["currency", "items", "value"],
  purchase: ["currency", "items", "transaction_id", "value"],
};

const identifiers = ["aleid", "axwrt", "alart", "client_id", "user_id", "email", "phone"];
const contact = ["email", "phone"];

const userData = object(
  {
    esi: text({ oneOf: ["web", "app"] }),
    client_ip_address: ipAddress,
    client_user_agent: text(),
    aleid: plainId,
    axwrt: plainId,
    alart: plainId,
    client_id: text(),
    user_id: text({ min: 6 }),
    // Axon would hash plain values itself. The relay must not send any, so only hashes pass here.
    email: hashed("email"),
    phone: hashed("digitsPhone"),
    country_code: text({ pattern: /^[A-Z]{2}$/ }),
    zip: text({ pattern: /^(?!\d{5}-)/ }),
    os: text({ oneOf: ["ios", "android", "desktop_os"] }),
    sid: text(),
    ifa: text(),
    idfv: text(),
  },
  { required: ["esi", "client_ip_address", "client_user_agent"] },
);

const item = object(
  {
    item_id: text(),
    item_name: text(),
    price: number({ min: 0 }),
    quantity: number({ integer: true, min: 1 }),
    item_category_id: number({ integer: true, min: 1 }),
    item_variant_id: text(),
    item_brand: text(),
    image_url: webUrl,
    discount: number({ min: 0 }),
    affiliation: text(),
  },
  { required: ["item_id", "item_name", "price", "quantity"] },
);

const data = object({
  currency,
  value: number({ min: 0 }),
  transaction_id: text(),
  items: list(item, { min: 1 }),
  shipping: number({ min: 0 }),
  tax: number({ min: 0 }),
});

const eventShape = (now: number, website: Website): Check =>
  also(
    object(
      {
        name: text({ oneOf: website === "shop" ? names : leadNames }),
        // How old an event may be is not documented.
        event_time: epoch("milliseconds", { now, maxAheadSeconds }),
        event_source_url: webUrl,
        dedupe_id: text(),
        user_data: userData,
        data: (value, path) => (value === null ? [] : data(value, path)),
      },
      // The partner page requires the dedupe id, the general one does not: the stricter rule.
      { required: ["name", "event_time", "event_source_url", "dedupe_id", "user_data", "data"] },
    ),
    (event, path) => eventProblems(event, path, website),
  );

function eventProblems(event: Record<string, unknown>, path: string, website: Website): Problem[] {
  const problems: Problem[] = [];
  const name = String(event.name);
  const user = isObject(event.user_data) ? event.user_data : {};
  const details = isObject(event.data) ? event.data : {};
  const fault = (kind: Problem["kind"], field: string, message: string) =>
    problems.push(...problemAt(kind, `${path}.${field}`, message));
  if (event.data === null && name !== "page_view") fault("type", "data", "may be null for page_view only");
  if (!hasOneOf(user, identifiers)) fault("missing", "user_data", "has no identifier");
  const required = website === "shop" ? (requiredData[name] ?? []) : name === "generate_lead" ? ["currency", "value"] : [];
  for (const field of required) if (details[field] === undefined) fault("missing", `data.${field}`, `is required with ${name}`);
  if (website !== "shop")
    for (const field of Object.keys(details))
      if (!["currency", "value"].includes(field)) fault("unknown", `data.${field}`, "is not allowed");
  if (Array.isArray(details.items) && typeof details.value === "number" && sumOf(details.items) !== details.value)
    fault("value", "data.value", "is not the sum of price × quantity of the items");
  if (website === "restricted") {
    for (const field of contact)
      if (user[field] !== undefined) fault("unknown", `user_data.${field}`, "is not allowed on restricted sites");
    const url = String(event.event_source_url);
    if (URL.canParse(url) && new URL(url).pathname !== "/") fault("value", "event_source_url", "must be a domain only");
  }
  return problems;
}

/** Rounded to tenths of a cent, because sums of decimals are not exact. */
function sumOf(items: readonly unknown[]): number {
  const sum = items.reduce<number>((total, one) => (isObject(one) ? total + Number(one.price) * Number(one.quantity) : total), 0);
  return Math.round(sum * 1000) / 1000;
}

export const requestShape = (now: number, website: Website): Check =>
  object({ events: list(eventShape(now, website), { min: 1, max: maxEvents }) }, { required: ["events"] });
