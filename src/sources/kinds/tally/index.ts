import type { Kind } from "../../kind.ts";
import { eventSetting, fixedValueSettings, secretSetting } from "../shared.ts";

export const tally = {
  id: "tally",
  name: "Tally",
  category: "forms",
  about: "Answers of a form.",
  docs: { url: "https://tally.so/help/webhooks", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["tally-signature"],
      form: { is: "plain" },
      algorithm: "sha256",
      encoding: "base64",
      message: ["body"],
      secret: "signing_secret",
      key: "text",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  delivery: "eventId",
  type: "eventType",
  settings: [
    secretSetting("The signing secret of the webhook. Without one the address alone is the secret.", { required: false }),
    eventSetting("lead"),
    ...fixedValueSettings,
  ],
  rules: [
    {
      name: "answers of a form",
      when: 'eventType = "FORM_RESPONSE"',
      gives: "conversion",
      fields: {
        event: "$settings.event",
        email: "data.fields[type=INPUT_EMAIL].value | data.fields[label=email].value",
        phone: "data.fields[type=INPUT_PHONE_NUMBER].value | data.fields[label=phone].value",
        firstName: 'data.fields[label="First name"].value | data.fields[label=first_name].value',
        lastName: 'data.fields[label="Last name"].value | data.fields[label=last_name].value',
        value: "$settings.value number",
        currency: "$settings.currency",
        orderId: "data.submissionId | data.responseId",
        eventTime: "data.createdAt iso | createdAt iso",
        clickIds: ["data.fields"],
      },
    },
  ],
  guide: {
    steps: [
      "Open the form in Tally, then *Integrations*, *Webhooks*, and connect ADDRESS.",
      "Add a signing secret, and enter the same one in the source.",
      "To match ads, add `gclid` and `fbclid` as hidden fields of the form.",
    ],
    retries: ["Tally repeats a failed request after 5 minutes, 30 minutes, 1 hour, 6 hours and 24 hours."],
  },
} as const satisfies Kind;
