// Counts of visits by hour, a sample of bot visits, and their clicks on advertisements.

import { hash } from "node:crypto";
import type { Verdict, VisitBucket } from "../../kernel/event.ts";
import { idAt, lastId } from "../../kernel/ids.ts";
import { hourMs, maxTime, minuteMs, type Period } from "../../kernel/time.ts";
import { damageFindings, tryRead, unsealObject } from "../damagedRows.ts";
import { columns } from "../schema/columns.ts";
import {
  allByKeys,
  chunks,
  clockOr,
  insertRow,
  insertRows,
  orReplace,
  writeBySite,
  type Database,
  type Query,
  type Row,
} from "../engine/database.ts";
import type { Seal } from "../engine/seal.ts";
import { saveBotVisits } from "../outbound/totals.ts";
import { beginAlert } from "./alerts.ts";
import { mergeWriters } from "./inboundCounts.ts";

/** `hour` counts from the epoch; `reason` is the kind of bot, or marks suspicious visits of people. */
export type VisitCount = {
  siteId: string;
  hour: number;
  bucket: VisitBucket;
  reason: string;
  visits: number;
};

/** The reason of visits that count as people's though there is evidence against them; in samples, with that evidence. */
export const suspicious = "suspicious:";

/**
 * Visits with each piece of evidence, submitted emails with it, and conversions of people who have visits with it; without a name, all
 * submitted emails, and all conversions of people who visited.
 */
export const evidenceBuckets = ["evidence", "evidence at emails", "evidence at conversions"] as const;
export type EvidenceBucket = (typeof evidenceBuckets)[number];
type EvidenceCount = Omit<VisitCount, "bucket" | "hour"> & { bucket: EvidenceBucket };

/** Clicks on advertisements, and those of them that were bots'. The reason is the name of the click id and the campaign. */
export const clickBuckets = ["clicks", "clicks of bots"] as const;
export type ClickBucket = (typeof clickBuckets)[number];
export type ClickCount = {
  bucket: ClickBucket;
  /** Days since the epoch, in UTC. */ day: number;
  reason: string;
  clicks: number;
};

export type CountBucket = VisitBucket | EvidenceBucket | ClickBucket;
type WrittenCount = Omit<VisitCount, "bucket"> & { bucket: CountBucket };

/** `seen` is the evidence of the verdict, with the address cut down to its network. */
export type BotVisit<Seen = unknown> = {
  siteId: string;
  id: string;
  seenAt: number;
  /** The reason under which it is counted. */
  reason: string;
  verdict: Verdict;
  page: string;
  seen: Seen;
  /** The click on an advertisement that brought it; null if there was none, or if it is kept with another visit. */
  click: { name: string; value: string; campaign: string } | null;
};

const visitCounts = { name: "visit_counts", keys: ["bucket", "reason"], count: "visits" } as const;

/** Nodes read every few seconds. */
const newsKeptMs = minuteMs;

