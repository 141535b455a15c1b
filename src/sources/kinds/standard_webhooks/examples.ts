import type { Example } from "../../example.ts";

export const examples: readonly Example[] = [
  {
    name: "a sign-up",
    headers: { "webhook-id": "msg_1" },
    settings: { event: "signup", email: "data.email", order_id: "data.id" },
    body: { type: "user.created", timestamp: "2026-11-18T00:00:00Z", data: { id: "u-1", email: "ada@example.com" } },
    outcomes: [
      {
        is: "conversion",
        type: "user.created",
        deliveryId: "msg_1",
        fields: { event: "signup", email: "ada@example.com", orderId: "u-1" },
      },
    ],
  },
];
