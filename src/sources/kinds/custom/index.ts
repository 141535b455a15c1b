import { mappingSettings } from "../../customRules.ts";
import type { Kind } from "../../kind.ts";

const byHash = (is: string, encoding: "hex" | "base64") =>
  ({
    onlyWhen: { setting: "verification", is: [is] },
    by: "hmac",
    headers: { setting: "signature_header" },
    // Many senders write the name of the algorithm first.
    form: { is: "plain", prefixes: ["sha256=", ""] },
    algorithm: "sha256",
    encoding,
    message: ["body"],
    secret: "signing_secret",
    key: "text",
  }) as const;

export const custom = {
  id: "custom",
  name: "Custom",
  category: "others",
  about: "Any sender of JSON or forms; you say how it signs, and map the fields.",
  docs: { url: "", checked: "" },
  verification: [
    { onlyWhen: { setting: "verification", is: ["address"] }, by: "address" },
    byHash("hmac hex", "hex"),
    byHash("hmac base64", "base64"),
    { onlyWhen: { setting: "verification", is: ["header"] }, by: "header", name: "signature_header", secret: "signing_secret" },
  ],
  bodies: ["json", "form", "multipart"],
  busyStatus: 503,
  isMapped: true,
  settings: [
    {
      name: "verification",
      label: "Verification",
      help: "How a request proves its sender. `address`: by the secret address alone. `hmac hex` and `hmac base64`: a header holds the HMAC-SHA256 of the body. `header`: a header holds the secret itself.",
      default: "address",
      choices: ["address", "hmac hex", "hmac base64", "header"],
    },
    { name: "signature_header", label: "Header", help: "The header with the signature or the secret.", default: "x-signature" },
    {
      name: "signing_secret",
      label: "Secret",
      help: "The secret that signs, or that the header holds.",
      secret: true,
      requiredUnless: { setting: "verification", is: "address" },
    },
    ...mappingSettings,
  ],
  rules: [],
  guide: {
    steps: [
      "Enter ADDRESS at the sender as the address of its webhook.",
      "Choose how its requests are verified, and enter the secret.",
      "Send a test request, and choose the fields from it.",
    ],
    retries: [
      "Answers other than 200 are for the sender to repeat: 503 where the request could not be stored, 401 where its signature is wrong.",
    ],
  },
} as const satisfies Kind;
