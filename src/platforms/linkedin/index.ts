// LinkedIn Conversions API. What other platforms call an event name is a conversion rule here, made in Campaign Manager
// beforehand: a connection says which rule each event counts for.

import { hash } from "node:crypto";
import { isIPv4 } from "node:net";
import { isCurrency } from "../../kernel/currency.ts";
import type { Conversion } from "../../kernel/event.ts";
import { dedupId, dedupSetting } from "../shared/dedup.ts";
import {
  amountText,
  digits,
  idOf,
  isUnnamedRefund,
  known,
  oneOf,
  tokenCheck,
  uuidForm,
} from "../shared/eventBody.ts";
import { readLinkedInAnswer } from "./response.ts";
import { linkedinAnswers, linkedinExamples } from "./examples.ts";
import { linkedinGuide } from "./guide.ts";
import { mappedFields, type Field } from "../shared/mapping.ts";
import { eventNameOf, type EventNames } from "../shared/eventNames.ts";
import { bearer, tokenSettings } from "../shared/oauth.ts";
import type { ConnectionSettings, Platform, PlatformRequest } from "../platform.ts";
import { at, listAt, parseJson, textAt } from "../shared/readResponse.ts";

/** A month, as LinkedIn versions its API; served for about a year. Checked 2026-11-15. */
const apiVersion = "202609";
const base = "https://api.linkedin.com/rest";
const ruleUrn = "urn:lla:llaPartnerConversion:";

const ruleCheck = (value: string) =>
  /^(?:urn:lla:llaPartnerConversion:)?\d{1,20}$/.test(value)
    ? null
    : "must be the id of a conversion rule, digits";

const events: EventNames = { standard: {}, others: "not sent", check: ruleCheck };

const fields = [
  {
    name: "conversionValue.amount",
    help: "The value in place of the event's own: a fixed one for leads, for example.",
    type: "number",
  },
  {
    name: "conversionValue.currencyCode",
    help: "The currency in place of the event's own, three letters.",
    type: "text",
  },
] as const satisfies readonly Field[];

export const linkedin = {
  id: "linkedin",
  name: "LinkedIn",
  description: "Counts conversions for rules of LinkedIn Campaign Manager, through the Conversions API.",
  docs: {
    url: "https://learn.microsoft.com/en-us/linkedin/marketing/conversions/conversions-overview",
    checked: "2026-11-15",
  },
  guide: linkedinGuide,
  oauth: {
    authorizeUrl: "https://www.linkedin.com/oauth/v2/authorization",
    tokenUrl: "https://www.linkedin.com/oauth/v2/accessToken",
    scopes: ["rw_conversions", "r_ads"],
    pkce: false,
    clientAuth: "body",
    // A refresh does not prolong the refresh token: after a year people sign in again.
    refresh: "keeps",
  },
  settings: [
    {
      name: "access_token",
      label: "Access token",
      help: "From Campaign Manager (a source of the kind Direct API), or filled by signing in.",
      required: true,
      secret: true,
      check: tokenCheck,
    },
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
      help: "The rule for events that have none of their own. Without it only events with a rule of their own are sent.",
      check: ruleCheck,
    },
    dedupSetting,
    {
      name: "ip_address",
      label: "IP address",
      help: "Whether the visitor's IPv4 address goes along as a match key: no, plain or sha256. Not every account may use it.",
      default: "no",
      check: oneOf(["no", "plain", "sha256"]),
    },
    {
      name: "api_version",
      label: "API version",
      help: "The year and month of the LinkedIn API version. Change it only when LinkedIn has retired the one that is set.",
      default: apiVersion,
      check: (value) =>
        /^20\d\d(?:0[1-9]|1[0-2])$/.test(value) ? null : "must be a year and a month, like 202609",
    },
  ],
  pickers: [
    {
      setting: "ad_account_id",
      needs: ["access_token"],
      toRequest: (settings) => listing("adAccounts?q=search", settings),
      read: (body) => listAt(parseJson(body), "elements").flatMap((one) => choice(textAt(one, "id"), one)),
    },
    {
      setting: "default_rule",
      needs: ["access_token", "ad_account_id"],
      toRequest: (settings) =>
        listing(
          `conversions?q=account&account=urn%3Ali%3AsponsoredAccount%3A${settings.ad_account_id ?? ""}&start=0&count=100`,
          settings,
        ),
      read: (body) =>
        listAt(parseJson(body), "elements")
          .filter(
            (one) => textAt(one, "conversionMethod") === "CONVERSIONS_API" && at(one, "enabled") !== false,
          )
          .flatMap((one) => choice(textAt(one, "id"), one)),
    },
  ],
  account: (settings) => settings.ad_account_id ?? "",
  ids: ["li_fat_id"],
  events,
  fields,
  maxAgeDays: 90,
  // LinkedIn takes 5000, but its answer has an element for each and would not fit into what is read of answers.
  batch: 1000,
  lanes: 4,
  quota: { requests: 300, seconds: 60 },
  // A rule that is wrong has the whole request refused: it must stop no other rule's events.
  group: (conversion, settings) => ruleOf(conversion, settings) ?? "",
  unfit(conversion, settings) {
    if (conversion.mode === "test") return "LinkedIn has no test mode";
    if (conversion.consent === "denied") return "opted out";
    if (isUnnamedRefund(conversion, settings)) return "LinkedIn has no refunds";
    if (ruleOf(conversion, settings) === null)
      return `no conversion rule for the event ${conversion.name.trim()}`;
    return userIds(conversion, settings).length ? null : "no email or li_fat_id";
  },
  toRequest: (conversions, settings, now) => ({
    method: "POST",
    url: `${base}/conversionEvents`,
    headers: {
      "content-type": "application/json",
      ...apiHeaders(settings),
      "x-restli-method": "BATCH_CREATE",
    },
    body: JSON.stringify({
      elements: conversions.map((conversion) => elementOf(conversion, settings, now)),
    }),
  }),
  readResponse: (response, conversions, settings) =>
    readLinkedInAnswer(response, conversions, settings, (one) => ruleOf(one, settings)),
  examples: linkedinExamples,
  answers: linkedinAnswers,
} satisfies Platform;

