// Finds connections whose platform rates our events lower than before: its daily scores are compared with those of the days
// before. One bad day may be chance, so a fall has to last for two.

import { say } from "../kernel/messages/message.ts";
import { dayMs, hourMs } from "../kernel/time.ts";
import { platformOf } from "../platforms/index.ts";
import type { Connection } from "../sites/directory.ts";
import { snapshotDay, type QualitySnapshot } from "../store/confirmations/snapshots.ts";
import type { Finding } from "../store/statistics/alerts.ts";
import type { Store } from "../store/store.ts";
import { nameOf } from "./message.ts";
import { createSlowCheck, type SlowCheck } from "./slowCheck.ts";

/** The fall has lasted for this many snapshots, and is measured against this many before them. */
const recentDays = 2;
const usualDays = 7;
/** Fewer scores of the days before say nothing. */
const minUsual = 3;
/** A fall, and what is left of it when the alert ends: shares of the platform's scale. */
const minFall = 0.1;
const hysteresis = 0.05;
/** An older score says nothing about today. */
const maxAgeMs = 3 * dayMs;
const maxNamed = 3;

export const createQualityCheck = (): SlowCheck<Pick<Store, "snapshots">> =>
  createSlowCheck({
    kind: "quality",
    everyMs: hourMs,
    subjects: ({ connections }) =>
      connections.filter(({ state, platform }) => state === "active" && platformOf(platform)?.quality !== undefined),
    async find({ snapshots }, { site, subjects, openOf, now }) {
      const findings: Finding[] = [];
      for (const connection of subjects) {
        const key = { siteId: site.id, connectionId: connection.id };
        findings.push(
          ...judge(connection, await snapshots.list(key, recentDays + usualDays), openOf(connection) !== undefined, now),
        );
      }
      return findings;
    },
  });

type Score = { event: string; score: number; maxScore: number };

/** Words instead of a score are left out: their order is the platform's secret. */
const scoresOf = ({ reports }: QualitySnapshot) =>
  reports.flatMap(({ event, score, maxScore }): Score[] =>
    score === null || maxScore === null || maxScore <= 0 ? [] : [{ event, score, maxScore }],
  );

/** `snapshots` are the newest first. */
function judge(connection: Connection, snapshots: readonly QualitySnapshot[], isOpen: boolean, now: number): Finding[] {
  const [newest] = snapshots;
  if (!newest || newest.day < snapshotDay(now - maxAgeMs)) return [];
  const recent = snapshots.slice(0, recentDays).map(scoresOf);
  const before = snapshots.slice(recentDays).map(scoresOf);
  const fallen = scoresOf(newest).flatMap(({ event, score, maxScore }) => {
    const scoresIn = (days: readonly Score[][]) =>
      days.flatMap((scores) => scores.filter((one) => one.event === event && one.maxScore === maxScore).map((one) => one.score));
    const usual = median(scoresIn(before));
    const last = scoresIn(recent);
    if (usual === null || scoresIn(before).length < minUsual || last.length < recentDays) return [];
    // An open alert ends with the first score that has risen enough.
    const fall = (usual - (isOpen ? score : Math.max(...last))) / maxScore;
    if (fall < minFall - (isOpen ? hysteresis : 0)) return [];
    return [{ fall, text: `${nameOfEvent(event)}${rounded(usual)} → ${rounded(score)} (0–${maxScore})` }];
  });
  if (fallen.length === 0) return [];
  const worst = fallen.toSorted((one, other) => other.fall - one.fall).slice(0, maxNamed);
  const text = say("alert_quality", { connection: nameOf(connection), scores: worst.map((one) => one.text).join("; ") });
  return [{ kind: "quality", subject: connection.id, text }];
}

/** Empty for all events together. A name that the platform made up stays out of messages: it may contain anything. */
const nameOfEvent = (event: string) => (event === "" ? "" : /^[\w .-]{1,50}$/.test(event) ? `${event} ` : "… ");

const rounded = (score: number) => Math.round(score * 10) / 10;

function median(values: readonly number[]): number | null {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? null;
}
