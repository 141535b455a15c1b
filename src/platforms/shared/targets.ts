// Platforms without event names have targets instead: conversion actions, rules, tags. One conversion may count for several
// of them, and is then several events of one request.

import type { Conversion, Reading } from "../../kernel/event.ts";
import type { ConnectionSettings, EventNames } from "../platform.ts";
import { eventNamesOf, nameFault } from "./eventNames.ts";
import { rejected } from "./response.ts";

/** The check of a setting that holds targets. */
export const targetsCheck = (events: EventNames) => (value: string) => nameFault(value, events);

/** One conversion for one of its targets. */
export type Target = { conversion: Conversion; target: string | undefined };

/** A conversion that has lost its target since it was planned stays in the request, so that the platform's answer says so. */
export function withTargets(conversions: readonly Conversion[], settings: ConnectionSettings, events: EventNames): Target[] {
  return conversions.flatMap((conversion): Target[] => {
    const targets = eventNamesOf(conversion, settings, events);
    if (targets.length === 0) return [{ conversion, target: undefined }];
    return targets.map((target) => ({ conversion, target }));
  });
}

const severity = ["accepted", "retry", "rejected", "unauthorized"];

/** Joins the readings of `targets`, in order, to one for each conversion: it is accepted when every target accepted it. */
export function joinReadings(
  conversions: readonly Conversion[],
  targets: readonly Target[],
  readings: readonly Reading[],
): Reading[] {
  if (targets.length === conversions.length) return [...readings];
  const byConversion = new Map<Conversion, Reading[]>();
  for (const [i, { conversion }] of targets.entries()) {
    const list = byConversion.get(conversion) ?? [];
    const reading = readings[i];
    if (reading) list.push(reading);
    byConversion.set(conversion, list);
  }
  return conversions.map((conversion) => joinOne(byConversion.get(conversion) ?? []));
}

function joinOne(readings: readonly Reading[]): Reading {
  const worst = readings.toSorted(
    (one, other) => severity.indexOf(other.kind) - severity.indexOf(one.kind) || secondsOf(other) - secondsOf(one),
  )[0];
  if (!worst) return rejected("the platform's answer left this event out");
  const isCounted = worst.kind === "rejected" && readings.some(({ kind }) => kind === "accepted");
  return isCounted ? rejected(`${worst.error}; accepted for its other targets`) : worst;
}

const secondsOf = (reading: Reading) => (reading.kind === "retry" ? (reading.retryAfterSeconds ?? 0) : 0);
