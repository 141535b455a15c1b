// The list of events and the trace of one event.

import { section } from "./catalogue.ts";
import { plural } from "./plural.ts";

export const eventsText = section("events", {
  title: "Events",
  about: "Events sent by your servers and their delivery status. Open one to see its full trace.",
  search: "Search events",
  status: "Status",
  statuses: { all: "All statuses", accepted: "Accepted", filtered: "Filtered" },
  columns: {
    event: "Event",
    value: "Value",
    orderId: "Order ID",
    received: "Received",
    match: "Match",
  },
  filters: {
    names: {
      event: "Event",
      clickId: "Click ID",
      source: "Source",
      campaign: "Campaign",
      minValue: "Min. value",
      maxValue: "Max. value",
      currency: "Currency",
      confirmation: "Confirmation",
    },
    platform: "Platform",
    allPlatforms: "All platforms",
    any: "Any",
    more: "More filters",
    clear: "Clear filters",
    noClickId: "No click ID",
    remove: (filter: string) => `${filter}. Remove this filter`,
  },
  showNew: (count: number) => plural(count, { one: "Show # new event", other: "Show # new events" }),
  showAll: "Show all events",
  nothingFound: {
    title: "No matching events",
    search: "Enter the complete order ID, event ID or email. Partial matches are not found.",
    filter: "Try a longer period or another status.",
  },
  nothingYet: {
    title: "No events yet",
    about: "Events that your servers send to this site appear here, with their delivery status.",
    createKey: "Create an inbound key",
    import: "Import past conversions",
    samples: "Send a first event with one of your inbound keys:",
  },
  copy: {
    orderId: "Copy order ID",
    keyId: "Copy key ID",
    eventId: "Copy event ID",
    platformEventId: "Copy platform event ID",
    email: "Copy hashed email",
    value: (name: string) => `Copy ${name}`,
  },
  trace: {
    ofOrder: "All events of this order",
    ofPerson: "All events of this person",
    notFound: "Event not found",
    aboutNotFound:
      "It may belong to another site, or be older than this site keeps events. The ID was <id/>.",
  },
  received: {
    key: "Inbound key",
    happened: "Happened",
    platformEventId: "Platform event ID",
    eventId: "Event ID",
    test: "Sent with a test key: platforms receive it in their own test mode. Test events are never counted.",
  },
  items: { title: "Items", item: "Item", quantity: "Quantity", price: "Price" },
  duplicates: {
    title: "Duplicate check",
    state: "not a duplicate",
    withOrder: "No earlier event has the same name, order ID and email.",
    withoutOrder: "It has no order ID. No earlier event has the same name, email, value, currency and time.",
    about: "Duplicates are acknowledged and counted, but not sent again.",
    settings: "Deduplication settings",
  },
  filter: {
    title: "Traffic filter",
    passed: "passed",
    noSignals: "No bot signals found.",
    released: "Released <time/> and then delivered.",
    held: "It is stored, but was not sent to any platform.",
    settings: "Traffic filters",
    release: "Release",
    question: "Release this event?",
    consequence:
      "This marks it as not a bot. It is sent to every connected platform now and counts as a conversion. Events of this person are no longer filtered. Sent conversions cannot be recalled.",
    done: (deliveries: number) =>
      plural(deliveries, {
        one: "Released: # delivery will be sent.",
        other: "Released: # deliveries will be sent.",
      }),
  },
  identity: {
    title: "Identity",
    withClickId: "found, with click ID",
    withoutClickId: "found, no click ID",
    aboutWithClickId: "The tag has seen this person before. These IDs identify the ad click:",
    aboutWithoutClickId: "The tag has seen this person before, but without a recent ad click.",
    aboutNone: "The tag has not seen this person. The event is sent with hashed contact data only.",
    aboutUnreadable:
      "The identity record could not be read at that moment. The event was sent without click IDs.",
    checkTag: "Check the tag",
    clicked: (age: string) => `clicked ${age} before`,
    page: "Page",
    referrer: "Referrer",
    email: "Email, hashed",
    contact: "Contact data",
    allHashed: (names: string) => `${names}, all hashed`,
  },
  /** The contact data of an event, by field. */
  contact: {
    emailSha256: "email",
    phoneSha256: "phone",
    firstNameSha256: "first name",
    lastNameSha256: "last name",
  },
  consent: {
    title: "Consent",
    settings: "Consent & privacy",
    states: {
      granted: "Consent granted: identifiers are used.",
      denied: "Consent denied.",
      unknown: "No decision recorded.",
      unreadable: "The decision could not be read, which counts as denied.",
    },
    optOut: "This site uses identifiers unless a person opts out.",
    withheld: (reason: string) =>
      `Click IDs, browser IDs and contact data were withheld (${reason}), and platforms were informed.`,
  },
  platforms: {
    title: "Platforms",
    held: "Filtered events are not sent to platforms.",
    noneConnected: "No platform was connected when it was received.",
    connect: "Connect one",
    nextAttempt: "Next attempt <time/>",
    noAttempt: "No attempt yet.",
    noRequest: "No request was made.",
    attempt: (number: number) => `Attempt ${number}`,
    noResponse: "no response",
    request: "Request",
    response: "Response",
    aboutRequest: "Request. Secrets are redacted.",
    aboutBatch: (events: number) =>
      plural(events, { other: "Request, one of # events in it. Secrets are redacted." }),
    noResponseSentence: "No response.",
    emptyResponse: "Empty response.",
  },
  replay: {
    label: "Replay",
    question: (platform: string) => `Replay it to ${platform}?`,
    done: (platform: string) => `Replayed to ${platform}.`,
    nothing: "Nothing was replayed.",
    wouldDoNothing: (reason: string) => `Nothing would be sent: ${reason}.`,
    hasChanged: "its state has changed in the meantime",
    now: "One delivery is sent now.",
    whenActive: (state: string) =>
      `One delivery is sent once the connection is active again. Its state is: ${state}.`,
    duplicate: (platform: string) =>
      `${platform} already has it. The platform event ID is the same, so it can recognise the duplicate.`,
    sameId: "It has the same platform event ID as before, so it is counted once.",
  },
});
