// Example responses of requestStatus:retrieve about Floodlight activities. Those of Google Ads show the other cases.

import type { ConfirmationExamples } from "../example.ts";

const status = (activity: string, requestStatus: string, errors: readonly string[] = []) => ({
  destination: {
    operatingAccount: { accountType: "FLOODLIGHT_CONFIG", accountId: "8765432" },
    productDestinationId: activity,
  },
  requestStatus,
  eventsIngestionStatus: { recordCount: "1" },
  errorInfo: {
    errorCounts: errors.map((reason) => ({
      recordCount: "1",
      reason: `PROCESSING_ERROR_REASON_${reason}`,
    })),
  },
});

const bodyOf = (...statuses: ReturnType<typeof status>[]) => JSON.stringify({ requestStatusPerDestination: statuses });

export const confirmations: ConfirmationExamples = {
  request: {
    conversion: { name: "purchase", acceptedAt: 0, answer: '{"requestId":"126365e1-16d0"}' },
    subject: "126365e1-16d0",
    settings: { floodlight_configuration: "8765432", access_token: "EXAMPLE-TOKEN", activity: "4400001" },
    request: {
      method: "GET",
      url: "https://datamanager.googleapis.com/v1/requestStatus:retrieve?requestId=126365e1-16d0",
      headers: { authorization: "Bearer EXAMPLE-TOKEN" },
      body: "",
    },
  },
  responses: [
    {
      title: "the conversion counts",
      conversions: 1,
      status: 200,
      body: bodyOf(status("4400001", "SUCCESS")),
      reading: {
        kind: "answered",
        confirmations: [{ state: "confirmed", reason: null, detail: null }],
      },
    },
    {
      title: "the click is unknown to one of two activities",
      conversions: 1,
      status: 200,
      body: bodyOf(status("4400001", "SUCCESS"), status("4400002", "FAILED", ["USER_ID_NOT_FOUND_FOR_DCLID"])),
      reading: {
        kind: "answered",
        confirmations: [
          {
            state: "not counted",
            reason: "bad id",
            detail: "activity 4400002: 1 of 1: USER_ID_NOT_FOUND_FOR_DCLID",
          },
        ],
      },
    },
  ],
};
