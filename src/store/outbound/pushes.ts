// Pushes: one period for one webhook, and the log of every call.
//
// One node at a time leases a webhook: claiming it moves its due time to the end of the lease and writes the owner, and
// only the owner can settle. Periods are pushed in order: the next one only after the receiver accepted the oldest.

import { minuteMs } from "../../kernel/time.ts";
import { writeAudit, type AuditLine } from "../sites/audit.ts";
import { columns } from "../schema/columns.ts";
import { asNumber, asNumberOrNull, asText, asTextOrNull, describeRow, qualified, readNumber } from "../describeRow.ts";
import { rowStatement, type Database, type Query, type Row, type RowQuery } from "../engine/database.ts";
import { periodRow, type Period } from "./periods.ts";
import type { Address } from "./webhooks.ts";

export type WebhookKey = { siteId: string; webhookId: string };

/** The oldest queued period of a webhook that this node has leased. */
export type Push = WebhookKey & {
  address: Address;
  period: Period;
  /** Consecutive failures so far, and the time of the first. */
  failures: number;
  failingSince: number | null;
  leaseUntil: number;
};

/** One HTTP call in the push log. */
export type PushCall = {
  id: string;
  startedAt: number;
  durationMs: number;
  ok: boolean;
  httpStatus: number | null;
  /** The error in our own words, never the receiver's text. */
  error: string | null;
  /** Bounded, escaped and without secrets. */
  response: string | null;
};

export type PushLine = PushCall & {
  /** null for a test. */
  period: Pick<Period, "number" | "startsAt" | "endsAt" | "conversions" | "removed"> | null;
};

type PushSettlement = WebhookKey & {
  owner: string;
  number: number;
  at: number;
  calls: readonly PushCall[];
} & ({ ok: true } | { ok: false; failures: number; failingSince: number; dueAt: number; disabled: AuditLine | null });

type LoggedCall = WebhookKey & PushCall & { number: number | null };

export const callRow = describeRow<LoggedCall, LoggedCall>({
  siteId: asText,
  webhookId: asText,
  id: asText,
  number: asNumberOrNull,
  startedAt: asNumber,
  durationMs: asNumber,
  ok: { read: (value) => Number(value) === 1, pack: Number },
  httpStatus: asNumberOrNull,
  error: asTextOrNull,
  response: asTextOrNull,
});

const insertCalls = rowStatement({
  text: `INSERT INTO push_log (${callRow.inserted.join(", ")}) VALUES {ROWS} ON CONFLICT DO NOTHING`,
  columns: callRow.inserted.length,
});

/** A webhook whose row is damaged is read again after this time: a person may have restored it from a backup. */
const rereadMs = minuteMs;

