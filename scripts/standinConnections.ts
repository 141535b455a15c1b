// Settings that connect each platform to its stand-in, for the demo and for the tests of platforms against stand-ins.

import { standins, type StandinId } from "../standins/index.ts";

type Settings = Readonly<Record<string, string>>;

/** Returns a value that a stand-in accepts, by its name: a token, the id of a pixel. */
export function knownAt(id: StandinId, name: string): string {
  const value = standins.find((standin) => standin.id === id)?.known[name];
  if (typeof value !== "string") throw new Error(`the stand-in ${id} has no value ${name}`);
  return value;
}

/** Returns the OAuth client that a stand-in accepts, which it has under its own names. */
export function standinClient(id: StandinId): { clientId: string; clientSecret: string } {
  const own = standins.find((standin) => standin.id === id)?.known ?? {};
  const [idName, secretName] = "appId" in own ? ["appId", "appSecret"] : ["clientId", "clientSecret"];
  return { clientId: knownAt(id, idName), clientSecret: knownAt(id, secretName) };
}

/** Settings of a connection that the stand-in accepts. */
export const standinConnections: Readonly<Record<StandinId, Settings>> = {
  google_ads: {
    customer_id: knownAt("google_ads", "customerId"),
    login_customer_id: knownAt("google_ads", "managerId"),
    conversion_action: knownAt("google_ads", "conversionActionId"),
    custom_variable_1: "campaign",
    custom_variable_2: "plan",
    custom_variable_3: "region",
    developer_token: knownAt("google_ads", "developerToken"),
    access_token: knownAt("google_ads", "accessToken"),
  },
  microsoft_ads: {
    tag_id: knownAt("microsoft_ads", "uetTagId"),
    tag_token: knownAt("microsoft_ads", "tagToken"),
    access_token: knownAt("microsoft_ads", "accessToken"),
    developer_token: knownAt("microsoft_ads", "developerToken"),
    account_id: knownAt("microsoft_ads", "accountId"),
    customer_id: knownAt("microsoft_ads", "customerId"),
    offline_goal: knownAt("microsoft_ads", "offlineGoal"),
  },
  ga4: { measurement_id: knownAt("ga4", "measurementId"), api_secret: knownAt("ga4", "apiSecret") },
  segment: { source: "acme/website", write_key: knownAt("segment", "writeKey") },
  meta: {
    pixel_id: knownAt("meta", "pixelId"),
    access_token: knownAt("meta", "accessToken"),
    test_event_code: knownAt("meta", "testEventCode"),
    ad_account_id: knownAt("meta", "adAccountId"),
  },
  tiktok: {
    pixel_code: knownAt("tiktok", "pixelCode"),
    access_token: knownAt("tiktok", "accessToken"),
    test_event_code: knownAt("tiktok", "testEventCode"),
    advertiser_id: knownAt("tiktok", "advertiserId"),
  },
  linkedin: {
    ad_account_id: knownAt("linkedin", "accountId"),
    default_rule: knownAt("linkedin", "purchaseRuleId"),
    access_token: knownAt("linkedin", "accessToken"),
  },
  pinterest: {
    ad_account_id: knownAt("pinterest", "adAccountId"),
    access_token: knownAt("pinterest", "conversionToken"),
  },
  snapchat: {
    pixel_id: knownAt("snapchat", "pixelId"),
    access_token: knownAt("snapchat", "accessToken"),
    ad_account_id: knownAt("snapchat", "adAccountId"),
  },
  reddit: {
    pixel_id: knownAt("reddit", "pixelId"),
    access_token: knownAt("reddit", "conversionToken"),
    ad_account_id: knownAt("reddit", "adAccountId"),
    test_id: knownAt("reddit", "testId"),
  },
  x: {
    pixel_id: knownAt("x", "pixelId"),
    access_token: knownAt("x", "pixelToken"),
    default_event: knownAt("x", "purchaseEventId"),
  },
  openai_ads: {
    pixel_id: knownAt("openai_ads", "pixelId"),
    api_key: knownAt("openai_ads", "apiKey"),
  },
  nextdoor: {
    data_source_id: knownAt("nextdoor", "dataSourceId"),
    access_token: knownAt("nextdoor", "accessToken"),
  },
  axon: {
    event_key: knownAt("axon", "eventKey"),
    api_key: knownAt("axon", "apiKey"),
    default_event: "generate_lead",
  },
  spotify: {
    connection_id: knownAt("spotify", "connectionId"),
    access_token: knownAt("spotify", "accessToken"),
  },
  quora: {
    account_id: knownAt("quora", "accountId"),
    access_token: knownAt("quora", "accessToken"),
    currency: "EUR",
  },
  taboola: { account_id: knownAt("taboola", "accountId") },
  outbrain: {},
  amazon_ads: {
    advertiser_id: knownAt("amazon_ads", "advertiserId"),
    client_id: knownAt("amazon_ads", "clientId"),
    access_token: knownAt("amazon_ads", "accessToken"),
    country: "DE",
  },
  cm360: {
    floodlight_configuration: knownAt("cm360", "configurationId"),
    activity: knownAt("cm360", "activityId"),
    access_token: knownAt("cm360", "accessToken"),
  },
  klaviyo: { account_id: knownAt("klaviyo", "accountId"), api_key: knownAt("klaviyo", "apiKey") },
  hubspot: {
    hub_id: knownAt("hubspot", "hubId"),
    access_token: knownAt("hubspot", "accessToken"),
    default_event: knownAt("hubspot", "event"),
    value_property: "value",
    currency_property: "currency",
    order_property: "order_id",
    email_sha256_property: "email_sha256",
  },
};

/** The setting of the token, with a token that the stand-in no longer accepts. */
export const revokedTokens: Readonly<Record<StandinId, Settings>> = {
  google_ads: { access_token: knownAt("google_ads", "revokedToken") },
  microsoft_ads: { tag_token: knownAt("microsoft_ads", "revokedTagToken") },
  ga4: { api_secret: knownAt("ga4", "revokedSecret") },
  segment: { write_key: knownAt("segment", "revokedWriteKey") },
  meta: { access_token: knownAt("meta", "revokedToken") },
  tiktok: { access_token: knownAt("tiktok", "revokedToken") },
  linkedin: { access_token: knownAt("linkedin", "revokedToken") },
  pinterest: { access_token: knownAt("pinterest", "revokedToken") },
  snapchat: { access_token: knownAt("snapchat", "revokedToken") },
  reddit: { access_token: knownAt("reddit", "revokedToken") },
  x: { access_token: knownAt("x", "revokedPixelToken") },
  openai_ads: { api_key: knownAt("openai_ads", "revokedKey") },
  nextdoor: { access_token: knownAt("nextdoor", "revokedToken") },
  axon: { api_key: knownAt("axon", "revokedKey") },
  spotify: { access_token: knownAt("spotify", "revokedToken") },
  quora: { access_token: knownAt("quora", "revokedToken") },
  taboola: {},
  outbrain: {},
  amazon_ads: { access_token: knownAt("amazon_ads", "revokedToken") },
  cm360: { access_token: knownAt("cm360", "revokedToken") },
  klaviyo: { api_key: knownAt("klaviyo", "revokedKey") },
  hubspot: { access_token: knownAt("hubspot", "revokedToken") },
};
