import type { Example } from "../../example.ts";

const payload = {
  uri: "https://api.calendly.com/scheduled_events/EV1/invitees/INV1",
  email: "ada@example.com",
  name: "Ada Lovelace",
  text_reminder_number: "+49 30 123456",
  created_at: "2026-11-18T10:00:00.000000Z",
  status: "active",
  rescheduled: false,
  old_invitee: null,
  payment: { amount: 25, currency: "EUR", successful: true },
};

export const examples: readonly Example[] = [
  {
    name: "a booked meeting",
    body: { event: "invitee.created", created_at: "2026-11-18T10:00:01Z", payload },
    outcomes: [
      {
        is: "conversion",
        type: "invitee.created",
        fields: {
          event: "schedule",
          email: "ada@example.com",
          phone: "+49 30 123456",
          firstName: "Ada",
          lastName: "Lovelace",
          value: 25,
          currency: "EUR",
          orderId: "INV1",
          eventTime: "2026-11-18T10:00:00.000Z",
        },
      },
    ],
  },
  {
    name: "a new time",
    body: {
      event: "invitee.created",
      payload: { ...payload, old_invitee: "https://api.calendly.com/scheduled_events/EV0/invitees/INV0" },
    },
    outcomes: [{ is: "learned", orderRef: "INV1", fields: { orderId: "INV0" } }],
  },
  {
    name: "a cancellation for a new time",
    body: { event: "invitee.canceled", payload: { ...payload, rescheduled: true } },
    outcomes: [{ is: "ignored", reason: "repeats another event" }],
  },
  {
    name: "a cancelled meeting that was paid",
    body: { event: "invitee.canceled", created_at: "2026-11-18T12:00:00Z", payload },
    outcomes: [{ is: "refund", fields: { value: 25, orderId: "INV1", refundId: "cancelled" } }],
  },
];