/** `addressOf` returns null for a webhook whose row is damaged. */
export function pushStore(db: Database, addressOf: (row: Row) => Address | null, newId: () => string) {
  return {
    /** Lists webhooks with a push due. Takes no locks, because claiming decides. */
    async findDue(now: number): Promise<WebhookKey[]> {
      const rows = await db.background.all(
        `SELECT site_id, id FROM webhooks WHERE state = 'active' AND due_at <= $1
           AND EXISTS (SELECT 1 FROM pushes WHERE pushes.site_id = webhooks.site_id
             AND pushes.webhook_id = webhooks.id AND pushes.state = 'queued')
         ORDER BY due_at`,
        [now],
      );
      return rows.map((row) => ({ siteId: String(row.site_id), webhookId: String(row.id) }));
    },

    /** Leases a webhook if it is due and has a queued push. One whose row is damaged keeps its queue, and is read again later. */
    claim({ siteId, webhookId }: WebhookKey, lease: { owner: string; now: number; until: number }): Promise<Push | null> {
      return db.write(async (tx) => {
        // The owner matches when the transaction runs again, because its commit was not confirmed.
        const [row] = await tx.all(
          `UPDATE webhooks SET owner = $3, due_at = $4, updated_at = $5
           WHERE site_id = $1 AND id = $2 AND state = 'active' AND (due_at <= $5 OR owner = $3) RETURNING ${columns.webhooks}`,
          [siteId, webhookId, lease.owner, lease.until, lease.now],
        );
        if (!row) return null;
        const address = addressOf(row);
        if (!address) {
          await releaseWebhook(tx, siteId, webhookId, lease.now + rereadMs);
          // The monitor reads the webhooks of those sites alone that have a failing one.
          const sql = `UPDATE webhooks SET failing_since = COALESCE(failing_since, $3) WHERE site_id = $1 AND id = $2`;
          await tx.all(sql, [siteId, webhookId, lease.now]);
          return null;
        }
        const [oldest] = await tx.all(
          `SELECT ${qualified("periods", periodRow)} FROM pushes
           JOIN periods ON periods.site_id = pushes.site_id AND periods.number = pushes.number
           WHERE pushes.site_id = $1 AND pushes.webhook_id = $2 AND pushes.state = 'queued'
           ORDER BY pushes.number LIMIT 1`,
          [siteId, webhookId],
        );
        if (!oldest) {
          await releaseWebhook(tx, siteId, webhookId);
          return null;
        }
        return {
          siteId,
          webhookId,
          address,
          period: periodRow.read(oldest),
          failures: Number(row.attempts),
          failingSince: readNumber(row.failing_since),
          leaseUntil: lease.until,
        };
      });
    },

    /** False when another node owns the webhook by now. */
    async renewLease(
      { siteId, webhookId }: WebhookKey,
      { owner, now, until }: { owner: string; now: number; until: number },
    ): Promise<boolean> {
      const rows = await db.run(
        `UPDATE webhooks SET due_at = $4, updated_at = $5 WHERE site_id = $1 AND id = $2 AND owner = $3 RETURNING id`,
        [siteId, webhookId, owner, until, now],
      );
      return rows.length > 0;
    },

    /** Writes the outcome of a push and ends the lease. False when another node owns the webhook by now. */
    settle(settlement: PushSettlement): Promise<boolean> {
      const lineId = newId();
      return db.write((tx) => settleOne(tx, lineId, settlement));
    },

    /** Writes the calls of a test to the log. */
    async logTest(key: WebhookKey, calls: readonly PushCall[]): Promise<void> {
      await db.write((tx) => writeLog(tx, key, null, calls));
    },

    /** For the embedded store, which has one node: leases of an earlier process are void. */
    async releaseLeases(): Promise<void> {
      await db.run(`UPDATE webhooks SET owner = '', due_at = 0 WHERE owner <> ''`);
    },

    /** Queues all periods that overlap the given time again, pushed or not. Returns their numbers. */
    requeue({ siteId, webhookId }: WebhookKey, from: number, to: number, line: AuditLine): Promise<number[]> {
      const lineId = newId();
      return db.write(async (tx) => {
        const rows = await tx.all(
          `UPDATE pushes SET state = 'queued' WHERE site_id = $1 AND webhook_id = $2 AND number IN
             (SELECT number FROM periods WHERE site_id = $1 AND ends_at > $3 AND starts_at < $4)
           RETURNING number`,
          [siteId, webhookId, from, to],
        );
        if (rows.length) await writeAudit(tx, lineId, line);
        return rows.map((row) => Number(row.number)).toSorted((one, other) => one - other);
      });
    },

    /** Sums up the queued periods of a webhook. */
    async sumQueued({ siteId, webhookId }: WebhookKey): Promise<{ periods: number; conversions: number; removed: number }> {
      const [row] = await db.all(
        `SELECT COUNT(*) AS periods, COALESCE(SUM(periods.conversions), 0) AS conversions,
           COALESCE(SUM(periods.removed), 0) AS removed
         FROM pushes JOIN periods ON periods.site_id = pushes.site_id AND periods.number = pushes.number
         WHERE pushes.site_id = $1 AND pushes.webhook_id = $2 AND pushes.state = 'queued'`,
        [siteId, webhookId],
      );
      return {
        periods: Number(row?.periods),
        conversions: Number(row?.conversions),
        removed: Number(row?.removed),
      };
    },

    /** Lists the log of a webhook, newest first; `before` is the id of the last line of the previous page. */
    async listLog({ siteId, webhookId }: WebhookKey, limit: number, before?: string): Promise<PushLine[]> {
      const rows = await db.all(
        `SELECT ${qualified("push_log", callRow)}, periods.starts_at, periods.ends_at, periods.conversions, periods.removed FROM push_log
         LEFT JOIN periods ON periods.site_id = push_log.site_id AND periods.number = push_log.number
         WHERE push_log.site_id = $1 AND push_log.webhook_id = $2 ${before === undefined ? "" : "AND push_log.id < $4"}
         ORDER BY push_log.id DESC LIMIT $3`,
        before === undefined ? [siteId, webhookId, limit] : [siteId, webhookId, limit, before],
      );
      return rows.map(lineOf);
    },

    /** Deletes log lines, pushes and periods from before `before`; queued pushes stay. Returns how many rows there were. */
    purge: (siteId: string, before: number): Promise<number> =>
      db.write(async (tx) => {
        const lines = await tx.all(`DELETE FROM push_log WHERE site_id = $1 AND started_at < $2 RETURNING id`, [siteId, before]);
        const sent = await tx.all(
          `DELETE FROM pushes WHERE site_id = $1 AND ((state = 'sent' AND sent_at < $2)
             OR webhook_id NOT IN (SELECT id FROM webhooks WHERE site_id = $1)) RETURNING number`,
          [siteId, before],
        );
        const periods = await tx.all(
          `DELETE FROM periods WHERE site_id = $1 AND closed_at < $2 AND NOT EXISTS
             (SELECT 1 FROM pushes WHERE pushes.site_id = $1 AND pushes.number = periods.number)
           RETURNING number`,
          [siteId, before],
        );
        return lines.length + sent.length + periods.length;
      }),
  };
}

