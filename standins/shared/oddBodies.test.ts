// Bodies that no client should send: a stand-in answers each one as its platform would, and never with a server error.

import { afterAll, expect, test } from "vitest";
import { ga4 } from "../ga4/index.ts";
import { googleAds } from "../google_ads/index.ts";
import { microsoftAds } from "../microsoft_ads/index.ts";
import { basicAuth, bearer, post } from "./testCalls.ts";
import { segment } from "../segment/index.ts";
import { startStandins } from "./start.ts";

const running = await startStandins({ only: ["google_ads", "microsoft_ads", "ga4", "segment"] });
afterAll(() => running.close());

const microsoft = {
  ...bearer(microsoftAds.known.accessToken),
  developertoken: microsoftAds.known.developerToken,
  customerid: microsoftAds.known.customerId,
  customeraccountid: microsoftAds.known.accountId,
};
const endpoints: [id: "google_ads" | "microsoft_ads" | "ga4" | "segment", path: string, headers: Record<string, string>][] = [
  ["google_ads", "/v1/events:ingest", bearer(googleAds.known.accessToken)],
  [
    "google_ads",
    `/v25/customers/${googleAds.known.directCustomerId}/googleAds:searchStream`,
    { ...bearer(googleAds.known.accessToken), "developer-token": googleAds.known.developerToken },
  ],
  ["google_ads", "/token", {}],
  ["microsoft_ads", `/v1/${microsoftAds.known.uetTagId}/events`, bearer(microsoftAds.known.tagToken)],
  ["microsoft_ads", "/CampaignManagement/v13/OfflineConversions/Apply", microsoft],
  ["microsoft_ads", "/CampaignManagement/v13/UetTagAuthKey/Query", microsoft],
  ["microsoft_ads", "/CampaignManagement/v13/ConversionGoals/QueryByIds", microsoft],
  ["microsoft_ads", "/CustomerManagement/v13/Accounts/Search", microsoft],
  ["ga4", `/mp/collect?measurement_id=${ga4.known.measurementId}&api_secret=${ga4.known.apiSecret}`, {}],
  ["ga4", "/debug/mp/collect", {}],
  ["segment", "/v1/batch", basicAuth(segment.known.writeKey, "")],
  ["segment", "/v1/track", basicAuth(segment.known.writeKey, "")],
  ["segment", "/rudder/v1/batch", basicAuth(segment.known.rudderWriteKey, "")],
  ["segment", "/rudder/v1/batch", { authorization: "Basic JQ==" }],
];

const lists = ["data", "events", "destinations", "batch", "OfflineConversions", "Predicates", "TagIds"];
const inLists = (value: unknown) => Object.fromEntries(lists.map((name) => [name, value]));
const bodies: unknown[] = [
  "",
  "{",
  "null",
  "[]",
  "5",
  '"text"',
  "{}",
  ...[null, 5, "text", {}, [], [null], [5], ["text"], [[]], [{}], [{ userData: null }], [{ params: [] }]].map(inLists),
  { ...inLists([{ name: "x", params: null, userData: 5, context: 5, properties: [], integrations: [] }]) },
  { ...inLists([{ userData: { userIdentifiers: [null] }, adIdentifiers: [] }]), PageInfo: {}, query: {} },
  { dataProvider: "x", data: [{ eventType: {}, eventTime: Infinity, userData: { em: {} } }] },
  JSON.parse('{"__proto__":{"x":1},"constructor":{"y":2}}'),
];

test.each(endpoints)("%s%s answers every odd body and accepts nothing", async (id, path, headers) => {
  for (const body of bodies) {
    const { status, text } = await post(`${running.origins[id]}${path}`, body, headers);
    expect(status, `${JSON.stringify(body)} → ${text}`).toBeLessThan(500);
  }
  expect(running.of(id).accepted).toEqual([]);
});
