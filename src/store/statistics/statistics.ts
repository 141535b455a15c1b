// Hourly statistics, and the rows that statistics/hourlyRollup.ts computes them from.

import { hourMs, minuteMs } from "../../kernel/time.ts";
import { idAt, timeOfId } from "../../kernel/ids.ts";
import { readList } from "../damagedRows.ts";
import { asNumber, asOneOf, asText, describeRow } from "../describeRow.ts";
import { allByKeys, insertRow, insertRows, orReplace, type Database, type Query, type Row } from "../engine/database.ts";
import type { Delivery } from "../deliveries/delivery.ts";
import { deliverySource, readDeliveries } from "../deliveries/readDeliveries.ts";
import { readCounted, summaryColumns, type CountedEvent } from "../events/eventRow.ts";

/**
 * conversion: by event name and currency. source, campaign: the same conversions by theirs, refunds without their value.
 * delivery: by platform and state. delivered: the conversions that a platform accepted, by currency. filtered: by reason.
 * click id: by its name. first and linear: what these models move from the last touch to others (src/statistics/models.ts); the
 * counts are parts of a conversion. The others have no name: of the conversions, those with an identity record, with identifiers
 * withheld, with at least one click id; and test events.
 */
export const statisticsKinds = [
  "conversion",
  "source",
  "campaign",
  "first source",
  "first campaign",
  "linear source",
  "linear campaign",
  "delivery",
  "delivered",
  "filtered",
  "click id",
  "identified",
  "withheld",
  "with click id",
  "test",
] as const;
export type StatisticsKind = (typeof statisticsKinds)[number];

/** `value` is in `currency`; "" and 0 for a figure without a value. */
export type Figure = { kind: StatisticsKind; name: string; currency: string; count: number; value: number };
/** `hour` is the one in which charts show it. Events that arrive late are shown when they happened. */
export type HourFigure = Figure & { hour: number };

/** Every hour with events from `fromHour` to before `toHour` is computed. */
export type StatisticsHead = { fromHour: number; toHour: number };

/** The conversions of one event name, source, campaign or platform. */
export type Segment = { segment: SegmentKind; name: string };
export const segmentKinds = ["event", "source", "campaign", "platform"] as const;
export type SegmentKind = (typeof segmentKinds)[number];
export type SegmentFigures = Segment & { figures: Figure[] };
/** The hour in which charts show figures; without one, the hour that was counted. */
type Charted<Some> = Some & { hour?: number };

export type Portion = {
  /** `happenedHour` is there for events that arrived late. */
  events: (CountedEvent & { happenedHour?: number })[];
  deliveries: Pick<Delivery, "eventId" | "platform" | "state">[];
};

const figureRow = describeRow<HourFigure, HourFigure>({
  hour: { column: "charted_hour", write: (one) => one.hour, read: Number },
  kind: asOneOf<StatisticsKind>(),
  name: asText,
  currency: asText,
  count: asNumber,
  value: asNumber,
});

