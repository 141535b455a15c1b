// Builds platform requests from inbound events with the platforms' own libraries, as a site without a relay would. Each stops
// at the bytes of the request; nothing is sent.

import { hash } from "node:crypto";
import type { eventFields } from "./support/input.ts";
import { load } from "./support/peerPackages.ts";

/** All libraries get the same fields of the inbound request and of the browser. */
export type Given = ReturnType<typeof eventFields>;
export type Visited = {
  fbc: string;
  fbp: string;
  page: string;
  referrer: string;
  address: string;
  userAgent: string;
  clickIds: Record<string, string>;
  utm: Record<string, string>;
};

export type Sdk = {
  name: string;
  /** The platform of ours that builds the same request. */
  platform: "meta" | "segment";
  does: string;
  /** False when the caller hashes email and phone. */
  hashes: boolean;
  /** Takes plain contact data if it hashes, and hashed data in any case. */
  build: (given: Given, visited: Visited) => unknown;
};

const sha256 = (text: string) => hash("sha256", text.trim().toLowerCase());

/** As a caller hashes contact data by hand: without the forms that differ between platforms. */
export const hashContact = (given: Given): Given => ({
  ...given,
  email: sha256(given.email),
  phone: sha256(given.phone.slice(1)),
  firstName: sha256(given.firstName),
  lastName: sha256(given.lastName),
});
/** What Segment and RudderStack receive of it. */
export const hashTraits = (given: Given): Given => ({
  ...given,
  email: sha256(given.email),
  phone: sha256(given.phone),
});

const seconds = () => Math.floor(Date.now() / 1000);

/* oxlint-disable typescript/no-explicit-any -- packages without types here */
function facebook(): Sdk {
  const sdk: any = load("facebook-nodejs-business-sdk");
  let body = "";
  const service = {
    executeRequest: async (_url: string, _method: string, _headers: unknown, params: unknown) => {
      body = JSON.stringify(params);
      return { events_received: 1, messages: [], fbtrace_id: body.length };
    },
  };
  return {
    name: "facebook-nodejs-business-sdk",
    platform: "meta",
    does: "normalises contact data and hashes it unless it is hashed, builds its models, stringifies; its HTTP service is replaced",
    hashes: true,
    build(given, visited) {
      const user = new sdk.UserData()
        .setEmail(given.email)
        .setPhone(given.phone)
        .setFirstName(given.firstName)
        .setLastName(given.lastName)
        .setClientIpAddress(visited.address)
        .setClientUserAgent(visited.userAgent)
        .setFbc(visited.fbc)
        .setFbp(visited.fbp);
      const custom = new sdk.CustomData().setValue(given.value).setCurrency(given.currency).setOrderId(given.orderId);
      const event = new sdk.ServerEvent()
        .setEventName("Purchase")
        .setEventTime(seconds())
        .setEventId(given.orderId)
        .setUserData(user)
        .setCustomData(custom)
        .setEventSourceUrl(visited.page)
        .setActionSource("website");
      return new sdk.EventRequest("EAAexample", "123456789012345").setEvents([event]).setHttpService(service).execute();
    },
  };
}

/** The content of our request. Segment and RudderStack pass it through and hash nothing. */
const tracked = (given: Given, visited: Visited) => ({
  event: "Order Completed",
  messageId: given.orderId,
  anonymousId: given.email.slice(0, 32),
  properties: {
    event_id: given.orderId,
    order_id: given.orderId,
    total: given.value,
    revenue: given.value,
    currency: given.currency,
    ...visited.clickIds,
  },
  context: {
    campaign: {
      source: visited.utm.utm_source,
      medium: visited.utm.utm_medium,
      name: visited.utm.utm_campaign,
      content: visited.utm.utm_content,
    },
    traits: { email_sha256: given.email, phone_sha256: given.phone },
    ip: visited.address,
    userAgent: visited.userAgent,
    page: { url: visited.page, referrer: visited.referrer },
  },
});

function segment(): Sdk {
  const { Analytics } = load("@segment/analytics-node");
  let made: (request: unknown) => void = () => {};
  const httpClient = {
    async makeRequest(request: unknown) {
      made(request);
      return { status: 200, statusText: "OK", headers: {} };
    },
  };
  const analytics = new Analytics({ writeKey: "example", flushAt: 1, httpClient });
  return {
    name: "@segment/analytics-node",
    platform: "segment",
    does: "checks, adds context, batches, stringifies; its HTTP client is replaced. The caller hashes",
    hashes: false,
    // The library delays its callback, so the request itself resolves the promise.
    build: (given, visited) =>
      new Promise((resolve) => {
        made = resolve;
        analytics.track(tracked(given, visited));
      }),
  };
}

function rudder(): Sdk {
  const Analytics = load("@rudderstack/rudder-sdk-node");
  const unused = { use() {} };
  const axiosInstance = {
    interceptors: { request: unused, response: unused },
    post: async (_url: string, data: unknown) => ({ status: 200, data: JSON.stringify(data).length }),
  };
  const analytics = new Analytics("example", {
    dataPlaneUrl: "http://127.0.0.1",
    flushAt: 1,
    gzip: false,
    axiosInstance,
    logLevel: "error",
  });
  return {
    name: "@rudderstack/rudder-sdk-node",
    platform: "segment",
    does: "checks, adds context, batches, stringifies; its HTTP client is replaced. The caller hashes",
    hashes: false,
    build: (given, visited) => new Promise((resolve) => analytics.track(tracked(given, visited), resolve)),
  };
}

export const createSdks = (): Sdk[] => [facebook(), segment(), rudder()];
