import type { Conversion } from "../../kernel/event.ts";

/** The conversion as JSON: the same keys every time, null for what is not known or not allowed. */
export function describeConversion(conversion: Conversion): Record<string, unknown> {
  return {
    platformEventId: conversion.platformEventId,
    event: conversion.name,
    eventTime: new Date(conversion.time).toISOString(),
    value: conversion.value,
    currency: conversion.currency,
    orderId: conversion.orderId,
    emailSha256: conversion.person?.emailSha256 ?? null,
    phoneSha256: conversion.person?.phoneSha256 ?? null,
    clickIds: Object.fromEntries(Object.entries(conversion.clickIds).map(([name, id]) => [name, id.value])),
    utm: conversion.utm,
    consent: conversion.consent,
  };
}
