// What CRMs, calendars, forms and call tracking write, from the fields that they document.

import type { Facts } from "./payments.ts";
import type { Message } from "./sender.ts";

const iso = (at: number) => new Date(at).toISOString();
const always = (body: unknown, headers?: Record<string, string>): Message => ({ body: () => body, ...(headers && { headers }) });
/** HubSpot writes all values as texts, with their history. */
const property = (value: string, at: number) => ({
  value,
  timestamp: at,
  source: "CRM_UI",
  versions: [{ value, timestamp: at }],
});

export const hubspot = {
  deal: ({ n, email, value, currency, at }: Facts) =>
    always(
      {
        portalId: 62515,
        objectType: "DEAL",
        objectTypeId: "0-3",
        objectId: Number(n),
        properties: {
          dealstage: property("closedwon", at),
          amount: property(String(value), at),
          deal_currency_code: property(currency, at),
          closedate: property(String(at), at),
          hs_object_id: property(n, at),
          // Of the associated contact, by a customised body.
          email: property(email, at),
        },
      },
      { "x-hubspot-timeout-millis": "20000" },
    ),
  /** Up to 100 changes in one request; they name the object and the changed field alone. */
  changes: (facts: readonly Facts[], property_ = { name: "dealstage", value: "closedwon" }): Message => ({
    body: (attempt) =>
      facts.map(({ n, at }) => ({
        eventId: Number(n),
        subscriptionId: 33,
        portalId: 62515,
        appId: 54198,
        occurredAt: at,
        subscriptionType: "deal.propertyChange",
        attemptNumber: attempt - 1,
        objectId: Number(n),
        changeSource: "CRM",
        propertyName: property_.name,
        propertyValue: property_.value,
      })),
  }),
};

const pipedriveEvent = (
  n: string,
  entity: string,
  action: string,
  at: number,
  data: object,
  previous: object | null,
): Message => ({
  body: (attempt) => ({
    meta: {
      id: `0d1f-${entity}-${action}-${n}`,
      action,
      entity,
      entity_id: n,
      timestamp: iso(at),
      attempt,
      is_bulk_edit: false,
      change_source: "app",
      host: "acme.pipedrive.com",
      company_id: "1",
      user_id: "2",
      webhook_id: "9",
      correlation_id: `c-${n}`,
      version: "2.0",
    },
    data,
    previous,
  }),
});

export const pipedrive = {
  person: ({ n, email, at }: Facts) =>
    pipedriveEvent(
      n,
      "person",
      "create",
      at,
      {
        id: Number(n),
        first_name: "Ada",
        last_name: "Lovelace",
        emails: [
          { value: "office@example.com", primary: false },
          { value: email, primary: true },
        ],
        phones: [{ value: "+4930123456", primary: true }],
      },
      null,
    ),
  /** The deal names its person by number. Without a value it is 0 or null. */
  won: ({ n, value, currency, at }: Facts, amount: number | null = value) =>
    pipedriveEvent(
      n,
      "deal",
      "change",
      at,
      {
        id: Number(n),
        status: "won",
        value: amount,
        currency,
        person_id: Number(n),
        won_time: iso(at),
        stage_id: 4,
        custom_fields: {},
      },
      { status: "open", won_time: null },
    ),
};

