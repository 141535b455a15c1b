// The fields of a conversion event, with a closed schema like every Rest.li record, and the message that names faults.

import {
  also,
  amountText,
  currency,
  epoch,
  isObject,
  list,
  object,
  problemAt,
  text,
  wording,
  type Check,
  type Problem,
} from "../shared/checks.ts";
import { maxAheadSeconds, hashed, ipv4, plainId } from "../shared/contactChecks.ts";

const maxAgeSeconds = 90 * 86_400;
const emailSha256 = hashed("email");
const addressHash = hashed("other");

const idTypes =
  "SHA256_EMAIL LINKEDIN_FIRST_PARTY_ADS_TRACKING_UUID ACXIOM_ID ORACLE_MOAT_ID GOOGLE_AID PLAINTEXT_IP_ADDRESS SHA256_IP_ADDRESS";

function userId(version: string): Check {
  return also(
    object({ idType: text({ oneOf: idTypes.split(" ") }), idValue: text() }, { required: ["idType", "idValue"] }),
    ({ idType, idValue }, path) => {
      const at = `${path}.idValue`;
      if (idValue === undefined) return [];
      switch (idType) {
        case "SHA256_EMAIL":
          return emailSha256(idValue, at);
        case "SHA256_IP_ADDRESS":
          return version >= "202607"
            ? addressHash(idValue, at)
            : problemAt("value", `${path}.idType`, "is known from version 202607 on");
        case "PLAINTEXT_IP_ADDRESS":
          return ipv4(idValue, at);
        default:
          return plainId(idValue, at);
      }
    },
  );
}

const userInfo = object(
  {
    firstName: text(),
    lastName: text(),
    companyName: text(),
    title: text(),
    countryCode: text({ pattern: /^[A-Z]{2}$/ }),
  },
  { required: ["firstName", "lastName"] },
);

export function eventShape(now: number, version: string): Check {
  return also(
    object(
      {
        conversion: text({ pattern: /^urn:lla:llaPartnerConversion:\d+$/ }),
        conversionHappenedAt: epoch("milliseconds", { now, maxAgeSeconds, maxAheadSeconds }),
        eventId: text(),
        // It is uncertain if a number is accepted instead of the documented string, so only the string passes.
        conversionValue: object({ currencyCode: currency, amount: amountText() }, { required: ["currencyCode", "amount"] }),
        user: object(
          {
            // Required even when it is empty.
            userIds: list(userId(version)),
            userInfo,
            externalIds: list(text(), { max: 1 }),
            lead: text({ pattern: /^urn:li:leadGenFormResponse:/ }),
          },
          { required: ["userIds"] },
        ),
      },
      { required: ["conversion", "conversionHappenedAt", "user"] },
    ),
    ({ user }, path) => {
      if (!isObject(user) || !Array.isArray(user.userIds)) return [];
      const alone = user.userInfo !== undefined || (user.lead !== undefined && version >= "202605");
      // LinkedIn's response to an event without any key is uncertain; rejected here.
      return user.userIds.length > 0 || alone
        ? []
        : problemAt("missing", `${path}.user`, "needs a user id, or first and last name");
    },
  );
}

/** `Index: 0, ERROR :: /conversionValue/amount :: field is required but not found and has no default value` */
export function toLinkedInMessage(problems: readonly Problem[], isBatch: boolean): string {
  let named: string | undefined;
  return problems
    .map(({ path, kind, message }) => {
      const [, index = "", field = ""] = /^elements\[(\d+)\]\.?(.*)$/s.exec(path) ?? [path, "", path];
      const pointer = `/${field.replace(/\[(\d+)\]/g, ".$1").replace(/\./g, "/")}`;
      const reason =
        message === wording.required
          ? "field is required but not found and has no default value"
          : kind === "unknown"
            ? "unrecognized field found but not allowed"
            : message;
      // Only the first line of an element has the index.
      const prefix = isBatch && index !== "" && index !== named ? `Index: ${index}, ` : "";
      named = index;
      return `${prefix}ERROR :: ${pointer} :: ${reason}\n`;
    })
    .join("");
}