export function statisticsStore(db: Database) {
  async function findHour(siteId: string, fromHour: number, toHour: number, order: "ASC" | "DESC") {
    const sql = `SELECT id FROM events WHERE site_id = $1 AND id >= $2 AND id < $3 ORDER BY id ${order} LIMIT 1`;
    const [row] = await db.all(sql, [siteId, idAt(fromHour * hourMs), idAt(toHour * hourMs)]);
    return row ? Math.floor(timeOfId(String(row.id)) / hourMs) : null;
  }

  return {
    async findHead(siteId: string): Promise<StatisticsHead | null> {
      const [row] = await db.all(`SELECT from_hour, to_hour FROM statistics_heads WHERE site_id = $1`, [siteId]);
      return row ? { fromHour: Number(row.from_hour), toHour: Number(row.to_hour) } : null;
    },

    async saveHead(siteId: string, { fromHour, toHour }: StatisticsHead): Promise<void> {
      const row = { site_id: siteId, from_hour: fromHour, to_hour: toHour };
      await insertRow(db, "statistics_heads", row, orReplace("site_id", "from_hour", "to_hour"));
    },

    /** Lets the worker compute all hours again, after events of the past were written. */
    async restart(siteId: string): Promise<void> {
      await db.run(`DELETE FROM statistics_heads WHERE site_id = $1`, [siteId]);
    },

    /** Finds the first hour with events from `fromHour` to before `toHour`. */
    findNextHour: (siteId: string, fromHour: number, toHour: number) => findHour(siteId, fromHour, toHour, "ASC"),

    /** Finds the last hour with events from `fromHour` to before `toHour`. */
    findPreviousHour: (siteId: string, toHour: number, fromHour = 0) => findHour(siteId, fromHour, toHour, "DESC"),

    /** Lists up to `max` events of an hour after the id `after`, in order of id, with their deliveries. */
    async listPortion(siteId: string, hour: number, after: string, max: number): Promise<Portion> {
      const rows = await db.all(
        `SELECT ${summaryColumns}, ${deliverySource}, time FROM events
         WHERE site_id = $1 AND id > $2 AND id < $3 ORDER BY id LIMIT $4`,
        // One lower bound: of two, SQLite takes the first, and would read all events from the site's oldest on.
        [siteId, after || idAt(hour * hourMs), idAt((hour + 1) * hourMs), max],
      );
      const deliveries = await readDeliveries(db, siteId, rows);
      return { events: rows.map(readHappened), deliveries: [...deliveries.values()].flat() };
    },

    /** Replaces the figures of an hour, unless another node has computed them from newer rows. */
    async replaceHour(
      siteId: string,
      hour: number,
      figures: readonly Charted<Figure>[],
      {
        segments = [],
        rolledAt,
        dueAt,
        settledEvents = null,
      }: {
        segments?: readonly Charted<SegmentFigures>[];
        rolledAt: number;
        dueAt: number;
        /** The number of events that were counted, where no delivery of them waits. */
        settledEvents?: number | null;
      },
    ): Promise<void> {
      const replace = async (tx: Query) => {
        // Written first, which serialises nodes that compute the same hour.
        const first = { site_id: siteId, hour, rolled_at: 0, due_at: 0 };
        const locked = `${orReplace("site_id, hour", "hour")} RETURNING rolled_at, due_at`;
        const [row] = await insertRow(tx, "statistics_hours", first, locked);
        const known = Number(row?.rolled_at);
        // A time further ahead was written by a clock that was wrong, unless the events of the hour were purged.
        if (known > rolledAt && (known <= rolledAt + 10 * minuteMs || known === finalAt)) return;
        // A delivery of this hour was replayed during the computation, so the hour stays due.
        const knownDue = Number(row?.due_at);
        const isReplayed = knownDue > rolledAt;
        await tx.all(
          `UPDATE statistics_hours SET rolled_at = $3, due_at = $4, settled_events = $5 WHERE site_id = $1 AND hour = $2`,
          [siteId, hour, rolledAt, isReplayed ? Math.min(knownDue, dueAt) : dueAt, isReplayed ? null : settledEvents],
        );
        await tx.all(`DELETE FROM statistics WHERE site_id = $1 AND hour = $2`, [siteId, hour]);
        const key = { site_id: siteId, hour };
        const rows = figures.map(({ hour: at = hour, ...figure }) => ({ ...key, charted_hour: at, ...figure }));
        await insertRows(tx, "statistics", rows);
        // SQLite would look through all segments of the site: it finds an hour by its index only where it reads nothing but keys.
        await tx.all(
          `DELETE FROM statistics_segments WHERE site_id = $1 AND hour = $2 AND (segment, name, charted_hour) IN
             (SELECT segment, name, charted_hour FROM statistics_segments WHERE site_id = $1 AND hour = $2)`,
          [siteId, hour],
        );
        const parts = segments.map(({ segment, name, hour: at = hour, figures: some }) => {
          return { ...key, segment, name, charted_hour: at, figures: packFigures(some) };
        });
        await insertRows(tx, "statistics_segments", parts);
      };
      await db.write(replace, { isBackground: true });
    },

    /**
     * Ends the computation of an hour that is due, where nothing has changed: all deliveries had ended, and there are as many events
     * as then. False where it must be computed again. The figures count as computed now: where this clock is ahead, its correction
     * finds them.
     */
    async endHour(siteId: string, hour: number, now: number): Promise<boolean> {
      const rows = await db.run(
        `UPDATE statistics_hours SET rolled_at = $3, due_at = $4
         WHERE site_id = $1 AND hour = $2 AND due_at <= $3 AND settled_events =
           (SELECT COUNT(*) FROM events WHERE site_id = $1 AND id >= $5 AND id < $6) RETURNING hour`,
        [siteId, hour, now, finalAt, idAt(hour * hourMs), idAt((hour + 1) * hourMs)],
      );
      return rows.length > 0;
    },

    /** Lists hours whose deliveries may have changed since they were computed. */
    async listDueHours(siteId: string, now: number, max: number): Promise<number[]> {
      const rows = await db.all(
        `SELECT hour FROM statistics_hours WHERE site_id = $1 AND due_at <= $2 ORDER BY due_at LIMIT $3`,
        [siteId, now, max],
      );
      return rows.map((row) => Number(row.hour));
    },

    /** Lists the figures from `fromHour` to before `toHour`. */
    async listFigures(siteId: string, fromHour: number, toHour: number): Promise<HourFigure[]> {
      const rows = await db.all(
        `SELECT ${figureRow.list} FROM statistics
         WHERE site_id = $1 AND charted_hour >= $2 AND charted_hour < $3`,
        [siteId, fromHour, toHour],
      );
      return rows.map(figureRow.read);
    },

    /** Lists the figures of a segment from `fromHour` to before `toHour`. */
    async listSegment(siteId: string, { segment, name }: Segment, fromHour: number, toHour: number): Promise<HourFigure[]> {
      const rows = await db.all(
        `SELECT charted_hour, figures FROM statistics_segments
         WHERE site_id = $1 AND segment = $2 AND name = $3 AND charted_hour >= $4 AND charted_hour < $5`,
        [siteId, segment, name, fromHour, toHour],
      );
      return rows.flatMap((row) => {
        const hour = Number(row.charted_hour);
        return readFigures(String(row.figures)).map((figure) => ({ ...figure, hour }));
      });
    },
  };
}