export const salesforce = {
  /** Up to 100 notifications in one message. */
  message: (facts: readonly Facts[], organization: string) =>
    always(`<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
 <soapenv:Body>
  <notifications xmlns="http://soap.sforce.com/2005/09/outbound">
   <OrganizationId>${organization}</OrganizationId>
   <ActionId>04k000000000001</ActionId>
   <SessionId xsi:nil="true"/>
   <EnterpriseUrl>https://acme.my.salesforce.com/services/Soap/c/65.0/00D</EnterpriseUrl>
   <PartnerUrl>https://acme.my.salesforce.com/services/Soap/u/65.0/00D</PartnerUrl>
${facts
  .map(
    ({ n, email, value, currency }) => `   <Notification>
    <Id>04l${n}</Id>
    <sObject xsi:type="sf:Opportunity" xmlns:sf="urn:sobject.enterprise.soap.sforce.com">
     <sf:Id>006${n}</sf:Id>
     <sf:Amount>${value}</sf:Amount>
     <sf:CurrencyIsoCode>${currency}</sf:CurrencyIsoCode>
     <sf:Email__c>${email}</sf:Email__c>
     <sf:StageName>Closed Won</sf:StageName>
    </sObject>
   </Notification>`,
  )
  .join("\n")}
  </notifications>
 </soapenv:Body>
</soapenv:Envelope>`),
};

export const gohighlevel = {
  workflow: ({ n, email, value, currency }: Facts) =>
    always({
      contact_id: `contact${n}`,
      first_name: "Ada",
      last_name: "Lovelace",
      full_name: "Ada Lovelace",
      email,
      phone: "+4930123456",
      tags: "won",
      workflow: { id: "w1", name: "Won" },
      location: { id: "l1", name: "Acme" },
      customData: { event: "purchase", value: String(value), currency, order_id: n },
    }),
};

const invitee = (id: string) => `https://api.calendly.com/scheduled_events/E1/invitees/${id}`;

const calendlyEvent = (event: string, id: string, { email, value, currency, at }: Facts, rest: object) =>
  always({
    event,
    created_at: iso(at),
    created_by: "https://api.calendly.com/users/U1",
    payload: {
      uri: invitee(id),
      email,
      name: "Ada Lovelace",
      first_name: null,
      last_name: null,
      text_reminder_number: "+49 30 123456",
      status: event === "invitee.canceled" ? "canceled" : "active",
      scheduled_event: { uri: "https://api.calendly.com/scheduled_events/E1", name: "Intro", start_time: iso(at + 86_400_000) },
      created_at: iso(at),
      rescheduled: false,
      old_invitee: null,
      new_invitee: null,
      questions_and_answers: [],
      tracking: { utm_source: "google", utm_term: null, salesforce_uuid: null },
      payment: { external_id: "ch_1", provider: "stripe", amount: value, currency, terms: "", successful: true },
      ...rest,
    },
  });

export const calendly = {
  booked: (facts: Facts) => calendlyEvent("invitee.created", facts.n, facts, {}),
  /** A new time is a cancellation and a booking that name each other. */
  rescheduled: (facts: Facts, to: string): readonly Message[] => [
    calendlyEvent("invitee.canceled", facts.n, facts, { rescheduled: true, new_invitee: invitee(to) }),
    calendlyEvent("invitee.created", to, facts, { old_invitee: invitee(facts.n) }),
  ],
  cancelled: (facts: Facts) => calendlyEvent("invitee.canceled", facts.n, facts, {}),
};

const calcomEvent = (triggerEvent: string, { n, email, value, currency, at }: Facts, rest: object) =>
  always({
    triggerEvent,
    createdAt: iso(at),
    payload: {
      uid: `booking${n}`,
      bookingId: Number(n),
      type: "intro",
      eventTypeId: 1,
      status: "ACCEPTED",
      startTime: iso(at + 86_400_000),
      attendees: [{ email, name: "Ada Lovelace", timeZone: "Europe/Berlin" }],
      responses: { email: { label: "email", value: email }, name: { label: "name", value: "Ada Lovelace" } },
      organizer: { email: "host@acme.example", name: "Host" },
      price: Math.round(value * 100),
      currency: currency.toLowerCase(),
      metadata: {},
      ...rest,
    },
  });

export const calcom = {
  booked: (facts: Facts) => calcomEvent("BOOKING_CREATED", facts, {}),
  rescheduled: (facts: Facts, to: string) =>
    calcomEvent("BOOKING_RESCHEDULED", { ...facts, n: to }, { rescheduleUid: `booking${facts.n}` }),
};

