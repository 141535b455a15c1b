// How Reddit answers: tests and documentation of redditAnswer.ts.

import type { AnswerExample } from "../platform.ts";

const bystander = "HTTP 400: refused because of another event in the same request";
const refusedTwice = (error: string) =>
  Array.from({ length: 2 }, () => ({ outcome: "rejected" as const, error }));

export const redditAnswers: readonly AnswerExample[] = [
  {
    title: "Accepted",
    conversions: 2,
    status: 200,
    body: '{"data":{"message":"Successfully processed 2 conversion events."}}',
    readings: [{ outcome: "accepted" }, { outcome: "accepted" }],
  },
  {
    title: "One bad event has the whole request refused",
    conversions: 2,
    status: 400,
    body: '{"error":{"code":400,"message":"There were 1 invalid conversion events. None were processed."}}',
    readings: refusedTwice("HTTP 400: There were 1 invalid conversion events. None were processed."),
  },
  {
    title: "A refusal that names the event",
    conversions: 3,
    status: 400,
    body: '{"error":{"code":400,"message":"invalid request","fields":[{"field":"data.events[2].event_at","message":"older than 7 days"}]}}',
    readings: [
      { outcome: "retry", error: bystander, retryAfterSeconds: 1 },
      { outcome: "retry", error: bystander, retryAfterSeconds: 1 },
      { outcome: "rejected", error: "HTTP 400: data.events[2].event_at: older than 7 days" },
    ],
  },
  {
    title: "A success that left an event out",
    conversions: 1,
    status: 200,
    body: '{"data":{"message":"Successfully processed 0 conversion events.","invalid_events":[{"error_message":"event_at is too old"}]}}',
    readings: [{ outcome: "rejected", error: "HTTP 200: event_at is too old" }],
  },
  {
    title: "A success that left one of two out and does not say which: both go again, apart",
    conversions: 2,
    status: 200,
    body: '{"data":{"message":"Successfully processed 1 conversion events.","invalid_events":[{"error_message":"event_at is too old"}]}}',
    readings: refusedTwice("HTTP 200: event_at is too old"),
  },
  {
    title: "A success that cannot be read: the same again later",
    conversions: 1,
    status: 200,
    body: '{"data":{"message":"Successfully proc',
    readings: [{ outcome: "retry", error: "HTTP 200: the answer could not be read" }],
  },
  {
    title: "The second shape of errors",
    conversions: 1,
    status: 400,
    body: '{"success":false,"error":{"reason":"BAD_REQUEST","explanation":"unknown field test_mode"}}',
    readings: [{ outcome: "rejected", error: "HTTP 400: BAD_REQUEST: unknown field test_mode" }],
  },
  {
    title: "The second shape with HTTP 200",
    conversions: 2,
    status: 200,
    body: '{"success":false,"error":{"reason":"BAD_REQUEST","explanation":"unknown field test_mode"}}',
    readings: refusedTwice("HTTP 400: BAD_REQUEST: unknown field test_mode"),
  },
  {
    title: "The third shape, a bare text: the token is refused",
    conversions: 1,
    status: 401,
    body: "Authorization Required",
    readings: [{ outcome: "unauthorized", error: "HTTP 401: Authorization Required" }],
  },
  {
    title: "The token is refused, in the second shape",
    conversions: 1,
    status: 401,
    body: '{"success":false,"error":{"reason":"UNAUTHORIZED","explanation":"This server could not verify that you are authorized."}}',
    readings: [
      {
        outcome: "unauthorized",
        error: "HTTP 401: UNAUTHORIZED: This server could not verify that you are authorized.",
      },
    ],
  },
  {
    title: "No permission for the pixel",
    conversions: 1,
    status: 403,
    body: '{"error":{"code":403,"message":"You\'re not authorized to post conversions to Pixel ID a2_example123."}}',
    readings: [
      {
        outcome: "unauthorized",
        error: "HTTP 403: You're not authorized to post conversions to Pixel ID a2_example123.",
      },
    ],
  },
  {
    title: "No such pixel",
    conversions: 1,
    status: 404,
    body: '"Not Found"',
    readings: [{ outcome: "unauthorized", error: "HTTP 404: Not Found; correct pixel_id" }],
  },
  {
    title: "Too many requests",
    conversions: 1,
    status: 429,
    headers: { "retry-after": "10" },
    body: '{"error":{"code":429,"message":"Too many requests/events within timeframe."}}',
    readings: [
      {
        outcome: "retry",
        error: "HTTP 429: Too many requests/events within timeframe.",
        retryAfterSeconds: 10,
      },
    ],
  },
  {
    title: "Reddit is down",
    conversions: 1,
    status: 503,
    body: "<html><body>upstream error</body></html>",
    readings: [{ outcome: "retry", error: "HTTP 503" }],
  },
];
