// Translates conversions to the elements of LinkedIn's Conversions API.

import { hash } from "node:crypto";
import { isIPv4 } from "node:net";
import { isCurrency } from "../../kernel/currency.ts";
import type { Conversion } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames, Field, Platform } from "../platform.ts";
import { eventNamesOf } from "../shared/eventNames.ts";
import { amountField, applyMapping, textField } from "../shared/mapping.ts";
import { at, textAt } from "../shared/json.ts";
import { bearer, dedupId } from "../shared/settings.ts";
import { type Target, withTargets } from "../shared/targets.ts";
import { amountText, type Body, uuidPattern, validId } from "../shared/values.ts";

/** LinkedIn versions its API by month and serves each for about a year. Checked 2026-11-15. */
export const apiVersion = "202609";
export const base = "https://api.linkedin.com/rest";
const ruleUrn = "urn:lla:llaPartnerConversion:";
/** A connection may have the rule's number or its whole URN. */
export const ruleId = (rule: string) => rule.replace(ruleUrn, "");

const checkRule = (value: string) =>
  /^(?:urn:lla:llaPartnerConversion:)?\d{1,20}$/.test(value) ? null : "must be the id of a conversion rule, digits";

export const events: EventNames = {
  standard: {},
  others: "not sent",
  target: "conversion rule",
  several: true,
  defaultSetting: "default_rule",
  check: checkRule,
};

export const fields: readonly Field[] = [
  amountField("conversionValue.amount", "The value in place of the event's own: a fixed one for leads, for example."),
  textField("conversionValue.currencyCode", "The currency in place of the event's own, three letters."),
  textField("user.lead", "LinkedIn's id of a response to a lead gen form: the URN, or what follows its last colon.", leadUrn),
  textField("user.externalIds", "Your own id of the person, as LinkedIn has it from your data.", (value) => [
    String(value).slice(0, 250),
  ]),
];

const valueFields = fields.filter(({ name }) => name.startsWith("conversionValue."));
const userFields = fields.filter(({ name }) => name.startsWith("user."));

function leadUrn(value: string | number): string | undefined {
  const id = String(value).replace(/^urn:li:leadGenFormResponse:/, "");
  return /^[\w-]{1,200}$/.test(id) ? `urn:li:leadGenFormResponse:${id}` : undefined;
}

export const toRequest: Platform["toRequest"] = (conversions, settings, now) => ({
  method: "POST",
  url: `${base}/conversionEvents`,
  headers: {
    "content-type": "application/json",
    ...apiHeaders(settings),
    "x-restli-method": "BATCH_CREATE",
  },
  body: JSON.stringify({
    elements: elementsOf(conversions, settings).map((one) => toElement(one, settings, now)),
  }),
});

export function apiHeaders(settings: ConnectionSettings): Record<string, string> {
  return {
    ...bearer(settings),
    "linkedin-version": settings.api_version ?? apiVersion,
    "x-restli-protocol-version": "2.0.0",
  };
}

export const rulesOf = (conversion: Conversion, settings: ConnectionSettings) => eventNamesOf(conversion, settings, events);

/** One element for each rule of each conversion. */
export const elementsOf = (conversions: readonly Conversion[], settings: ConnectionSettings) =>
  withTargets(conversions, settings, events);

function toElement({ conversion, target }: Target, settings: ConnectionSettings, now: number): Body {
  return {
    conversion: target && `${ruleUrn}${ruleId(target)}`,
    // Milliseconds. Senders' clocks may run ahead.
    conversionHappenedAt: Math.floor(Math.min(conversion.time, now)),
    eventId: dedupId(conversion, settings),
    conversionValue: valueOf(conversion, settings),
    // The list is required, also when it is empty.
    user: userOf(conversion, settings),
  };
}

/** LinkedIn finds the person of a lead without any other id, since version 202605. */
export function userOf(conversion: Conversion, settings: ConnectionSettings): Body & { userIds: unknown[] } {
  const mapped: { user?: Body } = {};
  applyMapping(mapped, conversion, settings, { fields: userFields, personal: "user" });
  return { userIds: userIds(conversion, settings), ...mapped.user };
}

function userIds(conversion: Conversion, settings: ConnectionSettings): { idType: string; idValue: string }[] {
  if (conversion.consent === "denied") return [];
  const { person, clickIds, browserIds, browser } = conversion;
  const click = validId(clickIds.li_fat_id?.value, uuidPattern) ?? validId(browserIds.li_fat_id, uuidPattern);
  const address = isIPv4(browser?.address ?? "") ? (browser?.address as string) : "";
  const form = settings.ip_address ?? "no";
  return [
    { idType: "SHA256_EMAIL", idValue: person?.emailSha256 ?? "" },
    { idType: "LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID", idValue: click ?? "" },
    { idType: "PLAINTEXT_IP_ADDRESS", idValue: form === "plain" ? address : "" },
    { idType: "SHA256_IP_ADDRESS", idValue: form === "sha256" && address ? hash("sha256", address) : "" },
  ].filter(({ idValue }) => idValue !== "");
}

/** LinkedIn rejects an amount that is a number: it must be a text. */
function valueOf(conversion: Conversion, settings: ConnectionSettings): Record<string, string> | undefined {
  const mapped: Record<string, unknown> = {};
  applyMapping(mapped, conversion, settings, { fields: valueFields });
  const value = at(mapped, "conversionValue", "amount") ?? conversion.value;
  const code = textAt(mapped, "conversionValue", "currencyCode").toUpperCase();
  const currencyCode = isCurrency(code) ? code : conversion.currency;
  if (typeof value !== "number" || value < 0) return undefined;
  return { currencyCode, amount: amountText(value, currencyCode) };
}
