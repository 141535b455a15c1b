// Corrections of the Data Manager API: an event with the transaction id of an earlier one, and another value, adjusts it. Whether
// an event can be taken back altogether is not documented clearly, so one of which nothing is left gets the value 0.

import type { Conversion } from "../../kernel/event.ts";
import type { Corrections } from "../platform.ts";
import { readIngested } from "../shared/dataManager/response.ts";
import { unreadable } from "../shared/response.ts";
import { leftOf } from "../shared/values.ts";
import { clickDays, destinationOf, toRequest } from "./request.ts";

const readResponse = readIngested("conversion_action");

export const corrections: Corrections = {
  maxAgeDays: clickDays,
  foundBy: { name: "the conversion action or the form of order ids", of: destinationOf },
  effect: "Google keeps the conversion and changes its value, to 0 if the whole order was refunded.",
  toRequest: ({ conversion, value }, settings, now) => toRequest([restOf(conversion, value)], settings, now),
  read: (response, { conversion }, settings, now) =>
    readResponse(response, [conversion], settings, now)[0] ?? unreadable(response, now),
};

/** Which items were refunded is not known. */
function restOf({ items, ...conversion }: Conversion, value: number): Conversion {
  const left = leftOf({ ...conversion, value, whole: { value: conversion.value, items } });
  return { ...conversion, value, ...(left && { left }) };
}