/** A sender may report a conversion some minutes after it happened, which is not late. */
const lateMs = hourMs;

/** Ids have the time of receipt, but for imported events, whose ids have the time of the conversion. */
function readHappened(row: Row): Portion["events"][number] {
  const [event, time] = [readCounted(row), Number(row.time)];
  return timeOfId(event.id) - time < lateMs ? event : { ...event, happenedHour: Math.floor(time / hourMs) };
}

type PackedFigure = [kind: StatisticsKind, name: string, currency: string, count: number, value: number];

const packFigures = (figures: readonly Figure[]) =>
  JSON.stringify(figures.map(({ kind, name, currency, count, value }): PackedFigure => [kind, name, currency, count, value]));

/** A damaged row counts nothing; `check` names it. */
function readFigures(text: string): Figure[] {
  return (readList(text) as PackedFigure[]).map(([kind, name, currency, count, value]) => ({
    kind,
    name,
    currency,
    count,
    value,
  }));
}

/** Hours that are looked through in one read: each may have figures of many names. */
const hoursPerRead = 100;

/**
 * Finds the newest hour up to `hour` that may have deliveries of a platform in these states, or a later one, from which to go on. The
 * figures of the hours between are final and count none, not even test events, whose deliveries are not counted.
 */
export async function findHourWithDeliveries(
  db: Query,
  siteId: string,
  { platform = "%", states }: { platform?: string; states?: readonly string[] },
  hour: number,
): Promise<number> {
  const names = (states ?? ["%"]).map((state) => `${platform} ${state}`);
  const isCounted = names.map((_name, i) => `name LIKE $${i + 3}`).join(" OR ");
  const [row] = await db.all(
    `SELECT from_hour, to_hour, (
       SELECT MAX(hour) FROM statistics_hours AS computed
       WHERE site_id = $1 AND hour <= $2 AND hour > $2 - ${hoursPerRead} AND hour >= heads.from_hour AND (due_at < ${finalAt} OR EXISTS (
         SELECT 1 FROM statistics
         WHERE site_id = $1 AND hour = computed.hour AND (kind = 'test' OR (kind = 'delivery' AND (${isCounted})))
       ))) AS found
     FROM statistics_heads AS heads WHERE site_id = $1`,
    [siteId, hour, ...names],
  );
  if (!row || hour < Number(row.from_hour) || hour >= Number(row.to_hour)) return hour;
  return Number(row.found ?? Math.max(Number(row.from_hour) - 1, hour - hoursPerRead));
}

/** In place of a time: these figures are final, because their events are purged. */
export const finalAt = Number.MAX_SAFE_INTEGER;

/** An hour is closed this long after its end: by then every node has committed the events that it accepted in that hour. */
export const closedAfterMs = 5 * minuteMs;

/** Time for requeued deliveries to be sent. */
const settlingMs = 5 * minuteMs;

const hoursOf = (eventIds: readonly string[]) =>
  [...new Set(eventIds.map((id) => Math.floor(timeOfId(id) / hourMs)))].toSorted((a, b) => a - b);

/** Marks the hours of these events as due, because their deliveries are about to change. */
export async function markHours(tx: Query, siteId: string, eventIds: readonly string[], now: number): Promise<void> {
  const hours = hoursOf(eventIds);
  await allByKeys(
    tx,
    `UPDATE statistics_hours SET due_at = CASE WHEN due_at < $2 THEN due_at ELSE $2 END, settled_events = NULL
     WHERE site_id = $1 AND hour IN ({KEYS}) AND rolled_at < ${finalAt}`,
    [siteId, now + settlingMs],
    hours.filter((hour) => hour >= 0),
  );
}

/**
 * Marks the hours of events that are accepted long after the time of their ids, because the clock of their node is behind: another
 * node may have counted these hours for the last time. One that has counted an hour and not written it yet finds the row.
 */
export async function markLateHours(tx: Query, siteId: string, eventIds: readonly string[], now: number): Promise<void> {
  const rows = hoursOf(eventIds).map((hour) => ({ site_id: siteId, hour, rolled_at: 0, due_at: now + settlingMs }));
  const sooner = `statistics_hours.due_at > excluded.due_at AND statistics_hours.rolled_at < ${finalAt}`;
  await insertRows(tx, "statistics_hours", rows, `${orReplace("site_id, hour", "due_at")} WHERE ${sooner}`);
}
