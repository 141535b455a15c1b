import type { Example } from "../../example.ts";

const meta = { id: "0d1c", entity: "deal", action: "change", entity_id: "31", attempt: 1 };
const deal = { id: 31, status: "won", value: 900, currency: "EUR", person_id: 5, stage_id: 3, won_time: "2026-11-18T10:00:00Z" };

export const examples: readonly Example[] = [
  {
    name: "a deal that was just won",
    body: { meta, data: deal, previous: { status: "open" } },
    outcomes: [
      {
        is: "conversion",
        type: "deal.change",
        deliveryId: "0d1c",
        customer: "5",
        fields: { event: "purchase", value: 900, currency: "EUR", orderId: "31", eventTime: "2026-11-18T10:00:00.000Z" },
      },
    ],
  },
  {
    name: "a later change of a won deal",
    body: { meta, data: deal, previous: { value: 800 } },
    outcomes: [{ is: "ignored", reason: "repeats another event" }],
  },
  {
    name: "a deal that reached a chosen stage",
    settings: { stages: "3=qualified_lead" },
    body: { meta, data: { ...deal, status: "open" }, previous: { stage_id: 2 } },
    outcomes: [{ is: "conversion", customer: "5", fields: { event: "qualified_lead", orderId: "31" } }],
  },
  {
    name: "a person",
    body: {
      meta: { ...meta, entity: "person" },
      data: {
        id: 5,
        emails: [
          { value: "old@example.com", primary: false },
          { value: "ada@example.com", primary: true },
        ],
        first_name: "Ada",
      },
      previous: null,
    },
    outcomes: [{ is: "learned", customer: "5", fields: { email: "ada@example.com", firstName: "Ada" } }],
  },
];