export function trafficStore(db: Database, seal: Seal, clock: () => number = Date.now) {
  return {
    /**
     * Replaces this writer's counts of the same hours: safe to repeat. `bots` is the all-time number of bot visits by site that
     * `botWriter` has counted; it commits together with the counts, so that webhooks report what the counts show.
     */
    async saveCounts(
      writer: string,
      counts: readonly WrittenCount[],
      bots: ReadonlyMap<string, number> = new Map(),
      botWriter = writer,
    ): Promise<void> {
      await writeBySite(db, counts, async (tx, ofSite, siteId) => {
        const rows = ofSite.map(({ hour, bucket, reason, visits }) => ({
          site_id: siteId,
          hour,
          bucket,
          reason,
          writer,
          visits,
        }));
        await insertRows(tx, "visit_counts", rows, orReplace("site_id, hour, bucket, reason, writer", "visits"));
        const seen = bots.get(siteId);
        if (seen !== undefined) await saveBotVisits(tx, siteId, botWriter, seen);
      });
    },

    /** Sums the counts from `fromHour` to before `toHour` by hour, bucket and reason. */
    async listCounts(siteId: string, fromHour: number, toHour: number): Promise<VisitCount[]> {
      const rows = await db.all(
        `SELECT hour, bucket, reason, SUM(visits) AS visits FROM visit_counts
         WHERE site_id = $1 AND hour >= $2 AND hour < $3 AND bucket NOT LIKE 'evidence%' AND bucket NOT LIKE 'clicks%'
         GROUP BY hour, bucket, reason ORDER BY hour, bucket, reason`,
        [siteId, fromHour, toHour],
      );
      return rows.map((row) => ({
        siteId,
        hour: Number(row.hour),
        bucket: row.bucket as VisitBucket,
        reason: String(row.reason),
        visits: Number(row.visits),
      }));
    },

    /** Sums the visits with each piece of evidence from `fromHour` to before `toHour`. */
    async listEvidence(siteId: string, fromHour: number, toHour: number): Promise<EvidenceCount[]> {
      const rows = await db.all(
        `SELECT bucket, reason, SUM(visits) AS visits FROM visit_counts
         WHERE site_id = $1 AND hour >= $2 AND hour < $3 AND bucket LIKE 'evidence%'
         GROUP BY bucket, reason ORDER BY bucket, reason`,
        [siteId, fromHour, toHour],
      );
      return rows.map((row) => ({
        siteId,
        bucket: row.bucket as EvidenceBucket,
        reason: String(row.reason),
        visits: Number(row.visits),
      }));
    },

    /** Sums the clicks from `fromDay` to before `toDay` by day, name and campaign. */
    async listClickCounts(siteId: string, fromDay: number, toDay: number): Promise<ClickCount[]> {
      const rows = await db.all(
        `SELECT bucket, hour / 24 AS day, reason, SUM(visits) AS clicks FROM visit_counts
         WHERE site_id = $1 AND hour >= $2 AND hour < $3 AND bucket LIKE 'clicks%'
         GROUP BY bucket, hour / 24, reason ORDER BY hour / 24, reason`,
        [siteId, fromDay * 24, toDay * 24],
      );
      return rows.map(({ bucket, day, reason, clicks }) => ({
        bucket: bucket as ClickBucket,
        day: Number(day),
        reason: String(reason),
        clicks: Number(clicks),
      }));
    },

    async addBotVisit(visit: BotVisit): Promise<void> {
      const { siteId, id, seenAt, reason, verdict, page, seen, click } = visit;
      const record = seal.seal(JSON.stringify({ verdict, page, seen, click }), botVisitPlace(siteId, id));
      const ofClick = click && clickHash(siteId, click.value);
      const row = { site_id: siteId, id, seen_at: seenAt, reason, click_hash: ofClick, record };
      await insertRow(db, "bot_visits", row, "ON CONFLICT DO NOTHING");
    },

    /** Tells the other nodes what this one observed, and deletes what all nodes that run have read. */
    async shareNews(writer: string, number: number, news: readonly unknown[]): Promise<void> {
      const at = clockOr(db, 1);
      await db.write(
        async (tx) => {
          if (news.length > 0)
            await tx.all(
              `INSERT INTO shared_traffic (site_id, writer, number, written_at, record) VALUES ('', $2, $3, ${at}, $4)
               ON CONFLICT DO NOTHING`,
              [clock(), writer, number, JSON.stringify(news)],
            );
          await tx.all(`DELETE FROM shared_traffic WHERE site_id = '' AND written_at < ${at} - ${newsKeptMs}`, [clock()]);
        },
        { isRepeatable: true, siteId: "" },
      );
    },

    /** Lists what other nodes told lately, in their order. */
    async listNews(writer: string): Promise<{ writer: string; number: number; news: unknown }[]> {
      const rows = await db.background.all(
        `SELECT writer, number, record FROM shared_traffic
         WHERE site_id = '' AND writer <> $2 AND written_at > ${clockOr(db, 1)} - ${newsKeptMs / 2} ORDER BY writer, number`,
        [clock(), writer],
      );
      return rows.map(({ writer: by, number, record }) => ({
        writer: String(by),
        number: Number(number),
        news: tryRead(() => JSON.parse(String(record)) as unknown) ?? [],
      }));
    },

    /** Deletes the visits that these clicks brought. */
    async eraseClicks(siteId: string, values: readonly string[]): Promise<void> {
      const hashes = values.map((value) => clickHash(siteId, value));
      for (const some of chunks(hashes))
        await db.write((tx) =>
          allByKeys(tx, `DELETE FROM bot_visits WHERE site_id = $1 AND click_hash IN ({KEYS})`, [siteId], some),
        );
    },

    /** Lists the newest first; `before` is the last id of the previous page. Leaves out rows that are damaged. */
    async listBotVisits(
      siteId: string,
      limit: number,
      before: string = lastId,
      kind: BotVisitKind = "bots",
      { from = 0, to = maxTime }: Period = {},
    ): Promise<BotVisit[]> {
      const found: BotVisit[] = [];
      for (let after = before; ;) {
        const rows = await db.all(
          `SELECT ${columns.bot_visits} FROM bot_visits WHERE site_id = $1 AND id < $2 AND seen_at >= $4 AND seen_at < $5 AND ${kinds[kind]} ORDER BY id DESC LIMIT $3`,
          [siteId, after, limit, from, to],
        );
        const readable = rows.flatMap((row) => botVisitOf(row, seal) ?? []);
        found.push(...readable.slice(0, limit - found.length));
        if (readable.length < rows.length) await db.write((tx) => beginAlert(tx, siteId, damageFindings.botVisits, clock()));
        const last = rows.at(-1);
        if (!last || rows.length < limit || found.length === limit) return found;
        after = String(last.id);
      }
    },

    async findBotVisit(siteId: string, id: string): Promise<BotVisit | null> {
      const [row] = await db.all(`SELECT ${columns.bot_visits} FROM bot_visits WHERE site_id = $1 AND id = $2`, [siteId, id]);
      return row ? botVisitOf(row, seal) : null;
    },

    /**
     * Deletes bot visits from before `before`, and those with a click from before `clicksBefore`. Merges old counts of several
     * writers. Returns how many rows there were.
     */
    async purge(siteId: string, { before, clicksBefore }: BotVisitAges, now: number): Promise<number> {
      const purgeAll = async (tx: Query) => {
        // Ids sort by the time of their visits: without them every visit of the site would be read.
        const visits = await tx.all(
          `DELETE FROM bot_visits WHERE site_id = $1 AND id < $4 AND (seen_at < $2 OR (seen_at < $3 AND click_hash IS NULL)) RETURNING id`,
          [siteId, clicksBefore, before, idAt(Math.max(before, clicksBefore) + hourMs)],
        );
        return visits.length + (await mergeWriters(tx, visitCounts, siteId, now));
      };
      return db.write(purgeAll, { isBackground: true });
    },
  };
}

/** Bots, people with evidence against them, or the clicks of bots on advertisements. */
type BotVisitKind = "bots" | "suspicious" | "clicks";
type BotVisitAges = { before: number; clicksBefore: number };

const kinds: Readonly<Record<BotVisitKind, string>> = {
  bots: `reason NOT LIKE '${suspicious}%'`,
  suspicious: `reason LIKE '${suspicious}%'`,
  clicks: "click_hash IS NOT NULL",
};

/** Finds the click without telling it. */
const clickHash = (siteId: string, value: string) => hash("sha256", `${siteId}\n${value}`, "base64url");

export const botVisitPlace = (siteId: string, id: string) => `bot visit ${siteId} ${id}`;

function botVisitOf(row: Row, seal: Seal): BotVisit | null {
  const siteId = String(row.site_id);
  const id = String(row.id);
  const record = unsealObject(seal, String(row.record), botVisitPlace(siteId, id));
  if (!record) return null;
  const { verdict, page, seen, click } = record as Pick<BotVisit, "verdict" | "page" | "seen" | "click">;
  return { siteId, id, seenAt: Number(row.seen_at), reason: String(row.reason), verdict, page, seen, click };
}
