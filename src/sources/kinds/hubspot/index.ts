import type { Kind } from "../../kind.ts";
import { currencySetting, keySetting, secretSetting } from "../shared.ts";

const stage = "properties.dealstage.value | dealstage";
const lifecycle = "properties.lifecyclestage.value | lifecyclestage";
const person = {
  email: "properties.email.value | properties.contact_email.value | email | contact_email",
  phone: "properties.phone.value | properties.mobilephone.value | phone",
  firstName: "properties.firstname.value | firstname",
  lastName: "properties.lastname.value | lastname",
  clickIds: [
    ["gclid", "properties.hs_google_click_id.value | hs_google_click_id"],
    ["fbclid", "properties.hs_facebook_click_id.value | hs_facebook_click_id"],
    "@",
  ],
} as const;

/** Contacts and deals are numbered each for themselves: a contact must not pass for a deal that was counted. */
const contactOrder = (...ids: string[]) => ids.map((id) => `"contact-" append(${id})`).join(" | ");

/** Of the contact that a look-up found. */
const contact = {
  email: "contact.properties.email",
  phone: "contact.properties.phone | contact.properties.mobilephone",
  firstName: "contact.properties.firstname",
  lastName: "contact.properties.lastname",
  clickIds: [
    ["gclid", "contact.properties.hs_google_click_id"],
    ["fbclid", "contact.properties.hs_facebook_click_id"],
  ],
} as const;
const contactStep = (id: string) => ({
  name: "contact",
  url: `https://api.hubapi.com/crm/v3/objects/contacts/{${id}}?properties=email,phone,mobilephone,firstname,lastname,hs_google_click_id,hs_facebook_click_id`,
  permission: "crm.objects.contacts.read",
});

