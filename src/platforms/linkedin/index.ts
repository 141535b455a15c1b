// LinkedIn Conversions API. In place of event names it has conversion rules, created in Campaign Manager beforehand: a
// connection sets the rule of each event.

import type { ConnectionSettings, Platform } from "../platform.ts";
import { readVerification } from "../shared/verify.ts";
import { at, listAt, parseJson, textAt } from "../shared/json.ts";
import { dedupSetting, digits, getRequest, oneOf, requiredSecret, tokenSettings } from "../shared/settings.ts";
import { targetsCheck } from "../shared/targets.ts";
import { apiHeaders, apiVersion, base, events, fields, ruleId, rulesOf, toRequest, userOf } from "./request.ts";
import { readResponse } from "./response.ts";

const listRequest = (path: string, settings: ConnectionSettings) => getRequest(`${base}/${path}`, apiHeaders(settings));

/** LinkedIn lists a hundred rules at a time. */
const listRules = (settings: ConnectionSettings) =>
  listRequest(
    `conversions?q=account&account=urn%3Ali%3AsponsoredAccount%3A${settings.ad_account_id ?? ""}&start=0&count=100`,
    settings,
  );
const usableRules = (body: unknown) =>
  listAt(body, "elements").filter((one) => textAt(one, "conversionMethod") === "CONVERSIONS_API" && at(one, "enabled") !== false);

/** The rules of a connection: of all events, and of single ones. */
const chosenRules = (settings: ConnectionSettings) =>
  Object.entries(settings)
    .filter(([name]) => name === "default_rule" || name.startsWith("event."))
    .flatMap(([, value]) => value.split(","))
    .map((rule) => ruleId(rule.trim()))
    .filter(Boolean);

function choice(id: string, one: unknown): { value: string; label: string }[] {
  const details = [textAt(one, "name") || id, textAt(one, "type")].filter(Boolean);
  return id ? [{ value: id, label: details.join(", ") }] : [];
}

