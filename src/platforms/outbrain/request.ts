// Translates a conversion to a call of Outbrain's server-to-server tracking: a GET with everything in its query.

import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Platform } from "../platform.ts";
import { eventNameOf } from "../shared/eventNames.ts";
import { amountText, validId } from "../shared/values.ts";

/** Checked 2026-11-15. */
const endpoint = "https://tr.outbrain.com/unifiedPixel";

/** Outbrain has no names of its own: a conversion must have exactly the name of its definition in Amplify. */
export const events: EventNames = { standard: {}, others: "own name" };

export const toRequest: Platform["toRequest"] = (conversions, settings) => ({
  method: "GET",
  url: `${endpoint}?${queryOf(conversions[0] as Conversion, settings)}`,
  headers: {},
  body: "",
});

/** The advertiser chooses the parameter's name in the campaign; without that Outbrain adds dicbo itself. */
export function clickIdOf({ clickIds, consent }: Conversion): string | undefined {
  if (consent === "denied") return undefined;
  return validId(clickIds.ob_click_id?.value) ?? validId(clickIds.dicbo?.value);
}

function queryOf(conversion: Conversion, settings: ConnectionSettings): string {
  const { value, currency, orderId, platformEventId } = conversion;
  const query = {
    ob_click_id: clickIdOf(conversion) ?? "",
    name: eventNameOf(conversion, settings, events) ?? "",
    // Outbrain has one place for an id, and people look up their orders there.
    orderId: orderId ?? platformEventId,
    ...(value === null ? {} : { orderValue: amountText(value, currency), currency }),
  };
  // Percent-encoded, also spaces: a plus sign in a name would be read as one.
  return Object.entries(query)
    .map(([name, text]) => `${name}=${encodeURIComponent(text.toWellFormed())}`)
    .join("&");
}