export const typeform = {
  answers: ({ n, email, at }: Facts) =>
    always({
      event_id: `01H${n}`,
      event_type: "form_response",
      form_response: {
        form_id: "lT4Z3j",
        token: `token${n}`,
        landed_at: iso(at - 60_000),
        submitted_at: iso(at),
        hidden: { gclid: "Cj0-hidden", utm_source: "google" },
        definition: { id: "lT4Z3j", fields: [{ id: "a", type: "email", ref: "mail", title: "Your email" }] },
        answers: [
          { type: "text", text: "Lamp", field: { id: "b", type: "short_text", ref: "what" } },
          { type: "email", email, field: { id: "a", type: "email", ref: "mail" } },
          { type: "phone_number", phone_number: "+4930123456", field: { id: "c", type: "phone_number", ref: "phone" } },
        ],
        calculated: { score: 0 },
      },
    }),
};

export const tally = {
  answers: ({ n, email, at }: Facts) =>
    always({
      eventId: `e-${n}`,
      eventType: "FORM_RESPONSE",
      createdAt: iso(at),
      data: {
        responseId: `response${n}`,
        submissionId: `submission${n}`,
        respondentId: "r1",
        formId: "f1",
        formName: "Contact",
        createdAt: iso(at),
        fields: [
          { key: "q1", label: "Your email", type: "INPUT_EMAIL", value: email },
          { key: "q2", label: "Phone", type: "INPUT_PHONE_NUMBER", value: "+4930123456" },
          { key: "q3", label: "gclid", type: "HIDDEN_FIELDS", value: "Cj0-hidden" },
        ],
      },
    }),
};

export const jotform = {
  /** The boundary is that of the sheet's content type. */
  answers: ({ n, email }: Facts, boundary: string) => {
    const rawRequest = JSON.stringify({
      slug: "submit/1",
      q3_name: { first: "Ada", last: "Lovelace" },
      q4_email: email,
      q5_phoneNumber: { full: "(030) 123-456" },
      q6_gclid: "Cj0-hidden",
    });
    const fields = {
      formID: "1",
      submissionID: n,
      formTitle: "Contact",
      username: "acme",
      ip: "198.51.100.7",
      type: "WEB",
      rawRequest,
    };
    const parts = Object.entries(fields).map(
      ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    );
    return always(`${parts.join("")}--${boundary}--\r\n`);
  },
};

export const webflow = {
  form: ({ n, email, at }: Facts) =>
    always({
      triggerType: "form_submission",
      payload: {
        name: "Contact",
        siteId: "s1",
        // Labels are the customer's, and numbers may be numbers.
        data: { Name: "Ada Lovelace", Email: email, "Phone Number": 4930123456, gclid: "Cj0-hidden" },
        schema: [{ fieldName: "Email", fieldType: "FormTextInput", fieldElementId: "e1" }],
        submittedAt: iso(at),
        id: `sub${n}`,
        formId: "f1",
        formElementId: "e0",
      },
    }),
};

export const callrail = {
  call: ({ n, at }: Facts) =>
    always({
      id: Number(n),
      resource_id: `CAL${n}`,
      answered: true,
      voicemail: false,
      call_type: "voicecall",
      direction: "inbound",
      // A text here, a number elsewhere.
      duration: "95",
      start_time: iso(at),
      customer_phone_number: "+4930123456",
      customer_name: "ADA LOVELACE",
      first_call: true,
      lead_status: null,
      value: "",
      landing_page_url: "https://shop.example/?gclid=Cj0-call",
      gclid: "Cj0-call",
      fbclid: null,
      tags: [],
      timestamp: iso(at),
    }),
};

/** Any sender: an order as a shop of one's own might write it. */
export const shopOfOnesOwn = {
  order: ({ n, email, value, currency, at }: Facts) =>
    always({ type: "order.paid", id: n, created: iso(at), total: value.toFixed(2), currency, customer: { email } }),
};
