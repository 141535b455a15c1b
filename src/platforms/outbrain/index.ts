// Outbrain server-to-server conversions: click id, name and value in a query. There are no credentials and no contact data.

import type { Platform } from "../platform.ts";
import { verifyNever } from "../shared/verify.ts";
import { readBareResponse } from "../shared/readers.ts";
import { clickIdOf, events, toRequest } from "./request.ts";

export const outbrain = {
  id: "outbrain",
  name: "Outbrain",
  description: "Reports conversions after clicks on Outbrain ads, by server-to-server tracking.",
  // No page of the vendor describes the postback; public connectors do. Checked 2026-11-18.
  docs: null,
  guide: {
    credentials: [
      "In Outbrain's dashboard, open Pixels, Conversions, and add an event-based conversion for each event that should count. Its name must be exactly the name that is sent: purchase for a purchase, unless you choose another with event.purchase=NAME.",
      "Add ob_click_id={{ob_click_id}} to the tracking code of your campaigns. Without it, the dicbo that Outbrain adds itself is used.",
      "There is nothing to paste: Outbrain finds the account by the click id.",
    ],
    sends: [
      ["ob_click_id", "ob_click_id of the click, otherwise its dicbo, unchanged"],
      ["name", "the usual name of the event, otherwise its own, or the one that the connection chose"],
      ["orderId", "orderId, otherwise the event id"],
      ["orderValue, currency", "value with the digits of its currency, and the currency"],
    ],
    notSent: [
      "Conversions without a click id: Outbrain counts no others.",
      "The time of the conversion: Outbrain has no field for it and counts a conversion when it arrives. So a backfill sends it none.",
      "Contact data, IP address, user agent, UTM fields and items: Outbrain has no field for them.",
      "Refunds: Outbrain cannot revoke a conversion.",
    ],
    limits: [
      "Outbrain trades as Teads since 2025. No public page of the vendor describes this postback: it is known from other connectors that use it. The Conversions API of Teads is another one, and is not used.",
      "Outbrain's answer says only that the call arrived: a conversion with a name that it does not know is accepted and never counted.",
      "It is not documented if a repeated order id counts once, and how old a click may be.",
    ],
  },
  settings: [],
  // The click id names the account, so a site needs one connection.
  account: () => "outbrain",
  ids: ["ob_click_id", "dicbo"],
  events,
  countsOnArrival: true,
  batch: 1,
  lanes: 16,
  skips: ["no_test_mode", "opted_out", "no_refunds", "no_match_key"],
  matchKeys: { names: "ob_click_id or dicbo", has: clickIdOf },
  toRequest,
  readResponse: readBareResponse,
  verify: verifyNever("Outbrain", "its reports"),
  acceptsEverything: true,
} satisfies Platform;