export const hubspot = {
  id: "hubspot",
  name: "HubSpot",
  category: "crm",
  about: "Deals and contacts that reach a stage, from a workflow or an app.",
  docs: { url: "https://developers.hubspot.com/docs/apps/legacy-apps/authentication/validating-requests", checked: "2026-11-17" },
  verification: [
    {
      by: "hmac",
      headers: ["x-hubspot-signature-v3"],
      form: { is: "plain" },
      algorithm: "sha256",
      encoding: "base64",
      message: ["method", "uri", "body", "time"],
      time: { headers: ["x-hubspot-request-timestamp"], unit: "milliseconds" },
      secret: "signing_secret",
      key: "text",
    },
    {
      by: "hash",
      headers: ["x-hubspot-signature"],
      form: { is: "plain" },
      algorithm: "sha256",
      encoding: "hex",
      message: ["secret", "method", "uri", "body"],
      secret: "signing_secret",
      key: "text",
    },
    {
      by: "hash",
      headers: ["x-hubspot-signature"],
      form: { is: "plain" },
      algorithm: "sha256",
      encoding: "hex",
      message: ["secret", "body"],
      secret: "signing_secret",
      key: "text",
    },
  ],
  bodies: ["json"],
  busyStatus: 503,
  // An app sends a list of changes, a workflow one object.
  entries: "@",
  delivery: 'eventId append(":") append(subscriptionId) append(":") append(occurredAt)',
  type: "subscriptionType | objectType | objectTypeId",
  settings: [
    secretSetting(
      "The client secret of your app, if the workflow or the app signs its requests. Without it the address alone is the secret.",
      {
        required: false,
      },
    ),
    {
      name: "stages",
      label: "Deal stages",
      help: "Which deal stage is which event: `closedwon=purchase, qualifiedtobuy=qualified_lead`. Use the internal names of the stages.",
      default: "closedwon=purchase",
    },
    {
      name: "lifecycle_stages",
      label: "Lifecycle stages",
      help: "The same for contacts: `lead=lead, marketingqualifiedlead=qualified_lead`.",
    },
    currencySetting("The currency of deals that name none."),
    keySetting(
      "Only for webhooks of an app, which do not name the person: the access token of a private app with `crm.objects.deals.read` and `crm.objects.contacts.read`.",
    ),
  ],
  rules: [
    {
      name: "change of a chosen deal stage, without the deal's fields",
      when: 'subscriptionType exists and propertyName = "dealstage" and propertyValue lookup($settings.stages) exists',
      gives: "conversion",
      fields: {
        event: "propertyValue lookup($settings.stages)",
        orderId: "objectId",
        currency: "$settings.currency",
        eventTime: "occurredAt millis",
      },
      lookUp: "deal",
    },
    {
      name: "change of a chosen lifecycle stage, without the contact's fields",
      // Companies have lifecycle stages too, and are not people.
      when: 'subscriptionType in ("contact.propertyChange", "object.propertyChange") and objectTypeId != "0-2" and propertyName = "lifecyclestage" and propertyValue lookup($settings.lifecycle_stages) exists',
      gives: "conversion",
      fields: {
        event: "propertyValue lookup($settings.lifecycle_stages)",
        orderId: contactOrder("objectId"),
        orderRef: "objectId",
        eventTime: "occurredAt millis",
      },
      lookUp: "contact",
    },
    { name: "other changes", when: "subscriptionType exists", gives: "ignore", reason: "not chosen" },
    {
      name: "deal in a chosen stage",
      when: `properties.dealstage.value lookup($settings.stages) | dealstage lookup($settings.stages) exists`,
      gives: "conversion",
      fields: {
        ...person,
        event: "properties.dealstage.value lookup($settings.stages) | dealstage lookup($settings.stages)",
        value: "properties.amount.value number | amount number",
        currency: "properties.deal_currency_code.value | deal_currency_code | $settings.currency",
        orderId: "objectId | properties.hs_object_id.value | hs_object_id",
        eventTime: "properties.dealstage.timestamp millis | properties.closedate.value millis | closedate millis | closedate iso",
      },
    },
    { name: "deal in another stage", when: `${stage} exists`, gives: "ignore", reason: "not chosen" },
    {
      name: "contact in a chosen lifecycle stage",
      when: "properties.lifecyclestage.value lookup($settings.lifecycle_stages) | lifecyclestage lookup($settings.lifecycle_stages) exists",
      gives: "conversion",
      fields: {
        ...person,
        event:
          "properties.lifecyclestage.value lookup($settings.lifecycle_stages) | lifecyclestage lookup($settings.lifecycle_stages)",
        orderId: contactOrder("objectId", "properties.hs_object_id.value", "hs_object_id", "vid"),
        eventTime: "properties.lifecyclestage.timestamp millis",
      },
    },
    { name: "contact in another lifecycle stage", when: `${lifecycle} exists`, gives: "ignore", reason: "not chosen" },
  ],
  lookUps: {
    deal: {
      key: "api_key",
      steps: [
        {
          name: "deal",
          url: "https://api.hubapi.com/crm/v3/objects/deals/{orderId}?properties=amount,deal_currency_code&associations=contacts",
          permission: "crm.objects.deals.read",
        },
        contactStep("deal.associations.contacts.results[0].id"),
      ],
      fields: {
        ...contact,
        value: "deal.properties.amount number",
        currency: "deal.properties.deal_currency_code",
      },
    },
    contact: { key: "api_key", steps: [contactStep("orderRef")], fields: contact },
  },
  guide: {
    steps: [
      "Create a workflow of deals or contacts that starts when the stage is reached, and add *Send a webhook* with POST and the address ADDRESS.",
      "A deal has no email: choose *Customise request body*, and add `email` from the associated contact, with `dealstage`, `amount`, `deal_currency_code` and `hs_object_id`.",
      "If the workflow signs its requests with an app, copy the client secret of the app into the source.",
      "Enter in the source which stages count.",
    ],
    retries: ["HubSpot repeats requests of workflows for three days, but none that got a status of 400 to 499 other than 429."],
    notes: [
      "Webhooks of an app name only the changed field, not the person. With an API key the relay looks the deal and its first contact up; without one they are listed as ignored. A workflow needs no key.",
      "HubSpot signs the address too: it must be called by a host of the site.",
    ],
  },
} as const satisfies Kind;
