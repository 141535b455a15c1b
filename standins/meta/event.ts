// The fields of a server event, and the messages with which Meta rejects one.

import {
  also,
  anything,
  currency,
  epoch,
  flag,
  ipAddress,
  isObject,
  list,
  number,
  object,
  oneOrMany,
  problemAt,
  text,
  webUrl,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import type { MetaFault } from "./access.ts";
import {
  maxAheadSeconds,
  hasOneOf,
  hashed,
  limitedDataFields,
  limitedDataProblems,
  notContact,
} from "../shared/contactChecks.ts";

const daySeconds = 86_400;
const maxEvents = 1000;

const unmatchedMessage = "has no customer information, or too broad a combination of it";
const leadMessage = "must be LeadSubmitted for business messaging";

const sources = "website app email phone_call chat physical_store system_generated other business_messaging".split(" ");

const many = (form: Parameters<typeof hashed>[0]) => oneOrMany(hashed(form));
const hashes: Readonly<Record<string, Check>> = {
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
};
const browserText = text();

/** `fb.1.<ms>.<id>`, with the time at which the id was first seen. */
function cookieId(now: number, id: RegExp): Check {
  return (value, path) => {
    const found = typeof value === "string" ? /^fb\.\d\.(\d+)\.(.+)$/s.exec(value) : null;
    if (!found || !id.test(found[2] ?? "")) return problemAt("value", path, "is not like fb.1.<milliseconds>.<id>");
    return epoch("milliseconds", { now, maxAheadSeconds })(Number(found[1]), path);
  };
}

function userData(now: number): Check {
  return also(
    // It is uncertain if an unknown field is rejected or ignored. Rejected here, because an ignored one would be lost.
    object({
      ...hashes,
      // Hashing is only recommended, but an email is personal data in any field.
      external_id: oneOrMany(notContact),
      client_ip_address: ipAddress,
      client_user_agent: browserText,
      // The id is case-sensitive and may have more dots; Meta's parameter builder adds one more part to both.
      fbc: cookieId(now, /^[\w.~-]+$/),
      fbp: cookieId(now, /^\d+(?:\.[\w-]+)?$/),
      subscription_id: text(),
      fb_login_id: text(),
      lead_id: (value, path) =>
        (typeof value === "number" ? number({ integer: true, min: 1 }) : text({ pattern: /^\d+$/ }))(value, path),
      madid: text(),
      anon_id: text(),
      page_id: text(),
      page_scoped_user_id: text(),
      ctwa_clid: text(),
      ig_account_id: text(),
      ig_sid: text(),
    }),
    // It is uncertain which combinations are too broad. One strong key, or IP address with user agent, is required.
    (value, path) =>
      hasOneOf(value, ["em", "ph", "fbc", "fbp", "external_id", "lead_id", "madid", "ctwa_clid"]) ||
      (value.client_ip_address !== undefined && value.client_user_agent !== undefined)
        ? []
        : problemAt("missing", path, unmatchedMessage),
  );
}

const customData = object(
  {
    // Meta would cast a string and warn in its diagnostics; the documented type is a number.
    value: number({ min: 0 }),
    currency,
    order_id: text(),
    content_ids: list(text()),
    content_name: text(),
    content_category: text(),
    content_type: text({ oneOf: ["product", "product_group"] }),
    contents: list(
      object(
        { id: text(), quantity: number({ integer: true, min: 1 }), item_price: number({ min: 0 }) },
        { required: ["id", "quantity"], open: true },
      ),
    ),
    num_items: number({ integer: true, min: 0 }),
    search_string: text(),
    predicted_ltv: number(),
    status: anything,
    // Stages of leads from a CRM.
    event_source: text(),
    lead_event_source: text(),
  },
  // Custom keys are allowed.
  { open: true },
);

function eventShape(now: number): Check {
  const time = (value: unknown, path: string, maxDays: number) =>
    epoch("seconds", { now, maxAgeSeconds: maxDays * daySeconds, maxAheadSeconds })(value, path);
  return also(
    object(
      {
        // The documentation of the pixel limits the names of custom events.
        event_name: text({ max: 50 }),
        event_time: anything,
        event_id: text(),
        event_source_url: webUrl,
        referrer_url: webUrl,
        action_source: text({ oneOf: sources }),
        messaging_channel: text(),
        user_data: userData(now),
        custom_data: customData,
        opt_out: flag,
        // An earlier event that this one belongs to.
        original_event_data: object({
          event_name: text(),
          event_id: text(),
          order_id: text(),
          event_time: epoch("seconds", { now, maxAheadSeconds }),
        }),
        ...limitedDataFields,
      },
      { required: ["event_name", "event_time", "action_source", "user_data"] },
    ),
    (event, path) => {
      const problems = limitedDataProblems(event, path);
      const person = isObject(event.user_data) ? event.user_data : {};
      const custom = isObject(event.custom_data) ? event.custom_data : {};
      if (event.event_time !== undefined)
        problems.push(...time(event.event_time, `${path}.event_time`, event.action_source === "physical_store" ? 62 : 7));
      if (event.action_source === "website") {
        if (event.event_source_url === undefined)
          problems.push(...problemAt("missing", `${path}.event_source_url`, "is required for website events"));
        if (person.client_user_agent === undefined)
          problems.push(...problemAt("missing", `${path}.user_data.client_user_agent`, "is required for website events"));
      }
      if (event.event_name === "Purchase")
        for (const name of ["value", "currency"])
          if (custom[name] === undefined)
            problems.push(...problemAt("missing", `${path}.custom_data.${name}`, "is required for Purchase"));
      // The form of a lead's stage: all three belong together. Any other text is a property of one's own.
      if (custom.event_source === "crm") {
        if (event.action_source !== "system_generated")
          problems.push(...problemAt("value", `${path}.action_source`, "must be system_generated for events of a CRM"));
        if (!custom.lead_event_source)
          problems.push(...problemAt("missing", `${path}.custom_data.lead_event_source`, "is required for events of a CRM"));
      }
      if (event.event_name === "Lead" && event.action_source === "business_messaging")
        problems.push(...problemAt("value", `${path}.event_name`, leadMessage));
      return problems;
    },
  );
}

export function requestShape(now: number): Check {
  return object(
    {
      data: list(eventShape(now), { min: 1, max: maxEvents }),
      test_event_code: text({ pattern: /^TEST\d+$/ }),
      partner_agent: text(),
      access_token: text(),
      upload_tag: text(),
      namespace_id: text(),
      upload_id: text(),
      upload_source: text(),
    },
    { required: ["data"] },
  );
}

/** The first fault of any event fails the whole request. */
export function toMetaFault({ path, kind, message, value }: Problem): MetaFault {
  const common = { message: "Invalid parameter", code: 100, transient: false };
  const userMessage = `${path} ${message}`;
  if (kind === "old") return { ...common, subcode: 2804003, title: "Event Timestamp Too Old", userMessage };
  if (kind === "hash") return { ...common, subcode: 2804016, title: "Unhashed Customer Information", userMessage };
  if (message === leadMessage) return { ...common, subcode: 2804066, title: "Event Not Supported", userMessage };
  if (message === unmatchedMessage) return { ...common, subcode: 2804050, title: "Not Enough Customer Information", userMessage };
  // Wrong types and sizes are rejected before the Conversions API reads the event, without a subcode.
  if (kind === "type" || kind === "size" || kind === "count" || kind === "unknown" || path === "data")
    return {
      message: `(#100) Param ${path} ${message}${typeof value === "string" ? " (string given)" : ""}`,
      code: 100,
    };
  return { ...common, title: "Invalid Event", userMessage };
}

/** Lists the warnings that Meta puts into `messages` for an event that it accepts. */
export function warnings(event: Record<string, unknown>): string[] {
  const custom = isObject(event.custom_data) ? event.custom_data : {};
  const person = isObject(event.user_data) ? event.user_data : {};
  const found: string[] = [];
  if ((custom.value === undefined) !== (custom.currency === undefined)) found.push("value and currency should be sent together");
  if (event.data_processing_options_country === 0 && person.client_ip_address === undefined)
    found.push("client_ip_address is needed to find the place for data_processing_options");
  return found;
}
