// Webhooks: their URLs, secrets and states. Their queues and logs are in pushes.ts.

import { writeAudited, type AuditLine } from "../sites/audit.ts";
import { unsealObject } from "../damagedRows.ts";
import { columns } from "../schema/columns.ts";
import { readNumber } from "../describeRow.ts";
import type { Database, Query, Row } from "../engine/database.ts";
import { cannotBeRead } from "../sites/configuration.ts";
import { beginPeriods } from "./periods.ts";
import { tryUnseal, type Seal } from "../engine/seal.ts";

export const webhookStates = ["active", "disabled"] as const;
type WebhookState = (typeof webhookStates)[number];

/** The part of a webhook that may be shown. */
export type Webhook = {
  siteId: string;
  id: string;
  /** Without the path, which may hold a token. null where the row is damaged: then nothing is pushed. */
  origin: string | null;
  sendEmpty: boolean;
  state: WebhookState;
  /** Why it is disabled. */
  stateReason: string | null;
  /** False where the relay disabled it, because it failed for too long or cannot be read. */
  isDisabledByPerson: boolean;
  /** The time of the first consecutive failure; null when the last push succeeded. */
  failingSince: number | null;
  /** Consecutive failures. */
  attempts: number;
  /** When it pushes next, if it has a queued push. */
  dueAt: number;
  /** Until when the previous secret is valid; null when there is none. */
  rotatingUntil: number | null;
  createdAt: number;
};

/** The previous secret stays valid for a while, so that receivers can switch. */
type Secrets = { current: string; previous: { secret: string; until: number } | null };

/** The sealed part of a webhook. */
export type Address = { url: string; secrets: Secrets };

