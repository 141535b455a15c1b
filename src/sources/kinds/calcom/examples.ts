import type { Example } from "../../example.ts";

const payload = {
  uid: "bk-1",
  price: 0,
  currency: "usd",
  attendees: [{ email: "ada@example.com", name: "Ada Lovelace" }],
  responses: { email: { value: "ada@example.com" } },
};

export const examples: readonly Example[] = [
  {
    name: "a free meeting",
    body: { triggerEvent: "BOOKING_CREATED", createdAt: "2026-11-18T10:00:00.000Z", payload },
    outcomes: [
      {
        is: "conversion",
        deliveryId: "BOOKING_CREATED:bk-1",
        fields: {
          event: "schedule",
          email: "ada@example.com",
          firstName: "Ada",
          lastName: "Lovelace",
          currency: "usd",
          orderId: "bk-1",
          eventTime: "2026-11-18T10:00:00.000Z",
        },
      },
    ],
  },
  {
    name: "a paid meeting",
    settings: { count: "paid" },
    body: { triggerEvent: "BOOKING_PAID", createdAt: "2026-11-18T10:00:00.000Z", payload: { ...payload, price: 2500 } },
    outcomes: [{ is: "conversion", fields: { value: 25, currency: "usd", orderId: "bk-1" } }],
  },
  {
    name: "a new time",
    body: { triggerEvent: "BOOKING_RESCHEDULED", payload },
    outcomes: [{ is: "ignored", reason: "repeats another event" }],
  },
  {
    name: "the test of the webhook",
    body: { triggerEvent: "PING", payload: {} },
    outcomes: [{ is: "ignored", reason: "test request" }],
  },
];
