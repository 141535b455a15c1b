// Accepts everything and shows it, so that the first request of a new installation works before a platform is connected.

import type { Conversion } from "../../kernel/event.ts";
import { conversionJson } from "../shared/conversionJson.ts";
import type { Platform } from "../platform.ts";
import { readStatus } from "../shared/response.ts";

/** Everything that any platform may be given. */
export const describeAll = (conversion: Conversion) => ({
  ...conversionJson(conversion),
  browserIds: conversion.browserIds,
});

export const sandbox = {
  id: "sandbox",
  name: "Sandbox",
  description: "Built into the relay: accepts every conversion and shows what a platform would have received.",
  docs: null,
  settings: [],
  account: () => "sandbox",
  batch: 100,
  lanes: 16,
  toRequest: (conversions) => ({
    method: "POST",
    // Answered inside the process by delivery/send.ts.
    url: "sandbox:conversions",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ conversions: conversions.map(describeAll) }),
  }),
  readResponse: (response, conversions, _settings, now) => conversions.map(() => readStatus(response, now)),
  verify: () => ({ by: "relay" }),
} satisfies Platform;