function apiHeaders(settings: ConnectionSettings): Record<string, string> {
  return {
    ...bearer(settings),
    "linkedin-version": settings.api_version ?? apiVersion,
    "x-restli-protocol-version": "2.0.0",
  };
}

const listing = (path: string, settings: ConnectionSettings): PlatformRequest => ({
  method: "GET",
  url: `${base}/${path}`,
  headers: apiHeaders(settings),
  body: "",
});

function choice(id: string, one: unknown): { value: string; label: string }[] {
  const details = [textAt(one, "name") || id, textAt(one, "type")].filter(Boolean);
  return id ? [{ value: id, label: details.join(", ") }] : [];
}

function ruleOf(conversion: Conversion, settings: ConnectionSettings): string | null {
  const rule = eventNameOf(conversion, settings, events) ?? settings.default_rule;
  return rule ? `${ruleUrn}${rule.replace(ruleUrn, "")}` : null;
}

function elementOf(
  conversion: Conversion,
  settings: ConnectionSettings,
  now: number,
): Record<string, unknown> {
  return known({
    conversion: ruleOf(conversion, settings),
    // Senders' clocks may run ahead; milliseconds, where seconds would be a day in 1970.
    conversionHappenedAt: Math.floor(Math.min(conversion.time, now)),
    eventId: dedupId(conversion, settings),
    conversionValue: valueOf(conversion, settings),
    // The list must be there, also when it is empty.
    user: { userIds: userIds(conversion, settings) },
  });
}

function userIds(
  conversion: Conversion,
  settings: ConnectionSettings,
): { idType: string; idValue: string }[] {
  if (conversion.consent === "denied") return [];
  const { person, clickIds, browserIds, browser } = conversion;
  const click = idOf(clickIds.li_fat_id?.value, uuidForm) ?? idOf(browserIds.li_fat_id, uuidForm);
  const address = isIPv4(browser?.address ?? "") ? (browser?.address as string) : "";
  const form = settings.ip_address ?? "no";
  return [
    { idType: "SHA256_EMAIL", idValue: person?.emailSha256 ?? "" },
    { idType: "LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID", idValue: click ?? "" },
    { idType: "PLAINTEXT_IP_ADDRESS", idValue: form === "plain" ? address : "" },
    { idType: "SHA256_IP_ADDRESS", idValue: form === "sha256" && address ? hash("sha256", address) : "" },
  ].filter(({ idValue }) => idValue !== "");
}

/** The amount is a text: as a number it is refused. */
function valueOf(conversion: Conversion, settings: ConnectionSettings): Record<string, string> | undefined {
  const mapped = mappedFields(conversion, settings, fields);
  const value = mapped.get("conversionValue.amount") ?? conversion.value;
  const code = String(mapped.get("conversionValue.currencyCode") ?? "").toUpperCase();
  const currencyCode = isCurrency(code) ? code : conversion.currency;
  if (typeof value !== "number" || value < 0) return undefined;
  return { currencyCode, amount: amountText(value, currencyCode) };
}