export function webhookStore(db: Database, seal: Seal, newId: () => string) {
  const sealed = (siteId: string, id: string, { url, secrets }: Address) => ({
    url: seal.seal(url, urlPlace(siteId, id)),
    secrets: seal.seal(JSON.stringify(secrets), secretsPlace(siteId, id)),
  });

  /** Returns null where the row is damaged. */
  function addressOf(row: Row): Address | null {
    const siteId = String(row.site_id);
    const id = String(row.id);
    const url = tryUnseal(seal, String(row.url), urlPlace(siteId, id));
    const secrets = unsealObject(seal, String(row.secrets), secretsPlace(siteId, id)) as Secrets | null;
    return url !== null && secrets && URL.canParse(url) ? { url, secrets } : null;
  }

  function webhookOf(row: Row): Webhook {
    const address = addressOf(row);
    return {
      siteId: String(row.site_id),
      id: String(row.id),
      origin: address && new URL(address.url).origin,
      sendEmpty: Number(row.send_empty) === 1,
      state: address ? (row.state as WebhookState) : "disabled",
      stateReason: address ? (row.state_reason as string | null) : cannotBeRead,
      isDisabledByPerson: address !== null && row.disabled_by === "person",
      failingSince: readNumber(row.failing_since),
      attempts: Number(row.attempts),
      dueAt: Number(row.due_at),
      rotatingUntil: address?.secrets.previous?.until ?? null,
      createdAt: Number(row.created_at),
    };
  }

  async function change(line: AuditLine, work: (tx: Query) => Promise<unknown>): Promise<void> {
    await writeAudited(db, newId, line, work);
  }

  return {
    addressOf,

    /** The first webhook of a site starts its periods. */
    add(line: AuditLine, webhook: { siteId: string; id: string; sendEmpty: boolean }, address: Address): Promise<void> {
      const { siteId, id, sendEmpty } = webhook;
      const { url, secrets } = sealed(siteId, id, address);
      return change(line, async (tx) => {
        await beginPeriods(db, tx, siteId, line.at);
        await tx.all(
          `INSERT INTO webhooks (site_id, id, url, secrets, send_empty, state, attempts, due_at, owner, created_at, updated_at)
           VALUES ($1, $2, $3, $4, $5, 'active', 0, 0, '', $6, $6) ON CONFLICT DO NOTHING`,
          [siteId, id, url, secrets, sendEmpty ? 1 : 0, line.at],
        );
      });
    },

    /** Lists the webhooks of a site whose rows can be read. */
    async listWithSecrets(siteId: string): Promise<(Webhook & Address)[]> {
      const rows = await db.all(`SELECT ${columns.webhooks} FROM webhooks WHERE site_id = $1 ORDER BY created_at, id`, [siteId]);
      return rows.flatMap((row) => {
        const address = addressOf(row);
        return address ? [{ ...webhookOf(row), ...address }] : [];
      });
    },

    /** Lists the webhooks of one site or of all, without URLs and secrets. */
    async list(siteId?: string): Promise<Webhook[]> {
      const rows = await db.all(
        `SELECT ${columns.webhooks} FROM webhooks ${siteId === undefined ? "" : "WHERE site_id = $1"} ORDER BY site_id, created_at, id`,
        siteId === undefined ? [] : [siteId],
      );
      return rows.map(webhookOf);
    },

    /** Replaces the secret; the previous one stays valid until `until`. */
    rotate(line: AuditLine, id: string, secret: string, until: number): Promise<void> {
      return change(line, async (tx) => {
        const sql = `SELECT ${columns.webhooks} FROM webhooks WHERE site_id = $1 AND id = $2 ${db.forUpdate}`;
        const [row] = await tx.all(sql, [line.siteId, id]);
        const address = row ? addressOf(row) : null;
        if (!address || address.secrets.current === secret) return;
        const { url, secrets } = address;
        const previous = { secret: secrets.current, until };
        await tx.all(`UPDATE webhooks SET secrets = $3, updated_at = $4 WHERE site_id = $1 AND id = $2`, [
          line.siteId,
          id,
          sealed(line.siteId, id, { url, secrets: { current: secret, previous } }).secrets,
          line.at,
        ]);
      });
    },

    /** Gives a webhook whose row is damaged a new address, and enables it. Its queue stays. */
    repair(line: AuditLine, id: string, address: Address): Promise<void> {
      const { url, secrets } = sealed(line.siteId, id, address);
      return change(line, (tx) =>
        tx.all(
          `UPDATE webhooks SET url = $3, secrets = $4, state = 'active', state_reason = NULL, disabled_by = NULL,
             failing_since = NULL, attempts = 0, due_at = 0, owner = '', updated_at = $5
           WHERE site_id = $1 AND id = $2`,
          [line.siteId, id, url, secrets, line.at],
        ),
      );
    },

    setSendEmpty(line: AuditLine, id: string, sendEmpty: boolean): Promise<void> {
      return change(line, (tx) =>
        tx.all(`UPDATE webhooks SET send_empty = $3, updated_at = $4 WHERE site_id = $1 AND id = $2`, [
          line.siteId,
          id,
          sendEmpty ? 1 : 0,
          line.at,
        ]),
      );
    },

    /** Enabling resets the failures and makes queued pushes due, unless a push is in progress. */
    setState(
      line: AuditLine,
      id: string,
      state: WebhookState,
      reason: string | null,
      disabledBy: "person" | null = null,
    ): Promise<void> {
      return change(line, (tx) =>
        tx.all(
          state === "active"
            ? `UPDATE webhooks SET state = $3, state_reason = $4, disabled_by = $6, failing_since = NULL, attempts = 0,
                 due_at = CASE WHEN owner = '' THEN 0 ELSE due_at END, updated_at = $5
               WHERE site_id = $1 AND id = $2`
            : `UPDATE webhooks SET state = $3, state_reason = $4, disabled_by = $6, updated_at = $5
               WHERE site_id = $1 AND id = $2`,
          [line.siteId, id, state, reason, line.at, disabledBy],
        ),
      );
    },

    /** Deletes a webhook, its queue and its log. */
    remove(line: AuditLine, id: string): Promise<void> {
      return change(line, async (tx) => {
        const key = [line.siteId, id];
        await tx.all(`DELETE FROM webhooks WHERE site_id = $1 AND id = $2`, key);
        await tx.all(`DELETE FROM pushes WHERE site_id = $1 AND webhook_id = $2`, key);
        await tx.all(`DELETE FROM push_log WHERE site_id = $1 AND webhook_id = $2`, key);
      });
    },
  };
}

export const urlPlace = (siteId: string, id: string) => `webhook url ${siteId} ${id}`;
export const secretsPlace = (siteId: string, id: string) => `webhook secrets ${siteId} ${id}`;
