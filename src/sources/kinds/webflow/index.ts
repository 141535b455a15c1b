import type { Kind } from "../../kind.ts";
import { eventSetting, fixedValueSettings, secretSetting } from "../shared.ts";

export const webflow = {
  id: "webflow",
  name: "Webflow",
  category: "forms",
  about: "Submitted forms.",
  docs: { url: "https://developers.webflow.com/data/docs/working-with-webhooks", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["x-webflow-signature"],
      form: { is: "plain" },
      algorithm: "sha256",
      encoding: "hex",
      message: ["time", { text: ":" }, "body"],
      time: { headers: ["x-webflow-timestamp"], unit: "milliseconds" },
      secret: "signing_secret",
      key: "text",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  delivery: "payload.id",
  type: "triggerType",
  settings: [
    secretSetting(
      "The secret of a webhook that the API made, or the client secret of an app. Webhooks of the dashboard sign nothing: leave it out.",
      {
        required: false,
      },
    ),
    eventSetting("lead"),
    ...fixedValueSettings,
  ],
  rules: [
    {
      name: "submitted form",
      when: 'triggerType = "form_submission"',
      gives: "conversion",
      fields: {
        event: "$settings.event",
        email: "payload.data.email | payload.data.Email | payload.data email",
        phone: 'payload.data["Phone Number"] | payload.data.Phone | payload.data.phone',
        firstName: 'payload.data["First Name"] | payload.data.Name words(first) | payload.data.name words(first)',
        lastName: 'payload.data["Last Name"] | payload.data.Name words(last) | payload.data.name words(last)',
        value: "$settings.value number",
        currency: "$settings.currency",
        orderId: "payload.id",
        eventTime: "payload.submittedAt iso",
        clickIds: ["payload.data"],
      },
    },
  ],
  guide: {
    steps: [
      "Open *Site settings*, *Apps & integrations*, *Webhooks* in Webflow, and add one for *Form submission* with the address ADDRESS.",
      "To match ads, add hidden fields with the names `gclid` and `fbclid` to the form.",
    ],
    retries: ["Webflow tries three times, ten minutes apart."],
  },
} as const satisfies Kind;
