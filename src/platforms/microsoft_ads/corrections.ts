// Corrections of offline conversions: Restate changes the value, Retract takes the conversion back. Events of the Conversions API
// cannot be corrected with the settings of a connection.

import type { Corrections } from "../platform.ts";
import { unreadable } from "../shared/response.ts";
import { amountOf } from "../shared/values.ts";
import { apiOf, campaignRequest, goalOf, isoSeconds, offlineKeys } from "./request.ts";
import { readResponse } from "./response.ts";

export const corrections: Corrections = {
  maxAgeDays: 90,
  foundBy: { name: "the goal", of: (conversion, of) => goalOf(conversion, of) ?? "" },
  effect: "Microsoft changes the value of an offline conversion, and takes it back if the whole order was refunded.",
  cannotCorrect: (conversion, of) => (apiOf(conversion, of) === "offline" ? null : "only offline conversions can be corrected"),
  toRequest({ conversion, value, at: adjustedAt }, of) {
    const isLeft = value > 0;
    return campaignRequest(of, "OfflineConversionAdjustments/Apply", {
      OfflineConversionAdjustments: [
        {
          ConversionName: goalOf(conversion, of),
          ConversionTime: isoSeconds(conversion.time),
          AdjustmentTime: isoSeconds(Math.max(adjustedAt, conversion.time)),
          AdjustmentType: isLeft ? "Restate" : "Retract",
          ...(isLeft
            ? {
                AdjustmentValue: amountOf(value, conversion.currency),
                AdjustmentCurrencyCode: conversion.currency,
              }
            : {}),
          ...offlineKeys(conversion),
        },
      ],
    });
  },
  read: (response, { conversion }, of, now) => readResponse(response, [conversion], of, now)[0] ?? unreadable(response, now),
};
