import type { Example } from "../../example.ts";

const call = {
  id: 766970532,
  resource_id: "CAL0001",
  answered: true,
  direction: "inbound",
  duration: "95",
  start_time: "2026-11-18T10:00:00.000-05:00",
  customer_phone_number: "+14045550190",
  customer_name: "Ada Lovelace",
  lead_status: null,
  value: "",
  gclid: "Cj0-1",
  landing_page_url: "https://shop.example/?gclid=Cj0-1&msclkid=ms-1",
};

export const examples: readonly Example[] = [
  {
    name: "an answered call",
    body: call,
    outcomes: [
      {
        is: "conversion",
        fields: {
          event: "call",
          phone: "+14045550190",
          firstName: "Ada",
          lastName: "Lovelace",
          orderId: "CAL0001",
          eventTime: "2026-11-18T15:00:00.000Z",
          clickIds: { gclid: "Cj0-1", msclkid: "ms-1" },
        },
      },
    ],
  },
  { name: "a short call", body: { ...call, duration: "13" }, outcomes: [{ is: "ignored", reason: "not chosen" }] },
  { name: "a missed call", body: { ...call, answered: false }, outcomes: [{ is: "ignored", reason: "not chosen" }] },
  {
    name: "a call that is no good lead",
    settings: { good_leads: "yes" },
    body: call,
    outcomes: [{ is: "ignored", reason: "not chosen" }],
  },
  {
    name: "a submitted form",
    body: { resource_id: "FRM1", form_data: { your_email: "ada@example.com" }, submitted_at: "2026-11-18T10:00:00Z" },
    outcomes: [{ is: "conversion", fields: { event: "lead", email: "ada@example.com", orderId: "FRM1" } }],
  },
];
