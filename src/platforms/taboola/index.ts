// Taboola (Realize) server-to-server conversions: click id, name and revenue. There are no credentials and no contact data.

import type { Platform } from "../platform.ts";
import { verifyNever } from "../shared/verify.ts";
import { readBareResponse } from "../shared/readers.ts";
import { digits } from "../shared/settings.ts";
import { clickIdOf, currencies, events, fields, toRequest } from "./request.ts";

export const taboola = {
  id: "taboola",
  name: "Taboola",
  description: "Reports conversions after clicks on Taboola ads, by server-to-server tracking.",
  docs: {
    url: "https://developers.taboola.com/pixel/docs/bulk-submit-s2s-conversions",
    checked: "2026-11-15",
  },
  guide: {
    credentials: [
      "In Realize, copy the number of the account, or of the network account if the conversions belong to several.",
      "Under Tracking, create a conversion of the type EVENT for each event that should count. Its Event Name (not its Conversion Name) must be exactly the name that is sent: make_purchase for a purchase.",
      "If your definition has another name, choose that name: event.purchase=NAME.",
      "Let Taboola add its click id to your landing pages under its usual name, tblci.",
    ],
    sends: [
      ["click-id", "tblci of the click, unchanged"],
      ["timestamp", "the time of the conversion, in milliseconds"],
      ["name", "the event, under Realize's usual name for it, else its own"],
      ["revenue, currency", `value and currency; Taboola takes ${currencies.join(", ")}`],
      ["orderid", "orderId, otherwise the event id"],
      ["quantity", "how many pieces the items are"],
    ],
    notSent: [
      "Conversions without a click id: Taboola counts no others.",
      "Values in other currencies; the conversion is sent without a value.",
      "Contact data, IP address, user agent, UTM fields and the items themselves: Taboola has no field for them.",
      "Refunds: Taboola cannot revoke a conversion.",
    ],
    limits: [
      "Taboola does not check what it receives here: a conversion with a name that Realize does not have, or with a broken click id, is accepted and never counted.",
      "It is not documented if a repeated order id counts once, and how old a conversion may be.",
    ],
  },
  settings: [
    {
      name: "account_id",
      label: "Account ID",
      help: "The number of the account in Realize.",
      required: true,
      check: digits(1, 20),
    },
  ],
  account: (settings) => settings.account_id ?? "",
  ids: ["tblci"],
  events,
  fields,
  batch: 1000,
  lanes: 8,
  skips: ["no_test_mode", "opted_out", "no_refunds", "no_match_key"],
  matchKeys: { names: "tblci", has: clickIdOf },
  toRequest,
  readResponse: readBareResponse,
  verify: verifyNever("Taboola", "its reports"),
  acceptsEverything: true,
} satisfies Platform;
