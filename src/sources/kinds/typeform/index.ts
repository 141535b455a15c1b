import type { Kind } from "../../kind.ts";
import { eventSetting, fixedValueSettings, secretSetting } from "../shared.ts";

export const typeform = {
  id: "typeform",
  name: "Typeform",
  category: "forms",
  about: "Answers of a form.",
  docs: { url: "https://www.typeform.com/developers/webhooks/secure-your-webhooks/", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["typeform-signature"],
      form: { is: "plain", prefixes: ["sha256="] },
      algorithm: "sha256",
      encoding: "base64",
      message: ["body"],
      secret: "signing_secret",
      key: "text",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  delivery: "event_id",
  type: "event_type",
  settings: [
    secretSetting("The secret that you enter at the webhook of the form.", { generated: true }),
    eventSetting("lead"),
    ...fixedValueSettings,
  ],
  rules: [
    {
      name: "answers of a form",
      when: 'event_type = "form_response"',
      gives: "conversion",
      fields: {
        event: "$settings.event",
        email: "form_response.answers[type=email].email | form_response.hidden.email",
        phone: "form_response.answers[type=phone_number].phone_number | form_response.hidden.phone",
        firstName: "form_response.answers[field.ref=first_name].text | form_response.hidden.first_name",
        lastName: "form_response.answers[field.ref=last_name].text | form_response.hidden.last_name",
        value: "form_response.answers[type=payment].payment.amount number | $settings.value number",
        currency: "$settings.currency",
        orderId: "form_response.token",
        eventTime: "form_response.submitted_at iso",
        clickIds: ["form_response.hidden"],
      },
    },
  ],
  guide: {
    steps: [
      "Open the form in Typeform, then *Connect*, *Webhooks*, and *Add a webhook* with the address ADDRESS.",
      "Edit it, and enter the secret of the source. Switch the webhook on.",
      "To match ads, add `gclid` and `fbclid` as hidden fields of the form: the embed code fills them from the page's address.",
    ],
    retries: ["Typeform repeats failed requests for several hours, and switches the webhook off at 404 or 410."],
  },
} as const satisfies Kind;
