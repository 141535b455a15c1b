// Example responses of Microsoft's offline conversion reports, which serve as tests and as documentation.

import type { Confirmation, CountedAs } from "../../kernel/confirmation.ts";
import type { ConfirmationExample, ConfirmationExamples } from "../example.ts";
import { rejected, retryLater, unauthorized } from "../shared/response.ts";

const campaign = "https://campaign.api.bingads.microsoft.com/CampaignManagement/v13";
const settings = {
  tag_id: "343000001",
  access_token: "EXAMPLE-TOKEN",
  developer_token: "EXAMPLE-DEVELOPER-TOKEN",
  account_id: "181000001",
  customer_id: "254000001",
  offline_goal: "Offline purchase",
};
const headers = {
  "content-type": "application/json",
  authorization: "Bearer EXAMPLE-TOKEN",
  DeveloperToken: "EXAMPLE-DEVELOPER-TOKEN",
  CustomerAccountId: "181000001",
  CustomerId: "254000001",
};

const request: ConfirmationExamples["request"] = {
  conversion: { name: "purchase", acceptedAt: Date.UTC(2026, 10, 14, 9), answer: '{"PartialErrors":[]}' },
  subject: "2026-11-14 Offline purchase",
  settings,
  request: {
    method: "POST",
    url: `${campaign}/ConversionGoals/QueryByIds`,
    headers,
    body: '{"ConversionGoalIds":null,"ConversionGoalTypes":"OfflineConversion"}',
  },
};

type Day = {
  counted: number;
  lost?: number;
  alerts?: readonly (readonly [reason: string, count: number])[];
  date?: string;
};

const reportOf = ({ counted, lost = 0, alerts = [], date = "2026-11-14T00:00:00Z" }: Day) => ({
  OfflineGoalConversionSummaries: [
    {
      GoalId: "7100002",
      ConversionName: "Offline purchase",
      OverallSuccessCount: String(counted),
      OverallUnattributedCount: String(lost),
      DailySummaries: [
        {
          GoalId: "7100002",
          UploadDate: date,
          SuccessCount: String(counted),
          UnattributedCount: String(lost),
          Alerts: alerts.map(([UnattributedReason, count]) => ({ UnattributedReason, Count: String(count) })),
        },
      ],
    },
  ],
  PartialErrors: [],
});

/** All conversions of a day read alike. */
function example(
  title: string,
  day: Day,
  conversions: number,
  one: Confirmation | null,
  tally?: CountedAs[],
): ConfirmationExample {
  return {
    title,
    conversions,
    status: 200,
    body: JSON.stringify(reportOf(day)),
    reading: {
      kind: "answered",
      confirmations: Array.from({ length: conversions }, () => one),
      ...(tally ? { tally } : {}),
    },
  };
}

const faultOf = (code: number, name: string) => JSON.stringify({ Errors: [{ Code: code, ErrorCode: name, Message: name }] });

const responses: ConfirmationExamples["responses"] = [
  example("every conversion is attributed", { counted: 2 }, 2, {
    state: "confirmed",
    reason: null,
    detail: null,
  }),
  {
    title: "the goal is found, and its report is asked for",
    conversions: 2,
    status: 200,
    body: JSON.stringify({
      ConversionGoals: [
        { Id: "7100001", Name: "Offline lead", Type: "OfflineConversion" },
        { Id: "7100002", Name: "Offline purchase", Type: "OfflineConversion" },
      ],
    }),
    reading: {
      kind: "next",
      request: {
        method: "POST",
        url: `${campaign}/OfflineConversionReport/QueryByGoalIds`,
        headers,
        body: '{"StartDateUtc":"2026-11-14T00:00:00Z","EndDateUtc":"2026-11-15T00:00:00Z","GoalIds":["7100002"],"UploadChannelFilter":null}',
      },
    },
  },
  {
    title: "the goal was removed",
    conversions: 1,
    status: 200,
    body: JSON.stringify({ ConversionGoals: [] }),
    reading: rejected("the ad account has no offline goal Offline purchase"),
  },
  example("no conversion has a click", { counted: 0, lost: 2, alerts: [["NoMatchingClickFound", 2]] }, 2, {
    state: "not counted",
    reason: "no ad click",
    detail: "2 of 2: NoMatchingClickFound",
  }),
  example(
    "a part is attributed, and Microsoft does not say which",
    { counted: 1, lost: 1, alerts: [["OutsideGoalLookbackWindow", 1]] },
    2,
    { state: "unknown", reason: "several reasons", detail: "1 of 2: OutsideGoalLookbackWindow" },
    [
      { state: "not counted", reason: "too old" },
      { state: "confirmed", reason: null },
    ],
  ),
  example("the report lacks a part of the day", { counted: 1 }, 2, null),
  example("the report has another day", { counted: 2, date: "2026-11-13T00:00:00Z" }, 2, null),
  example("the goal has other uploads too", { counted: 3, lost: 1, alerts: [["MalformedData", 1]] }, 2, {
    state: "unknown",
    reason: "other",
    detail: "3 of 4 attributed, of which 2 were sent from here",
  }),
  example("the reasons do not add up", { counted: 0, lost: 2, alerts: [["MalformedData", 1]] }, 2, {
    state: "unknown",
    reason: "other",
    detail: "0 of 2 attributed, 1 with a reason",
  }),
  example("a reason that this version does not know", { counted: 0, lost: 1, alerts: [["SomethingNew", 1]] }, 1, {
    state: "unknown",
    reason: "other",
    detail: "1 of 1: SomethingNew",
  }),
  {
    title: "the token is not valid",
    conversions: 1,
    status: 401,
    body: faultOf(105, "InvalidCredentials"),
    reading: unauthorized("105 InvalidCredentials InvalidCredentials"),
  },
  {
    title: "too many calls",
    conversions: 1,
    status: 429,
    body: faultOf(117, "CallRateExceeded"),
    reading: retryLater("117 CallRateExceeded CallRateExceeded"),
  },
  {
    title: "a success with another body",
    conversions: 1,
    status: 200,
    body: "<html>",
    reading: retryLater("HTTP 200: the answer could not be read"),
  },
];

export const confirmations: ConfirmationExamples = { request, responses };
