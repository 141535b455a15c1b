import type { Kind } from "../../kind.ts";
import { currencySetting, eventSetting } from "../shared.ts";

const acknowledged = `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/"><soapenv:Body><notificationsResponse xmlns="http://soap.sforce.com/2005/09/outbound"><Ack>true</Ack></notificationsResponse></soapenv:Body></soapenv:Envelope>
`;

export const salesforce = {
  id: "salesforce",
  name: "Salesforce",
  category: "crm",
  about: "Outbound messages of leads and opportunities.",
  docs: {
    url: "https://developer.salesforce.com/docs/atlas.en-us.api.meta/api/sforce_api_om_outboundmessaging.htm",
    checked: "2026-11-17",
  },
  verification: [{ by: "address" }],
  bodies: ["soap"],
  busyStatus: 503,
  answer: { type: "text/xml; charset=utf-8", body: acknowledged },
  entries: "Envelope.Body.notifications.Notification",
  delivery: "Id",
  type: 'sObject.StageName | sObject.Status | "outbound message"',
  settings: [
    {
      name: "organization_id",
      label: "Organization id",
      help: "The id of your organization, 15 or 18 characters. Messages of another one are ignored.",
      required: true,
    },
    eventSetting("lead"),
    {
      name: "stages",
      label: "Stages",
      help: "Which stage of an opportunity is which event: `Closed Won=purchase`. Messages without a stage have the event above.",
      default: "Closed Won=purchase",
    },
    currencySetting("The currency of messages that name none."),
  ],
  rules: [
    {
      name: "message of another organization",
      // Salesforce shows the id with 15 characters, and sends it with three more, which say nothing new.
      when: "$body.Envelope.Body.notifications.OrganizationId start(15) != $settings.organization_id start(15)",
      gives: "ignore",
      reason: "not chosen",
    },
    {
      name: "opportunity in another stage",
      when: "sObject.StageName exists and sObject.StageName lookup($settings.stages) not exists",
      gives: "ignore",
      reason: "not chosen",
    },
    {
      name: "lead, contact or opportunity",
      when: "sObject.Id exists",
      gives: "conversion",
      fields: {
        event: "sObject.StageName lookup($settings.stages) | $settings.event",
        email: "sObject.Email | sObject.Email__c | sObject.Contact_Email__c | sObject.PersonEmail",
        phone: "sObject.MobilePhone | sObject.Phone",
        firstName: "sObject.FirstName",
        lastName: "sObject.LastName",
        value: "sObject.Amount number",
        currency: "sObject.CurrencyIsoCode | $settings.currency",
        orderId: "sObject.Id",
        clickIds: ["sObject", ["gclid", "sObject.GCLID__c | sObject.gclid__c"]],
      },
    },
  ],
  guide: {
    steps: [
      "Open *Setup*, *Outbound Messages*, and create one for the object, with the endpoint ADDRESS and the fields that you want to send. Do not send the session id.",
      "An opportunity has no email: add a formula field `Email__c` that reads it from the contact.",
      "Start it from a flow or a workflow rule, when the lead or opportunity reaches the stage.",
      "Enter the id of your organization in the source, and the three letters of its currency, such as EUR (*Setup*, *Company Information*). Where it has several currencies, send the field `CurrencyIsoCode`, which only such an organization has.",
    ],
    retries: ["Salesforce repeats a message that was not acknowledged for 24 hours."],
    notes: ["A repeated message carries the newest values, not those of its first time."],
  },
} as const satisfies Kind;
