import type { Example } from "../../example.ts";

export const examples: readonly Example[] = [
  {
    name: "a won deal of a workflow with a customised body",
    body: {
      email: "ada@example.com",
      dealstage: "closedwon",
      amount: "1200.50",
      deal_currency_code: "EUR",
      hs_object_id: "9981",
      hs_google_click_id: "Cj0-1",
    },
    outcomes: [
      {
        is: "conversion",
        fields: {
          event: "purchase",
          email: "ada@example.com",
          value: 1200.5,
          currency: "EUR",
          orderId: "9981",
          clickIds: { gclid: "Cj0-1" },
        },
      },
    ],
  },
  {
    name: "a contact of a workflow in a chosen lifecycle stage",
    settings: { lifecycle_stages: "marketingqualifiedlead=qualified_lead" },
    body: {
      portalId: 1,
      objectType: "CONTACT",
      objectTypeId: "0-1",
      objectId: 51,
      properties: {
        email: { value: "ada@example.com" },
        firstname: { value: "Ada" },
        lifecyclestage: { value: "marketingqualifiedlead", timestamp: 1794960000000 },
      },
    },
    outcomes: [
      {
        is: "conversion",
        type: "CONTACT",
        fields: {
          event: "qualified_lead",
          email: "ada@example.com",
          firstName: "Ada",
          orderId: "contact-51",
          eventTime: "2026-11-18T00:00:00.000Z",
        },
      },
    ],
  },
  {
    name: "a deal in a stage that is not chosen",
    body: { email: "ada@example.com", dealstage: "appointmentscheduled" },
    outcomes: [{ is: "ignored", reason: "not chosen" }],
  },
  {
    name: "changes that an app reports, without the person",
    body: [
      {
        eventId: 1,
        subscriptionId: 7,
        occurredAt: 1794960000000,
        subscriptionType: "deal.propertyChange",
        objectId: 9981,
        propertyName: "dealstage",
        propertyValue: "closedwon",
      },
      {
        eventId: 2,
        subscriptionId: 7,
        occurredAt: 1794960000001,
        subscriptionType: "deal.propertyChange",
        objectId: 9982,
        propertyName: "dealname",
        propertyValue: "x",
      },
    ],
    outcomes: [
      { is: "conversion", deliveryId: "1:7:1794960000000", lookUp: "deal", fields: { event: "purchase", orderId: "9981" } },
      { is: "ignored", reason: "not chosen" },
    ],
  },
];
