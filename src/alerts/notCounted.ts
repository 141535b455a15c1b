// Finds connections whose platform suddenly counts fewer of the conversions that it accepted. The share of each reason in the
// last day is compared with the week before: a platform that never counts a part of them, which is usual, raises no alert.

import { say } from "../kernel/messages/message.ts";
import type { ConfirmationReason } from "../kernel/confirmation.ts";
import { shownPercent } from "../kernel/text.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import { platformOf } from "../platforms/index.ts";
import type { Connection } from "../sites/directory.ts";
import type { ConfirmationCount } from "../store/confirmations/confirmations.ts";
import type { Finding } from "../store/statistics/alerts.ts";
import type { Store } from "../store/store.ts";
import { nameOf } from "./message.ts";
import { createSlowCheck, type SlowCheck } from "./slowCheck.ts";

const dayHours = dayMs / hourMs;
const recentHours = dayHours;
const usualHours = 7 * dayHours;

/** Conversions with the reason in the last day, and decided ones in the week before: fewer say nothing. */
const minNotCounted = 10;
const minUsual = 20;
/** The limit of a reason without a week to compare with. */
const newLimit = 0.5;
/** A share has jumped when it is this far above the usual one, and at least twice as high. */
const jump = 0.1;
const hysteresis = 0.05;

export const createNotCountedCheck = (): SlowCheck<Pick<Store, "confirmations">> =>
  createSlowCheck({
    kind: "not counted",
    // Platforms answer after half an hour at the earliest, so the sums change slowly.
    everyMs: 15 * minuteMs,
    subjects: ({ connections }) => connections.filter(({ platform }) => platformOf(platform)?.confirmations !== undefined),
    async find({ confirmations }, { site, subjects, openOf, now }) {
      const endHour = Math.floor(now / hourMs) + 1;
      const counts = await confirmations.listCounts(site.id, endHour - recentHours - usualHours, endHour);
      return subjects.flatMap((connection) => {
        const own = counts.filter(({ connectionId }) => connectionId === connection.id);
        return judge(connection, own, endHour - recentHours, openOf(connection) !== undefined);
      });
    },
  });

type Sums = { decided: number; reasons: Map<ConfirmationReason, number> };

/** Unknown conversions are left out: they say nothing of either side. */
function sum(counts: readonly ConfirmationCount[]): Sums {
  const sums: Sums = { decided: 0, reasons: new Map() };
  for (const { state, reason, count } of counts) {
    if (state === "unknown") continue;
    sums.decided += count;
    if (state === "not counted" && reason) sums.reasons.set(reason, (sums.reasons.get(reason) ?? 0) + count);
  }
  return sums;
}

function judge(connection: Connection, counts: readonly ConfirmationCount[], recentFrom: number, isOpen: boolean): Finding[] {
  const recent = sum(counts.filter(({ hour }) => hour >= recentFrom));
  const usual = sum(counts.filter(({ hour }) => hour < recentFrom));
  const jumped = [...recent.reasons].flatMap(([reason, count]) => {
    const share = count / recent.decided;
    const before = usual.decided < minUsual ? null : (usual.reasons.get(reason) ?? 0) / usual.decided;
    const limit = before === null ? newLimit : Math.max(2 * before, before + jump);
    if (count < minNotCounted || share < limit - (isOpen ? hysteresis : 0)) return [];
    const now = percent(share);
    const text =
      before === null ? say("share_of_reason", { reason, now }) : say("share_grew", { reason, now, usually: percent(before) });
    return [{ share, text }];
  });
  if (jumped.length === 0) return [];
  const reasons = jumped.toSorted((one, other) => other.share - one.share).map(({ text }) => text);
  const text = say("alert_not_counted", {
    decided: recent.decided.toLocaleString("en"),
    connection: nameOf(connection),
    reasons,
  });
  return [{ kind: "not counted", subject: connection.id, text }];
}

const percent = (share: number) => `${shownPercent(share, 1)} %`;