async function releaseWebhook(tx: Query, siteId: string, webhookId: string, dueAt = 0): Promise<void> {
  await tx.all(`UPDATE webhooks SET owner = '', due_at = $3 WHERE site_id = $1 AND id = $2`, [siteId, webhookId, dueAt]);
}

async function settleOne(tx: RowQuery, lineId: string, settlement: PushSettlement): Promise<boolean> {
  const { siteId, webhookId, owner, number, at, calls } = settlement;
  const next = settlement.ok ? { failures: 0, failingSince: null, dueAt: 0 } : settlement;
  const [row] = await tx.all(
    `UPDATE webhooks SET owner = '', attempts = $4, failing_since = $5, due_at = $6, updated_at = $7
     WHERE site_id = $1 AND id = $2 AND owner = $3 RETURNING state`,
    [siteId, webhookId, owner, next.failures, next.failingSince, next.dueAt, at],
  );
  if (!row) return false;
  await tx.all(
    `UPDATE pushes SET state = $4, attempts = attempts + $5, sent_at = $6
     WHERE site_id = $1 AND webhook_id = $2 AND number = $3`,
    [siteId, webhookId, number, settlement.ok ? "sent" : "queued", calls.length, settlement.ok ? at : null],
  );
  await writeLog(tx, { siteId, webhookId }, number, calls);
  // If a member has disabled it meanwhile, their reason stays.
  if (!settlement.ok && settlement.disabled && row.state === "active") {
    await tx.all(`UPDATE webhooks SET state = 'disabled', state_reason = $3 WHERE site_id = $1 AND id = $2`, [
      siteId,
      webhookId,
      String(settlement.disabled.detail.reason),
    ]);
    await writeAudit(tx, lineId, settlement.disabled);
  }
  return true;
}

async function writeLog(tx: RowQuery, key: WebhookKey, number: number | null, calls: readonly PushCall[]): Promise<void> {
  await tx.change(
    insertCalls,
    calls.map((call) => callRow.values({ ...key, ...call, number })),
  );
}

function lineOf(row: Row): PushLine {
  const { siteId: _site, webhookId: _webhook, number, ...call } = callRow.read(row);
  if (number === null) return { ...call, period: null };
  const { startsAt, endsAt, conversions, removed } = periodRow.read(row);
  return { ...call, period: { number, startsAt, endsAt, conversions, removed } };
}
