// How Microsoft answers, and what each answer means.

import type { AnswerExample } from "../platform.ts";

const validationError = (details: readonly Record<string, unknown>[], eventsReceived?: number) =>
  JSON.stringify({
    eventsReceived,
    error: {
      code: "ValidationError",
      message: "Some parameters are not valid.",
      details,
    },
  });

const rows = (...PartialErrors: readonly Record<string, unknown>[]) => JSON.stringify({ PartialErrors });
const accepted = { outcome: "accepted" } as const;

export const microsoftAdsAnswers: readonly AnswerExample[] = [
  {
    title: "Taken",
    conversions: 2,
    status: 200,
    body: '{"eventsReceived":2}',
    readings: [accepted, accepted],
  },
  {
    title: "One event is invalid, the others were taken",
    conversions: 3,
    status: 200,
    body: validationError(
      [
        {
          index: 1,
          propertyName: "data[1].eventTime",
          errorMessage: "'eventTime' is too old.",
          isWarning: false,
        },
        { index: 2, propertyName: "data[2].userData.ph", errorMessage: "'ph' was removed.", isWarning: true },
      ],
      2,
    ),
    readings: [accepted, { outcome: "rejected", error: "HTTP 200: 'eventTime' is too old." }, accepted],
  },
  {
    title: "More events are missing than are named: sent again in halves",
    conversions: 2,
    status: 200,
    body: '{"eventsReceived":1}',
    readings: [
      { outcome: "rejected", error: "Microsoft took 1 of 2 events and did not name the others" },
      { outcome: "rejected", error: "Microsoft took 1 of 2 events and did not name the others" },
    ],
  },
  {
    title: "A success that cannot be read: the same again later",
    conversions: 1,
    status: 200,
    body: "{}",
    readings: [{ outcome: "retry", error: "HTTP 200: the answer could not be read" }],
  },
  {
    title: "No event is valid",
    conversions: 1,
    status: 400,
    body: validationError([
      { index: 0, propertyName: "data[0].eventName", errorMessage: "'eventName' is empty." },
    ]),
    readings: [{ outcome: "rejected", error: "HTTP 400: 'eventName' is empty." }],
  },
  {
    title: "The tag token is wrong",
    conversions: 1,
    status: 401,
    body: '{"error":{"code":"Unauthorized","message":"Not authorized."}}',
    readings: [{ outcome: "unauthorized", error: "HTTP 401: Not authorized." }],
  },
  {
    title: "Too many requests",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "30" },
    body: "",
    readings: [{ outcome: "retry", error: "HTTP 429", retryAfterSeconds: 30 }],
  },
  {
    title: "Offline conversions: all taken",
    conversions: 2,
    status: 200,
    body: rows(),
    readings: [accepted, accepted],
  },
  {
    title: "Offline conversions: some rows failed, each for its own reason",
    conversions: 4,
    status: 200,
    body: rows(
      { Index: 1, Code: 5604, ErrorCode: "OfflineConversionMicrosoftClickIdInvalid", Message: "Click id." },
      { Index: 3, Code: 5615, ErrorCode: "OfflineConversionNotAcceptedForGoal", Message: "Too new." },
    ),
    readings: [
      accepted,
      { outcome: "rejected", error: "5604 OfflineConversionMicrosoftClickIdInvalid Click id." },
      accepted,
      {
        outcome: "retry",
        error: "5615 OfflineConversionNotAcceptedForGoal Too new.",
        retryAfterSeconds: 7200,
      },
    ],
  },
  {
    title: "Offline conversions: an unknown goal stops only its own events, which wait for the setting",
    conversions: 2,
    status: 200,
    body: rows({ Index: 0, Code: 5606, ErrorCode: "OfflineConversionNameInvalid", Message: "Goal." }),
    readings: [
      {
        outcome: "retry",
        error: "5606 OfflineConversionNameInvalid Goal.; waits until offline_goal is corrected",
        retryAfterSeconds: 3600,
      },
      accepted,
    ],
  },
  {
    title: "Offline conversions: too many calls in a minute",
    conversions: 1,
    status: 400,
    body: '{"Errors":[{"Code":117,"ErrorCode":"CallRateExceeded","Message":"Slow down."}]}',
    readings: [{ outcome: "retry", error: "117 CallRateExceeded Slow down.", retryAfterSeconds: 60 }],
  },
  {
    title: "Offline conversions: the access token has ended",
    conversions: 1,
    status: 400,
    body: '{"Errors":[{"Code":109,"ErrorCode":"AuthenticationTokenExpired","Message":"Ended."}]}',
    readings: [{ outcome: "unauthorized", error: "109 AuthenticationTokenExpired Ended." }],
  },
  {
    title: "Offline conversions: a fault inside Microsoft",
    conversions: 1,
    status: 500,
    body: '{"Errors":[{"Code":0,"ErrorCode":"InternalError","Message":"Oh."}]}',
    readings: [{ outcome: "retry", error: "0 InternalError Oh." }],
  },
];
