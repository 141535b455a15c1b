// The fields of an Events API 2.0 request.

import {
  also,
  currency,
  epoch,
  flag,
  ipAddress,
  list,
  number,
  object,
  oneOrMany,
  problemAt,
  text,
  webUrl,
  wording,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { maxAheadSeconds, hashed, plainId } from "../shared/contactChecks.ts";

const daySeconds = 86_400;
const maxEvents = 1000;

/** Names that TikTok reserves; the help pages list more, so this list is not complete. */
const reserved = "AddBilling Browse Checkout ClickForm Consult Registration StartCheckout".split(" ");

const eventName: Check = (value, path) => {
  const problems = text({ max: 50 })(value, path);
  return problems.length === 0 && reserved.includes(String(value)) ? problemAt("value", path, "is a reserved word") : problems;
};

/** Never hashed, unlike the postal code. */
const plainPlace = text({ pattern: /^(?![0-9a-f]{64}$)[\p{Ll}\p{Lo}\p{N}]+$/u });
const many = (form: Parameters<typeof hashed>[0]) => oneOrMany(hashed(form));

const user = also(
  // It is uncertain if an unknown field is rejected or ignored. Rejected here, because an ignored one would be lost.
  object({
    email: many("email"),
    phone: many("plusPhone"),
    external_id: many("other"),
    first_name: hashed("name"),
    last_name: hashed("name"),
    zip_code: hashed("other"),
    city: plainPlace,
    state: plainPlace,
    country: plainPlace,
    ip: ipAddress,
    user_agent: text(),
    ttclid: plainId,
    ttp: plainId,
    lead_id: text(),
    idfa: text(),
    idfv: text(),
    gaid: text(),
    locale: text(),
  }),
  // Uncertain: one public source saw an empty user accepted and never matched. Such an event is useless.
  (value, path) => (Object.keys(value).length > 0 ? [] : problemAt("missing", path, "has no match key")),
);

const propertyFields = object(
  {
    value: number({ min: 0 }),
    currency,
    order_id: text(),
    content_type: text({ oneOf: ["product", "product_group"] }),
    content_ids: list(text()),
    contents: list(
      object(
        {
          content_id: text(),
          content_name: text(),
          content_category: text(),
          price: number({ min: 0 }),
          quantity: number({ integer: true, min: 1 }),
          brand: text(),
        },
        { open: true },
      ),
    ),
    num_items: number({ integer: true, min: 0 }),
    query: text(),
    description: text(),
    status: text(),
    shop_id: text(),
  },
  { open: true },
);

const properties = also(propertyFields, (value, path) =>
  value.value !== undefined && value.currency === undefined
    ? problemAt("missing", `${path}.currency`, "is required with value")
    : [],
);

function eventShape(now: number, source: unknown): Check {
  // Uncertain for the web: no limit is documented, seven days are a safe choice. 28 days for offline events is
  // what a partner documents.
  const maxDays = source === "offline" || source === "crm" ? 28 : 7;
  return object(
    {
      event: eventName,
      event_time: epoch("seconds", {
        now,
        maxAgeSeconds: maxDays * daySeconds,
        maxAheadSeconds,
      }),
      event_id: text(),
      user,
      properties,
      page: object({ url: webUrl, referrer: webUrl }),
      ad: object({ callback: text(), campaign_id: text(), creative_id: text(), ad_id: text() }),
      app: object({}, { open: true }),
      lead: object({ lead_id: text(), lead_event_source: text() }),
      limited_data_use: flag,
    },
    { required: ["event", "event_time", "user"] },
  );
}

export function requestShape(now: number, source: unknown): Check {
  return object(
    {
      event_source: text({ oneOf: ["web", "app", "offline", "crm"] }),
      event_source_id: text(),
      data: list(eventShape(now, source), { min: 1, max: maxEvents }),
      test_event_code: text(),
      partner_name: text(),
    },
    { required: ["event_source", "event_source_id", "data"] },
  );
}

/** `data.0.event_id: Not a valid string.` */
export function toTikTokMessage({ path, kind, message }: Problem): string {
  const field = path.replace(/\[(\d+)\]/g, ".$1");
  if (message === wording.required) return `${field}: Missing data for required field.`;
  if (message === wording.notString) return `${field}: Not a valid string.`;
  if (message === wording.notNumber) return `${field}: Not a valid number.`;
  if (kind === "unknown") return `${field}: Unknown field.`;
  return `${field}: ${message}.`;
}
