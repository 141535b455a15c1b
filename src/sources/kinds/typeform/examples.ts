import type { Example } from "../../example.ts";

export const examples: readonly Example[] = [
  {
    name: "answers of a form",
    settings: { value: "25", currency: "EUR" },
    body: {
      event_id: "01H1",
      event_type: "form_response",
      form_response: {
        token: "a3a12ec6",
        submitted_at: "2026-11-18T10:00:00Z",
        hidden: { gclid: "Cj0-1" },
        answers: [
          { type: "text", text: "Ada", field: { id: "1", type: "short_text", ref: "first_name" } },
          { type: "email", email: "ada@example.com", field: { id: "2", type: "email", ref: "e" } },
          { type: "phone_number", phone_number: "+4930123456", field: { id: "3", type: "phone_number", ref: "p" } },
        ],
      },
    },
    outcomes: [
      {
        is: "conversion",
        deliveryId: "01H1",
        fields: {
          event: "lead",
          email: "ada@example.com",
          phone: "+4930123456",
          firstName: "Ada",
          value: 25,
          currency: "EUR",
          orderId: "a3a12ec6",
          eventTime: "2026-11-18T10:00:00.000Z",
          clickIds: { gclid: "Cj0-1" },
        },
      },
    ],
  },
];
