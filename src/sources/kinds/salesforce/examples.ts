import type { Example } from "../../example.ts";

const message = (notifications: string) => `<?xml version="1.0" encoding="UTF-8"?>
<soapenv:Envelope xmlns:soapenv="http://schemas.xmlsoap.org/soap/envelope/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
<soapenv:Body><notifications xmlns="http://soap.sforce.com/2005/09/outbound">
<OrganizationId>00D000000000001AAA</OrganizationId><ActionId>04k000000000001AAA</ActionId><SessionId xsi:nil="true"/>
${notifications}
</notifications></soapenv:Body></soapenv:Envelope>`;

const notification = (id: string, fields: string) =>
  `<Notification><Id>${id}</Id><sObject xsi:type="sf:Lead" xmlns:sf="urn:sobject.enterprise.soap.sforce.com">${fields}</sObject></Notification>`;

const lead = notification(
  "04l1",
  "<sf:Id>00Q1</sf:Id><sf:Email>ada@example.com</sf:Email><sf:FirstName>Zo&#235;</sf:FirstName><sf:GCLID__c>Cj0-1</sf:GCLID__c>",
);
const opportunity = notification(
  "04l2",
  "<sf:Id>0061</sf:Id><sf:StageName>Closed Won</sf:StageName><sf:Amount>1200.5</sf:Amount><sf:Email__c>ada@example.com</sf:Email__c>",
);

const headers = { "content-type": "text/xml; charset=utf-8" };
const settings = { organization_id: "00D000000000001AAA" };

const priced = (currency: string) =>
  notification(
    "04l3",
    `<sf:Id>0062</sf:Id><sf:StageName>Closed Won</sf:StageName><sf:Amount>1.25E7</sf:Amount>${currency}<sf:Email__c>ada@example.com</sf:Email__c>`,
  );

export const examples: readonly Example[] = [
  {
    name: "a lead and a won opportunity in one message",
    headers,
    settings,
    body: message(lead + opportunity),
    outcomes: [
      {
        is: "conversion",
        deliveryId: "04l1",
        fields: { event: "lead", email: "ada@example.com", firstName: "Zoë", orderId: "00Q1", clickIds: { gclid: "Cj0-1" } },
      },
      {
        is: "conversion",
        deliveryId: "04l2",
        type: "Closed Won",
        fields: { event: "purchase", email: "ada@example.com", value: 1200.5, orderId: "0061" },
      },
    ],
  },
  {
    name: "an id of the organization as Salesforce shows it, without its last three characters",
    headers,
    settings: { organization_id: "00D000000000001" },
    body: message(lead),
    outcomes: [{ is: "conversion", fields: { orderId: "00Q1" } }],
  },
  {
    // Salesforce writes amounts as Java does.
    name: "an amount of ten million or more, in the one currency of the organization",
    headers,
    settings: { ...settings, currency: "EUR" },
    body: message(priced("")),
    outcomes: [{ is: "conversion", fields: { value: 12_500_000, currency: "EUR" } }],
  },
  {
    name: "an opportunity that names its currency",
    headers,
    settings: { ...settings, currency: "EUR" },
    body: message(priced("<sf:CurrencyIsoCode>GBP</sf:CurrencyIsoCode>")),
    outcomes: [{ is: "conversion", fields: { value: 12_500_000, currency: "GBP" } }],
  },
  {
    name: "a message of another organization",
    headers,
    settings: { organization_id: "00D000000000009AAA" },
    body: message(lead),
    outcomes: [{ is: "ignored", reason: "not chosen" }],
  },
];
