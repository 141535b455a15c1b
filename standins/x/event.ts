// The fields of a web conversion.

import {
  also,
  amountText,
  currency,
  isObject,
  isoTime,
  list,
  number,
  object,
  problemAt,
  text,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { maxAheadSeconds, hashed, ipv4, plainId } from "../shared/contactChecks.ts";
import { eventTags, xKnown, type XFault } from "./access.ts";

const maxConversions = 500;

const identifier = object({
  twclid: plainId,
  hashed_email: hashed("email"),
  hashed_phone_number: hashed("plusPhone"),
  ip_address: ipv4,
  user_agent: text(),
});

/** IP address and user agent count only together, in one object, or with another id. */
function isIdentifier(value: unknown): boolean {
  if (!isObject(value)) return false;
  const strong = ["twclid", "hashed_email", "hashed_phone_number"].some((name) => value[name] !== undefined);
  return strong || (value.ip_address !== undefined && value.user_agent !== undefined);
}

/** The short id of an event tag of this pixel, from either form; null where there is none. */
export function shortEventId(id: string): string | null {
  const [, pixel, event] = /^tw-([0-9a-z]+)-([0-9a-z]+)$/.exec(id) ?? [];
  const short = event === undefined ? id : pixel === xKnown.pixelId ? event : null;
  return eventTags.some((tag) => tag.id === short) ? short : null;
}

const eventId: Check = (value, path) => {
  const problems = text()(value, path);
  if (problems.length > 0) return problems;
  const tag = eventTags.find(({ id }) => id === shortEventId(String(value)));
  if (!tag) return problemAt("value", path, "is not an event of this pixel");
  return tag.single ? [] : problemAt("value", path, "is not a single event tag");
};

// The type of an item's price is uncertain, and both pass.
const itemPrice: Check = (value, path) => (typeof value === "number" ? number({ min: 0 }) : amountText())(value, path);

function conversionShape(now: number): Check {
  return also(
    object(
      {
        // No maximum age is documented. Uncertain, so only times in the future are rejected.
        conversion_time: isoTime({ now, maxAheadSeconds }, { zulu: true }),
        event_id: eventId,
        conversion_id: text(),
        identifiers: list(identifier, { min: 1 }),
        // Senders saw whole numbers rejected, so two decimals are required.
        value: amountText({ decimals: 2 }),
        price_currency: currency,
        number_items: number({ integer: true, min: 1 }),
        search_string: text(),
        description: text(),
        contents: list(
          object({
            content_id: text(),
            content_name: text(),
            content_type: text(),
            content_price: itemPrice,
            num_items: number({ integer: true, min: 1 }),
            content_group_id: text(),
          }),
        ),
      },
      { required: ["conversion_time", "event_id", "identifiers"] },
    ),
    (conversion, path) => {
      const problems: Problem[] = [];
      const { identifiers, value, price_currency: given } = conversion;
      if (Array.isArray(identifiers) && !identifiers.some(isIdentifier))
        problems.push(...problemAt("missing", `${path}.identifiers`, "At least one user identifier must be provided"));
      if (value !== undefined && given === undefined)
        problems.push(...problemAt("missing", `${path}.price_currency`, "is required with value"));
      return problems;
    },
  );
}

export const requestShape = (now: number): Check =>
  object({ conversions: list(conversionShape(now), { min: 1, max: maxConversions }) }, { required: ["conversions"] });

/** Every fault of every conversion is listed. */
export const toXFault = ({ path, kind, message }: Problem): XFault => ({
  code: kind === "missing" ? "MISSING_PARAMETER" : "INVALID_PARAMETER",
  message: /^[A-Z]/.test(message) ? message : `${path} ${message}`,
  parameter: path,
});
