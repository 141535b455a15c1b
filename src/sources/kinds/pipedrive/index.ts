import type { Kind } from "../../kind.ts";
import { basicSettings, eventSetting } from "../shared.ts";

const deal = {
  value: "data.value number",
  currency: "data.currency",
  orderId: "data.id",
  customer: "data.person_id | data.person_id.value",
} as const;

export const pipedrive = {
  id: "pipedrive",
  name: "Pipedrive",
  category: "crm",
  about: "Deals that are won or reach a stage.",
  docs: { url: "https://pipedrive.readme.io/docs/guide-for-webhooks-v2", checked: "2026-11-17" },
  verification: [{ by: "basic", user: "user", password: "password" }],
  bodies: ["json"],
  busyStatus: 503,
  givesUp: { failures: 10 },
  delivery: "meta.id",
  type: 'meta.entity append(".") append(meta.action)',
  settings: [
    ...basicSettings,
    eventSetting("purchase"),
    {
      name: "stages",
      label: "Stages",
      help: "Which stage of a deal is which event, by the numbers of the stages: `3=qualified_lead, 5=lead`. Won deals are counted without it.",
    },
  ],
  rules: [
    {
      name: "person",
      when: 'meta.entity = "person" and data.emails exists',
      gives: "learn",
      fields: {
        customer: "data.id",
        email: "data.emails[primary=true].value | data.emails[0].value",
        phone: "data.phones[primary=true].value | data.phones[0].value",
        firstName: "data.first_name",
        lastName: "data.last_name",
      },
    },
    {
      name: "deal that was just won",
      when: 'meta.entity = "deal" and meta.action = "change" and data.status = "won" and previous.status exists',
      gives: "conversion",
      fields: { ...deal, event: "$settings.event", eventTime: "data.won_time iso" },
    },
    {
      name: "deal that was created as won",
      when: 'meta.entity = "deal" and meta.action = "create" and data.status = "won"',
      gives: "conversion",
      fields: { ...deal, event: "$settings.event", eventTime: "data.won_time iso" },
    },
    {
      name: "later change of a won deal",
      when: 'meta.entity = "deal" and data.status = "won"',
      gives: "ignore",
      reason: "repeats another event",
    },
    {
      name: "deal that reached a chosen stage",
      when: 'meta.entity = "deal" and meta.action = "change" and previous.stage_id exists and data.stage_id lookup($settings.stages) exists',
      gives: "conversion",
      fields: { ...deal, event: "data.stage_id lookup($settings.stages)", eventTime: "data.stage_change_time iso" },
    },
    {
      name: "deal that was created in a chosen stage",
      when: 'meta.entity = "deal" and meta.action = "create" and data.stage_id lookup($settings.stages) exists',
      gives: "conversion",
      fields: { ...deal, event: "data.stage_id lookup($settings.stages)", eventTime: "data.add_time iso" },
    },
    { name: "other changes of deals", when: 'meta.entity = "deal"', gives: "ignore", reason: "not chosen" },
  ],
  guide: {
    steps: [
      "Open *Settings*, *Tools and apps*, *Webhooks* in Pipedrive, and create a webhook with the version 2.0.",
      "Choose *All* actions of the object *Deal*, enter ADDRESS, and the user name and password of the source.",
      "Create a second webhook in the same way for the object *Person*: deals name only the number of a person, and the relay remembers the email.",
    ],
    retries: [
      "Pipedrive repeats a failed request after 3, 30 and 150 seconds.",
      "Ten requests that fail at first ban the webhook for 30 minutes, and what happens meanwhile is lost. Three days without success delete it.",
    ],
    notes: [
      "A deal of a person whom the relay has not seen waits for three days: edit the person once in Pipedrive, and the deal counts.",
    ],
  },
} as const satisfies Kind;