export const linkedin = {
  id: "linkedin",
  name: "LinkedIn",
  description: "Counts conversions for rules of LinkedIn Campaign Manager, through the Conversions API.",
  docs: {
    url: "https://learn.microsoft.com/en-us/linkedin/marketing/conversions/conversions-overview",
    checked: "2026-11-15",
  },
  guide: {
    credentials: [
      "In Campaign Manager, open Measurement and then Signals manager, and add a Direct API source.",
      "Generate an access token there and paste it here; or sign in, if your operator has set up a LinkedIn app that is approved for the Conversions API.",
      "Create one conversion rule for each event that should count, with that source, and add it to your campaigns.",
      "Enter the id of each rule: event.purchase=…, event.lead=…, or one default rule for all events.",
      "The number of the ad account is in Campaign Manager's URL and next to the account's name.",
    ],
    sends: [
      ["conversion", "the rule that the connection has for the event; one element for each, where it has several"],
      ["conversionHappenedAt", "the time of the conversion, in milliseconds"],
      ["eventId", "the event id, or the order id if the connection is set so"],
      ["conversionValue", "value and currency, both or neither"],
      ["user.userIds SHA256_EMAIL", "the hashed email"],
      ["user.userIds LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID", "li_fat_id of the click, else of the cookie"],
      ["user.lead, externalIds", "mapped fields: a response to a lead gen form, and your own id of the person"],
      ["user.userIds PLAINTEXT_IP_ADDRESS or SHA256_IP_ADDRESS", "the visit's IPv4 address, only if switched on"],
    ],
    notSent: [
      "Names: LinkedIn accepts them in plain text only, and the relay stores only hashes. Company, title and country can only be sent with names.",
      "Phone, user agent, page, UTM fields and items: LinkedIn has no field for them.",
      "Order ids have no field of their own; they can serve as the event id.",
      "A li_fat_id that is not a UUID.",
    ],
    limits: [
      "LinkedIn accepts 5000 events in a request; fewer are sent, so that its response can be read whole. One invalid event fails the whole request; the others are resent without it.",
      "Sources say 300 or 600 requests a minute; the lower limit is used.",
      "A rule that LinkedIn does not know, that belongs to another account or is fed by the Insight Tag stops only its own events: they wait, and are retried as soon as event.NAME or default_rule is corrected (until then every hour at first, later once a day). An event with several rules waits until all of them are right.",
      "LinkedIn retires each API version after about a year. The connection then waits until another version is set.",
      "A rule that no campaign uses counts nothing.",
      "Reports may be delayed by up to three days.",
    ],
  },
  oauth: {
    authorizeUrl: "https://www.linkedin.com/oauth/v2/authorization",
    tokenUrl: "https://www.linkedin.com/oauth/v2/accessToken",
    scopes: ["rw_conversions", "r_ads"],
    pkce: false,
    clientAuth: "body",
    // A refresh does not extend the refresh token: after a year people must sign in again.
    refresh: "keeps",
  },
  settings: [
    requiredSecret("access_token", "Access token", "From Campaign Manager (a Direct API source), or filled by signing in."),
    ...tokenSettings,
    {
      name: "ad_account_id",
      label: "Ad account",
      help: "The number of the ad account in Campaign Manager.",
      required: true,
      check: digits(1, 20),
    },
    {
      name: "default_rule",
      label: "Default conversion rule",
      help: "The rule for events without their own; several are separated by commas. Without it, only events with their own rule are sent.",
      check: targetsCheck(events),
    },
    dedupSetting,
    {
      name: "ip_address",
      label: "IP address",
      help: "Sends the visitor's IPv4 address as a match key: no, plain or sha256. Not every account may use it.",
      default: "no",
      ...oneOf(["no", "plain", "sha256"]),
    },
    {
      name: "api_version",
      label: "API version",
      help: "The year and month of the LinkedIn API version. Change it only when LinkedIn has retired the one that is set.",
      default: apiVersion,
      check: (value) => (/^20\d\d(?:0[1-9]|1[0-2])$/.test(value) ? null : "must be a year and a month, like 202609"),
    },
  ],
  pickers: [
    {
      setting: "ad_account_id",
      needs: ["access_token"],
      toRequest: (settings) => listRequest("adAccounts?q=search", settings),
      read: (body) => listAt(parseJson(body), "elements").flatMap((one) => choice(textAt(one, "id"), one)),
    },
    {
      setting: "default_rule",
      needs: ["access_token", "ad_account_id"],
      toRequest: listRules,
      read: (body) => usableRules(parseJson(body)).flatMap((one) => choice(textAt(one, "id"), one)),
    },
  ],
  account: (settings) => settings.ad_account_id ?? "",
  ids: ["li_fat_id"],
  events,
  fields,
  maxAgeDays: 90,
  // LinkedIn accepts 5000, but its response has an element for each and would exceed the size that is read.
  batch: 1000,
  lanes: 4,
  quota: { requests: 300, seconds: 60 },
  // A wrong rule fails the whole request, so only events with the same rules share one.
  group: (conversion, settings) => rulesOf(conversion, settings).join(),
  size: (conversion, settings) => rulesOf(conversion, settings).length,
  skips: ["no_test_mode", "opted_out", "no_refunds", "no_target", "no_match_key"],
  matchKeys: {
    names: "email, li_fat_id or lead",
    has(conversion, settings) {
      const { userIds, lead } = userOf(conversion, settings);
      return userIds.length > 0 || lead !== undefined;
    },
  },
  toRequest,
  readResponse,
  verify: (settings) =>
    readVerification(
      listRules(settings),
      (body) => {
        const known = new Set(usableRules(body).map((one) => textAt(one, "id")));
        return chosenRules(settings).every((rule) => known.has(rule));
      },
      {
        otherwise: "a chosen conversion rule is not among the first 100 enabled Conversions API rules of the ad account",
      },
    ),
} satisfies Platform;
