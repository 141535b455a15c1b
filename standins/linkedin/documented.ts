// The errors of LinkedIn's Conversions API.

import type { Answer, DocumentedError } from "../shared/standin.ts";
import { linkedinError, linkedinKnown } from "./access.ts";

const rule = `urn:lla:llaPartnerConversion:${linkedinKnown.purchaseRuleId}`;

const ofElement = (status: number, message?: string): Answer => ({
  status: 200,
  body: { elements: [{ status, ...(message && { error: { status, message } }) }] },
});

export const documentedErrors: readonly DocumentedError[] = [
  {
    title: "422 names the element by its index",
    answer: {
      status: 422,
      body: {
        status: 422,
        message: "Index: 0, ERROR :: /conversionHappenedAt :: is older than 90 days\nERROR :: /user/userIds :: is required",
      },
    },
    means: "reject",
  },
  {
    title: "400 the rule is not one of the Conversions API",
    answer: linkedinError(400, "BAD_REQUEST", "The conversion method is not CONVERSIONS_API"),
    means: "wait",
  },
  {
    title: "403 the rule belongs to another account",
    answer: linkedinError(403, "ACCESS_DENIED", `No access to the conversion ${rule}`, 100),
    means: "wait",
  },
  { title: "200 an element was created", answer: ofElement(201), means: "accept" },
  { title: "200 an element is invalid", answer: ofElement(422, "/user is required"), means: "reject" },
  { title: "200 an element is throttled", answer: ofElement(429, "Too many requests"), means: "retry" },
  {
    title: "200 the rule of an element is disabled",
    answer: ofElement(400, `The conversion rule ${linkedinKnown.purchaseRuleId} is not enabled`),
    means: "wait",
  },
  {
    title: "401 65600 invalid token",
    answer: linkedinError(401, "INVALID_ACCESS_TOKEN", "Invalid access token", 65_600),
    means: "park",
  },
  {
    title: "401 65601 revoked token",
    answer: linkedinError(401, "REVOKED_ACCESS_TOKEN", "The token used in the request has been revoked", 65_601),
    means: "park",
  },
  {
    title: "403 not enough permissions",
    answer: linkedinError(403, "ACCESS_DENIED", "Not enough permissions to access the resource", 100),
    means: "park",
  },
  {
    title: "426 the version is retired",
    answer: linkedinError(426, "NONEXISTENT_VERSION", "Requested version is not active"),
    means: "park",
  },
  ...[408, 423, 429, 500, 503].map((status) => ({
    title: `${status}`,
    answer: linkedinError(status, "ERROR", "Try again"),
    means: "retry" as const,
  })),
];
