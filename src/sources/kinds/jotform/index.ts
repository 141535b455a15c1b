import type { Kind } from "../../kind.ts";
import { eventSetting, fixedValueSettings } from "../shared.ts";

export const jotform = {
  id: "jotform",
  name: "Jotform",
  category: "forms",
  about: "Answers of a form.",
  docs: { url: "https://www.jotform.com/help/245-how-to-setup-a-webhook-with-jotform/", checked: "2026-11-17" },
  verification: [{ by: "address" }],
  bodies: ["multipart", "form"],
  jsonFields: ["rawRequest"],
  busyStatus: 503,
  delivery: "submissionID",
  type: '"submission"',
  settings: [eventSetting("lead"), ...fixedValueSettings],
  rules: [
    {
      name: "answers of a form",
      when: "submissionID exists and rawRequest exists",
      gives: "conversion",
      fields: {
        event: "$settings.event",
        // The names of the questions are the customer's, so that the first address among the answers is taken.
        email: "rawRequest email",
        phone: "rawRequest.q3_phoneNumber.full | rawRequest.q4_phoneNumber.full | rawRequest.q5_phoneNumber.full",
        firstName: "rawRequest.q3_name.first | rawRequest.q2_name.first | rawRequest.q1_name.first",
        lastName: "rawRequest.q3_name.last | rawRequest.q2_name.last | rawRequest.q1_name.last",
        value: "$settings.value number",
        currency: "$settings.currency",
        orderId: "submissionID",
        clickIds: ["rawRequest"],
      },
    },
  ],
  guide: {
    steps: [
      "Open the form in Jotform, then *Settings*, *Integrations*, *WebHooks*, and add ADDRESS.",
      "To match ads, add hidden fields with the names `gclid` and `fbclid`.",
    ],
    retries: ["Jotform signs nothing: keep the address secret. It is not known whether Jotform repeats failed requests."],
  },
} as const satisfies Kind;
