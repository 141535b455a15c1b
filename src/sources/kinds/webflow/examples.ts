import type { Example } from "../../example.ts";

export const examples: readonly Example[] = [
  {
    name: "a submitted form",
    body: {
      triggerType: "form_submission",
      payload: {
        name: "Contact",
        id: "f-1",
        submittedAt: "2026-11-18T10:00:00.000Z",
        data: { "Your mail": "ada@example.com", "Phone Number": 15550000000, "First Name": "Ada", gclid: "Cj0-1" },
      },
    },
    outcomes: [
      {
        is: "conversion",
        deliveryId: "f-1",
        fields: {
          event: "lead",
          email: "ada@example.com",
          phone: "15550000000",
          firstName: "Ada",
          orderId: "f-1",
          eventTime: "2026-11-18T10:00:00.000Z",
          clickIds: { gclid: "Cj0-1" },
        },
      },
    ],
  },
];
