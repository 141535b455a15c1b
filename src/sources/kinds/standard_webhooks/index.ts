import { mappingSettings } from "../../customRules.ts";
import type { Kind } from "../../kind.ts";
import { secretSetting } from "../shared.ts";

export const standardWebhooks = {
  id: "standard_webhooks",
  name: "Standard Webhooks",
  category: "others",
  about: "Any sender that signs as Standard Webhooks or Svix do; you map the fields.",
  docs: { url: "https://www.standardwebhooks.com/", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["webhook-signature", "svix-signature"],
      form: { is: "versions", version: "v1" },
      algorithm: "sha256",
      encoding: "base64",
      message: ["id", { text: "." }, "time", { text: "." }, "body"],
      time: { headers: ["webhook-timestamp", "svix-timestamp"], unit: "seconds" },
      idHeaders: ["webhook-id", "svix-id"],
      secret: "signing_secret",
      key: "whsec",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  isMapped: true,
  delivery: "$headers.webhook-id | $headers.svix-id",
  type: "type",
  settings: [secretSetting("The secret of the endpoint at the sender, `whsec_…`."), ...mappingSettings],
  rules: [],
  guide: {
    steps: [
      "Add a webhook endpoint at the sender, with the address ADDRESS.",
      "Copy its signing secret, `whsec_…`, into the source.",
      "Send a test request, and choose the fields from it.",
    ],
    retries: ["Most senders of this scheme repeat failed requests for a day or longer."],
  },
} as const satisfies Kind;
