import type { Kind } from "../../kind.ts";
import { eventSetting, fixedValueSettings } from "../shared.ts";

export const gohighlevel = {
  id: "gohighlevel",
  name: "GoHighLevel",
  category: "crm",
  about: "Contacts of a workflow, and won opportunities of an app.",
  docs: { url: "https://marketplace.gohighlevel.com/docs/webhook/WebhookIntegrationGuide", checked: "2026-11-17" },
  verification: [
    { onlyWhen: { setting: "sender", is: ["workflow"] }, by: "address" },
    {
      onlyWhen: { setting: "sender", is: ["app"] },
      by: "ed25519",
      headers: ["x-ghl-signature"],
      publicKey: "MCowBQYDK2VwAyEAi2HR1srL4o18O8BRa7gVJY7G7bupbN3H9AwJrHCDiOg=",
    },
  ],
  bodies: ["json"],
  // It repeats only what was answered with 429; everything else is lost.
  busyStatus: 429,
  delivery: "webhookId",
  type: 'type | workflow.name | "workflow"',
  settings: [
    {
      name: "sender",
      label: "Sender",
      help: "`workflow`: the action *Webhook*, which signs nothing. `app`: events of a marketplace app, which are signed.",
      default: "workflow",
      choices: ["workflow", "app"],
    },
    eventSetting("lead"),
    {
      name: "won_event",
      label: "Event of won opportunities",
      help: "The name under which won opportunities go out.",
      default: "purchase",
    },
    ...fixedValueSettings,
  ],
  rules: [
    {
      name: "contact of an app",
      when: 'type in ("ContactCreate", "ContactUpdate") and email exists',
      gives: "learn",
      fields: { customer: "id", email: "email", phone: "phone", firstName: "firstName", lastName: "lastName" },
    },
    {
      name: "won opportunity of an app",
      when: 'type in ("OpportunityStatusUpdate", "OpportunityCreate") and status = "won"',
      gives: "conversion",
      fields: {
        event: "$settings.won_event",
        value: "monetaryValue number | $settings.value number",
        currency: "$settings.currency",
        orderId: "id",
        customer: "contactId",
      },
    },
    { name: "other events of an app", when: "type exists", gives: "ignore", reason: "not used" },
    {
      name: "contact of a workflow",
      when: "contact_id exists",
      gives: "conversion",
      fields: {
        event: "customData.event | $settings.event",
        email: "email",
        phone: "phone",
        firstName: "first_name | full_name words(first)",
        lastName: "last_name | full_name words(last)",
        value: "customData.value number | $settings.value number",
        currency: "customData.currency | $settings.currency",
        orderId: 'customData.order_id | contact_id append(":") append(workflow.id) | contact_id',
        clickIds: ["customData", "contact.attributionSource", "attributionSource", "contact.lastAttributionSource"],
      },
    },
  ],
  guide: {
    steps: [
      "Add the action *Webhook* to a workflow, with the method POST and the address ADDRESS.",
      "Add custom data where you need it: `event`, `value`, `currency`, `order_id`.",
    ],
    retries: ["GoHighLevel repeats only requests that were answered with 429: six times, ten minutes apart."],
  },
} as const satisfies Kind;
