// The fields of an event of the Amazon Ads Events API. Each event of a request is judged on its own.

import {
  also,
  ipAddress,
  isoTime,
  isObject,
  list,
  number,
  object,
  problemAt,
  text,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { hashed, hasOneOf, maxAheadSeconds, type HashForm } from "../shared/contactChecks.ts";

const types =
  "ADD_TO_SHOPPING_CART APPLICATION CHECKOUT CONTACT LEAD OFF_AMAZON_PURCHASES MOBILE_APP_FIRST_START PAGE_VIEW SEARCH SIGN_UP SUBSCRIBE OTHER".split(
    " ",
  );
const sources = "WEBSITE OFFLINE ANDROID IOS FIRE_TV".split(" ");
const currencies = "AED AUD BRL CAD CNY EUR GBP INR JPY MXN SAR SEK SGD TRY USD DKK NOK NZD".split(" ");

const hashForms: Readonly<Record<string, HashForm>> = {
  EMAIL: "email",
  PHONE: "digitsPhone",
  FIRST_NAME: "name",
  LAST_NAME: "name",
  ADDRESS: "other",
  CITY: "other",
  STATE: "code",
  POSTAL: "other",
};
const plainTypes = ["MAID", "RAMP_ID", "MATCH_ID"];

/** Made once: each knows the hashes of many wrong values. */
const hashChecks = new Map(Object.entries(hashForms).map(([type, form]) => [type, hashed(form)]));

const matchKey = also(
  object(
    {
      type: text({ oneOf: [...Object.keys(hashForms), ...plainTypes] }),
      values: list(text(), { min: 1, max: 1 }),
    },
    { required: ["type", "values"] },
  ),
  ({ type, values }, path) => {
    const [value] = Array.isArray(values) ? (values as unknown[]) : [];
    return hashChecks.get(String(type))?.(value, `${path}.values[0]`) ?? [];
  },
);

const decision = text({ oneOf: ["GRANTED", "DENIED"] });

const consent = object({
  geo: object({ ipAddress }, { required: ["ipAddress"] }),
  amazonConsent: object({ amznAdStorage: decision, amznUserData: decision }, { required: ["amznUserData"] }),
  tcf: text(),
  gpp: text(),
});

/** Two decimals at most. */
const amount: Check = (value, path) => {
  const problems = number()(value, path);
  return problems.length === 0 && !/^-?\d+(?:\.\d{1,2})?$/.test(String(value))
    ? problemAt("value", path, "must not have more than two decimals", value)
    : problems;
};

export const eventShape = (now: number, isEurope: boolean): Check =>
  also(
    object(
      {
        eventDescription: object(
          {
            name: text(),
            conversionType: text({ oneOf: types }),
            eventSource: text({ oneOf: sources }),
            eventIngestionMethod: text({ oneOf: ["SERVER_TO_SERVER"] }),
            dataSetName: text({ pattern: /^[A-Za-z][A-Za-z0-9_-]{4,99}$/ }),
          },
          { required: ["name", "conversionType", "eventSource", "eventIngestionMethod"] },
        ),
        // A maximum age is not documented.
        eventTime: isoTime({ now, maxAheadSeconds }),
        countryCode: text({ pattern: /^[A-Z]{2}$/ }),
        matchKeys: list(matchKey, { min: 1, max: 11 }),
        value: amount,
        currencyCode: text({ oneOf: currencies }),
        unitsSold: number({ integer: true, min: 1 }),
        eventId: text(),
        consent,
        dataProcessingOptions: object({ options: text({ oneOf: ["LIMITED_DATA_USE"] }) }),
        customData: list(object({ name: text(), value: text(), dataType: text() }), { max: 13 }),
        amazonAdEventKey: text(),
        arefMeasurementTokens: text(),
      },
      { required: ["eventDescription", "eventTime", "countryCode", "matchKeys"] },
    ),
    (event, path) => eventProblems(event, path, isEurope),
  );

function eventProblems(event: Record<string, unknown>, path: string, isEurope: boolean): Problem[] {
  const problems: Problem[] = [];
  const fault = (kind: Problem["kind"], field: string, message: string) =>
    problems.push(...problemAt(kind, path ? `${path}.${field}` : field, message));
  const type = isObject(event.eventDescription) ? event.eventDescription.conversionType : undefined;
  if (types.includes(String(type)) && type !== "OFF_AMAZON_PURCHASES")
    for (const field of ["currencyCode", "unitsSold"])
      if (event[field] !== undefined) fault("value", field, "is only for OFF_AMAZON_PURCHASES");
  if (type === "OFF_AMAZON_PURCHASES" && Number(event.value) < 0) fault("value", "value", "must not be negative");
  const given = isObject(event.consent) ? event.consent : {};
  if (isEurope && !hasOneOf(given, ["geo", "amazonConsent", "tcf", "gpp"])) fault("missing", "consent", "is required in Europe");
  return problems;
}
