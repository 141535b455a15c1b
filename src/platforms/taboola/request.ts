// Translates conversions to actions of Taboola's server-to-server tracking. The bulk endpoint is used, because the postback
// URL has no field for the time: a conversion that a CRM reports days later would count as of today.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { piecesOf } from "../shared/items.ts";
import { applyMapping, numberField } from "../shared/mapping.ts";
import { amountOf, type Body, validId } from "../shared/values.ts";

/** Checked 2026-11-15. */
const origin = "https://trc.taboola.com";

export const currencies = "AUD BRL CAD CNY EUR GBP HKD ILS INR JPY KRW MXN NZD RUB SGD THB TRY USD ZAR".split(" ");

/** The event names that Realize suggests for its categories. A conversion must have exactly the name of its definition. */
export const events: EventNames = {
  standard: {
    purchase: "make_purchase",
    closed_won: "make_purchase",
    lead: "lead",
    contact: "lead",
    signup: "complete_registration",
    add_to_cart: "add_to_cart",
    add_to_wishlist: "add_to_wishlist",
    begin_checkout: "start_checkout",
    add_payment_info: "add_payment_info",
    search: "search",
    view_item: "view_content",
  },
  others: "own name",
};

export const fields: readonly Field[] = [
  numberField("quantity", "How many items were bought: a whole number above zero.", (value) =>
    Number.isSafeInteger(value) && Number(value) > 0 ? value : undefined,
  ),
];

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${origin}/${encodeURIComponent(settings.account_id ?? "")}/log/3/bulk-s2s-action`,
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ actions: conversions.map((conversion) => toAction(conversion, settings, now)) }),
});

export function clickIdOf({ clickIds, consent }: Conversion): string | undefined {
  return consent === "denied" ? undefined : validId(clickIds.tblci?.value);
}

function toAction(conversion: Conversion, settings: ConnectionSettings, now: number): Body {
  const { value, currency, orderId, platformEventId, items } = conversion;
  const hasRevenue = value !== null && currencies.includes(currency);
  const action: Body = {
    "click-id": clickIdOf(conversion),
    timestamp: Math.floor(Math.min(conversion.time, now)),
    name: eventNameOf(conversion, settings, events) ?? undefined,
    revenue: hasRevenue ? amountOf(value, currency) : undefined,
    currency: hasRevenue ? currency : undefined,
    // Taboola has one place for an id, and people look up their orders there.
    orderid: orderId ?? platformEventId,
  };
  if (items) action.quantity = piecesOf(items);
  applyMapping(action, conversion, settings, { fields });
  return action;
}
