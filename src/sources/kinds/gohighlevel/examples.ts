import type { Example } from "../../example.ts";

export const examples: readonly Example[] = [
  {
    name: "a contact of a workflow",
    body: {
      contact_id: "c1",
      email: "ada@example.com",
      phone: "+4930123456",
      first_name: "Ada",
      last_name: "Lovelace",
      workflow: { id: "w1", name: "New lead" },
      customData: { value: "30" },
      contact: { attributionSource: { gclid: "Cj0-1", medium: "form" } },
    },
    outcomes: [
      {
        is: "conversion",
        type: "New lead",
        fields: {
          event: "lead",
          email: "ada@example.com",
          phone: "+4930123456",
          firstName: "Ada",
          lastName: "Lovelace",
          value: 30,
          orderId: "c1:w1",
          clickIds: { gclid: "Cj0-1" },
        },
      },
    ],
  },
  {
    name: "a won opportunity of an app",
    settings: { sender: "app" },
    body: { type: "OpportunityStatusUpdate", webhookId: "wh1", id: "o1", status: "won", monetaryValue: 500, contactId: "c1" },
    outcomes: [{ is: "conversion", deliveryId: "wh1", customer: "c1", fields: { event: "purchase", value: 500, orderId: "o1" } }],
  },
  {
    name: "a contact of an app",
    settings: { sender: "app" },
    body: { type: "ContactCreate", id: "c1", email: "ada@example.com" },
    outcomes: [{ is: "learned", customer: "c1", fields: { email: "ada@example.com" } }],
  },
];
