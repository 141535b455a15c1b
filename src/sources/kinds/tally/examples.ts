import type { Example } from "../../example.ts";

export const examples: readonly Example[] = [
  {
    name: "answers of a form",
    body: {
      eventId: "e-1",
      eventType: "FORM_RESPONSE",
      createdAt: "2026-11-18T10:00:00.000Z",
      data: {
        submissionId: "s-1",
        createdAt: "2026-11-18T10:00:00.000Z",
        fields: [
          { key: "q1", label: "Your email", type: "INPUT_EMAIL", value: "ada@example.com" },
          { key: "q2", label: "gclid", type: "HIDDEN_FIELDS", value: "Cj0-1" },
        ],
      },
    },
    outcomes: [
      {
        is: "conversion",
        deliveryId: "e-1",
        fields: {
          event: "lead",
          email: "ada@example.com",
          orderId: "s-1",
          eventTime: "2026-11-18T10:00:00.000Z",
          clickIds: { gclid: "Cj0-1" },
        },
      },
    ],
  },
];
