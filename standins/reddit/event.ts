// The fields of a v3 conversion event.

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
import { hasOneOf, hashed, notContact, plainId } from "../shared/contactChecks.ts";

const maxAgeSeconds = 7 * 86_400;
const maxAheadSeconds = 5 * 60;
const maxEvents = 1000;

const names = "PAGE_VISIT VIEW_CONTENT SEARCH ADD_TO_CART ADD_TO_WISHLIST PURCHASE LEAD SIGN_UP CUSTOM".split(" ");
const otherSources = ["APP", "PHYSICAL_STORE", "OTHER"];
const withItems = ["PURCHASE", "ADD_TO_CART", "ADD_TO_WISHLIST", "CUSTOM"];
const withMoney = [...withItems, "LEAD", "SIGN_UP"];

const hashedAddress = hashed("other");
const address: Check = (value, path) =>
  /^[0-9a-f]{64}$/.test(String(value)) ? hashedAddress(value, path) : ipAddress(value, path);

const user = object({
  // Reddit would hash a plain email itself. The relay must not send plain data, so only the hash passes here.
  email: hashed("redditEmail"),
  // With +, as another sender does; Reddit's own documentation was not available. Uncertain.
  phone_number: hashed("plusPhone"),
  external_id: notContact,
  ip_address: address,
  user_agent: text(),
  // The part after the first dot of the cookie, not the whole cookie.
  uuid: text({ pattern: /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i }),
  idfa: text(),
  aaid: text(),
  screen_dimensions: object({ width: number({ integer: true }), height: number({ integer: true }) }),
  data_processing_options: object(
    {
      modes: list(text({ oneOf: ["LDU"] }), { min: 1 }),
      country: text({ pattern: /^[A-Z]{2}$/ }),
      region: text(),
    },
    { required: ["modes"] },
  ),
});

const metadata = object({
  // As the pixel sends it: a hash would break the comparison, but cannot be recognised here.
  conversion_id: text(),
  value: number({ min: 0 }),
  currency,
  item_count: number({ integer: true, min: 0 }),
  products: list(
    object({
      id: text(),
      name: text(),
      category: text(),
      item_price: number({ min: 0 }),
      quantity: number({ integer: true, min: 1 }),
    }),
  ),
});

const eventShape = (now: number): Check =>
  also(
    object(
      {
        event_at: epoch("milliseconds", { now, maxAgeSeconds, maxAheadSeconds }),
        action_source: text({ oneOf: ["WEBSITE", ...otherSources] }),
        event_source_url: webUrl,
        type: object({ tracking_type: text({ oneOf: names }), custom_event_name: text() }, { required: ["tracking_type"] }),
        click_id: plainId,
        user,
        metadata,
      },
      { required: ["event_at", "action_source", "type"] },
    ),
    (event, path) => eventProblems(event, path),
  );

function eventProblems(event: Record<string, unknown>, path: string): Problem[] {
  const problems: Problem[] = [];
  const type = isObject(event.type) ? event.type : {};
  const person = isObject(event.user) ? event.user : {};
  const order = isObject(event.metadata) ? event.metadata : {};
  const name = String(type.tracking_type);
  if (event.event_source_url !== undefined && otherSources.includes(String(event.action_source)))
    problems.push(...problemAt("value", `${path}.event_source_url`, "is only allowed with WEBSITE"));
  if (name === "CUSTOM" && type.custom_event_name === undefined)
    problems.push(...problemAt("missing", `${path}.type.custom_event_name`, "is required with CUSTOM"));
  if (name !== "CUSTOM" && type.custom_event_name !== undefined)
    problems.push(...problemAt("value", `${path}.type.custom_event_name`, "is only allowed with CUSTOM"));
  // It is uncertain if these are rejected or ignored for other types.
  if (names.includes(name) && !withMoney.includes(name) && hasOneOf(order, ["value", "currency"]))
    problems.push(...problemAt("value", `${path}.metadata.value`, `is not allowed for ${name}`));
  if (names.includes(name) && !withItems.includes(name) && order.item_count !== undefined)
    problems.push(...problemAt("value", `${path}.metadata.item_count`, `is not allowed for ${name}`));
  // It is uncertain which keys are required; one that can match a person must be there.
  const browser = person.ip_address !== undefined && person.user_agent !== undefined;
  if (
    event.click_id === undefined &&
    !browser &&
    !hasOneOf(person, ["email", "phone_number", "external_id", "uuid", "idfa", "aaid"])
  )
    problems.push(...problemAt("missing", `${path}.user`, "has no match key"));
  return problems;
}

export const requestShape = (now: number): Check =>
  object(
    {
      data: object(
        {
          events: list(eventShape(now), { min: 1, max: maxEvents }),
          test_id: text(),
          partner: text(),
          partner_version: text(),
        },
        { required: ["events"] },
      ),
    },
    { required: ["data"] },
  );
