// The fields of a Conversions API v3 event.

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
} from "../shared/checks.ts";
import { maxAheadSeconds, hasOneOf, hashed, limitedDataFields, limitedDataProblems, plainId } from "../shared/contactChecks.ts";

// 37 days by the documentation; two relays reject earlier (7 and 28 days), so old events are uncertain.
const maxAgeSeconds = 37 * 86_400;
const maxEvents = 2000;

export const unmatchedMessage = "Insufficient PII: em, ph, madid, or address with browser is needed";

/** It is uncertain if other names are accepted; here they are rejected. There is no LEAD in any list. */
const names =
  "PURCHASE SAVE START_CHECKOUT ADD_CART VIEW_CONTENT ADD_BILLING SIGN_UP SEARCH PAGE_VIEW SUBSCRIBE AD_CLICK AD_VIEW " +
  "COMPLETE_TUTORIAL LEVEL_COMPLETE INVITE LOGIN SHARE RESERVE ACHIEVEMENT_UNLOCKED ADD_TO_WISHLIST SPENT_CREDITS " +
  "RATE START_TRIAL LIST_VIEW APP_INSTALL APP_OPEN " +
  "CUSTOM_EVENT_1 CUSTOM_EVENT_2 CUSTOM_EVENT_3 CUSTOM_EVENT_4 CUSTOM_EVENT_5";

const webSources = ["WEB", "website"];
const sources = [...webSources, "MOBILE_APP", "app", "OFFLINE"];

const many = (form: Parameters<typeof hashed>[0]) => list(hashed(form), { min: 1 });

// The field names of v2 (hashed_email, uuid_c1) no longer exist. Rejecting every unknown field is the stricter choice.
const userData = also(
  object({
    em: many("email"),
    ph: many("digitsPhone"),
    fn: many("name"),
    ln: many("name"),
    ge: many("other"),
    db: many("other"),
    ct: many("other"),
    st: many("code"),
    zp: many("other"),
    country: many("country"),
    external_id: many("other"),
    madid: text(),
    subscription_id: text(),
    lead_id: text(),
    client_ip_address: ipAddress,
    client_user_agent: text(),
    sc_click_id: plainId,
    sc_cookie1: plainId,
    idfv: text(),
    partner_id: text(),
  }),
  (value, path) =>
    hasOneOf(value, ["em", "ph", "madid"]) || (value.client_ip_address !== undefined && value.client_user_agent !== undefined)
      ? []
      : problemAt("missing", path, unmatchedMessage),
);

const customData = object(
  {
    value: number({ min: 0 }),
    currency,
    order_id: text(),
    content_ids: list(text()),
    content_category: list(text()),
    content_name: text(),
    contents: list(
      object(
        {
          id: text(),
          quantity: number({ integer: true, min: 1 }),
          item_price: number({ min: 0 }),
          brand: text(),
        },
        { open: true },
      ),
    ),
    num_items: number({ integer: true, min: 0 }),
    search_string: text(),
    sign_up_method: text(),
  },
  { open: true },
);

function eventShape(now: number): Check {
  return also(
    object(
      {
        event_name: text({ oneOf: names.split(" ") }),
        // Milliseconds pass for web events and fail for offline ones; rejected here for both.
        event_time: epoch("seconds", { now, maxAgeSeconds, maxAheadSeconds }),
        event_id: text(),
        event_source_url: webUrl,
        action_source: text({ oneOf: sources }),
        user_data: userData,
        custom_data: customData,
        app_data: object({}, { open: true }),
        integration: text(),
        ...limitedDataFields,
      },
      { required: ["event_name", "event_time", "action_source", "user_data"] },
    ),
    (event, path) => {
      const problems = limitedDataProblems(event, path);
      const custom = isObject(event.custom_data) ? event.custom_data : {};
      if (webSources.includes(String(event.action_source)) && event.event_source_url === undefined)
        problems.push(...problemAt("missing", `${path}.event_source_url`, "is required for web events"));
      if (event.event_name === "PURCHASE")
        for (const name of ["value", "currency"])
          if (custom[name] === undefined)
            problems.push(...problemAt("missing", `${path}.custom_data.${name}`, "is required for PURCHASE"));
      return problems;
    },
  );
}

export const requestShape = (now: number): Check =>
  object(
    {
      data: list(eventShape(now), { min: 1, max: maxEvents }),
      // Its place is uncertain; at the top, as in Meta's API.
      test_event_code: text(),
    },
    { required: ["data"] },
  );
