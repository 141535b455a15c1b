// The body of Klaviyo's endpoint for one event, by its OpenAPI document of 2026-07-15.

import {
  also,
  anything,
  currency,
  flag,
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
import { hasOneOf, plainId } from "../shared/contactChecks.ts";

const identifiers = ["email", "phone_number", "external_id", "anonymous_id", "_kx"];
const yearMs = 365 * 86_400_000;
const maxProperties = 400;
const maxText = 100_000;

const item = object(
  {
    ProductID: text(),
    SKU: text(),
    ProductName: text(),
    Quantity: number({ min: 1, integer: true }),
    ItemPrice: number({ min: 0 }),
    RowTotal: number({ min: 0 }),
    ProductCategories: list(text()),
    Brand: text(),
  },
  { required: ["ProductID", "Quantity"], open: true },
);

/** Any properties. Those of the guide for shops have its forms. */
const properties: Check = (value, path) => {
  if (!isObject(value)) return problemAt("type", path, "must be an object");
  if (Object.keys(value).length > maxProperties) return problemAt("count", path, `must not exceed ${maxProperties} properties`);
  const long = Object.entries(value).filter(([, one]) => typeof one === "string" && one.length > maxText);
  return [
    ...long.flatMap(([name]) => problemAt("size", `${path}.${name}`, "must not be larger than 100 KB")),
    ...object({ OrderId: text(), ItemNames: list(text()), Items: list(item, { min: 1 }) }, { open: true })(value, path),
  ];
};

const profile = object(
  {
    type: text({ oneOf: ["profile"] }),
    id: text(),
    attributes: object({
      // Plain text is what Klaviyo wants. The relay must not send any, so none is accepted here.
      email: (_, path) => problemAt("value", path, "is contact data in plain text"),
      phone_number: (_, path) => problemAt("value", path, "is contact data in plain text"),
      external_id: text(),
      anonymous_id: text(),
      _kx: plainId,
      organization: text(),
      locale: text(),
      properties: anything,
    }),
  },
  { required: ["type", "attributes"] },
);

const inData = (check: Check): Check => object({ data: check }, { required: ["data"] });

const metric = object(
  {
    type: text({ oneOf: ["metric"] }),
    attributes: object({ name: text({ max: 127 }), service: text({ oneOf: ["api"] }) }, { required: ["name"] }),
  },
  { required: ["type", "attributes"] },
);

export const requestShape = (now: number): Check =>
  also(
    inData(
      object(
        {
          type: text({ oneOf: ["event"] }),
          attributes: object(
            {
              properties,
              // After 1990, and up to a year ahead.
              time: isoTime({ now, maxAgeSeconds: now / 1000 - 631_152_000, maxAheadSeconds: yearMs / 1000 }),
              value: number(),
              value_currency: currency,
              unique_id: text(),
              backfill: flag,
              metric: inData(metric),
              profile: inData(profile),
            },
            // Without a unique id Klaviyo takes one event a second: too risky, so it is required here.
            { required: ["properties", "metric", "profile", "unique_id"] },
          ),
        },
        { required: ["type", "attributes"] },
      ),
    ),
    identifierProblems,
  );

function identifierProblems(body: Record<string, unknown>): Problem[] {
  const path = "data.attributes.profile.data";
  let here: unknown = body;
  for (const key of path.split(".")) here = isObject(here) ? here[key] : undefined;
  if (!isObject(here) || here.id !== undefined) return [];
  const attributes = isObject(here.attributes) ? here.attributes : {};
  return hasOneOf(attributes, identifiers) ? [] : problemAt("missing", path, "needs an identifier of the profile");
}
