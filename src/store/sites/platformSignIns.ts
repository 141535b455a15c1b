// OAuth at platforms: the operator's apps, sign-ins in progress, and the leases for refreshing tokens.

import { unsealObject } from "../damagedRows.ts";
import { connectionPlace } from "./configuration.ts";
import { columns } from "../schema/columns.ts";
import { hasRows, insertRow, orReplace, type Database, type Row } from "../engine/database.ts";
import { acquireLease, releaseLease } from "../engine/leases.ts";
import { raiseRevision } from "./revision.ts";
import type { Seal } from "../engine/seal.ts";

/** The operator's OAuth app at a platform. */
export type OAuthApp = { platform: string; clientId: string; clientSecret: string };

/** Only the caller knows the shape of `record`; it is sealed at rest. */
export type PlatformSignIn<Record = unknown> = {
  siteId: string;
  id: string;
  platform: string;
  expiresAt: number;
  record: Record;
};

export function platformSignInStore(db: Database, seal: Seal) {
  /** A sign-in that cannot be read is gone: the person begins another one. */
  function signInOf(row: Row): PlatformSignIn | null {
    const siteId = String(row.site_id);
    const id = String(row.id);
    const record = unsealObject(seal, String(row.record), signInPlace(siteId, id));
    if (!record) return null;
    return { siteId, id, platform: String(row.platform), expiresAt: Number(row.expires_at), record };
  }

  function appOf(row: Row): OAuthApp | "unreadable" {
    const platform = String(row.platform);
    const clientSecret = unsealObject(seal, String(row.credentials), appPlace(platform))?.clientSecret;
    if (typeof clientSecret !== "string") return "unreadable";
    return { platform, clientId: String(row.client_id), clientSecret };
  }

  return {
    async saveApp({ platform, clientId, clientSecret }: OAuthApp, now: number): Promise<void> {
      const credentials = seal.seal(JSON.stringify({ clientSecret }), appPlace(platform));
      const set = { client_id: clientId, credentials, updated_at: now };
      await insertRow(db, "oauth_apps", { platform, ...set }, orReplace("platform", ...Object.keys(set)));
    },

    async removeApp(platform: string): Promise<boolean> {
      return hasRows(db.run(`DELETE FROM oauth_apps WHERE platform = $1 RETURNING platform`, [platform]));
    },

    /** `unreadable`: the row is damaged, and the app must be set again. */
    async findApp(platform: string): Promise<OAuthApp | "unreadable" | null> {
      const [row] = await db.all(`SELECT ${columns.oauth_apps} FROM oauth_apps WHERE platform = $1`, [platform]);
      return row ? appOf(row) : null;
    },

    /** Lists the apps without their secrets. */
    async listApps(): Promise<{ platform: string; clientId: string; updatedAt: number; isReadable: boolean }[]> {
      const rows = await db.all(`SELECT ${columns.oauth_apps} FROM oauth_apps ORDER BY platform`);
      return rows.map((row) => ({
        platform: String(row.platform),
        clientId: String(row.client_id),
        updatedAt: Number(row.updated_at),
        isReadable: appOf(row) !== "unreadable",
      }));
    },

    async begin(signIn: PlatformSignIn): Promise<void> {
      const { siteId, id, platform, expiresAt } = signIn;
      const record = seal.seal(JSON.stringify(signIn.record), signInPlace(siteId, id));
      const row = { site_id: siteId, id, platform, record, expires_at: expiresAt };
      await insertRow(db, "platform_sign_ins", row, "ON CONFLICT DO NOTHING");
    },

    async find(siteId: string, id: string): Promise<PlatformSignIn | null> {
      const sql = `SELECT ${columns.platform_sign_ins} FROM platform_sign_ins WHERE site_id = $1 AND id = $2`;
      const [row] = await db.all(sql, [siteId, id]);
      return row ? signInOf(row) : null;
    },

    /**
     * Runs one step of a sign-in: `next` gets the record and returns the new one, or null when the step does not apply.
     * Concurrent steps are serialised by a row lock. Returns the new record, or null.
     */
    step<T>(
      siteId: string,
      id: string,
      next: (signIn: PlatformSignIn) => { record: T; expiresAt: number } | null,
    ): Promise<PlatformSignIn<T> | null> {
      return db.write(async (tx) => {
        const [row] = await tx.all(
          `SELECT ${columns.platform_sign_ins} FROM platform_sign_ins WHERE site_id = $1 AND id = $2 ${db.forUpdate}`,
          [siteId, id],
        );
        const signIn = row ? signInOf(row) : null;
        const stepped = signIn && next(signIn);
        if (!signIn || !stepped) return null;
        await tx.all(`UPDATE platform_sign_ins SET record = $3, expires_at = $4 WHERE site_id = $1 AND id = $2`, [
          siteId,
          id,
          seal.seal(JSON.stringify(stepped.record), signInPlace(siteId, id)),
          stepped.expiresAt,
        ]);
        return { ...signIn, ...stepped };
      });
    },

    async end(siteId: string, id: string): Promise<void> {
      await db.run(`DELETE FROM platform_sign_ins WHERE site_id = $1 AND id = $2`, [siteId, id]);
    },

    /** Leases the refresh of a connection's token: true for one node, until it releases it or `until` has passed. */
    claimRefresh: (siteId: string, connectionId: string, owner: string, now: number, until: number) =>
      acquireLease(db, { siteId, name: refreshOf(connectionId), owner }, now, until),

    releaseRefresh: (siteId: string, connectionId: string, owner: string) =>
      releaseLease(db, { siteId, name: refreshOf(connectionId), owner }),

    /**
     * Writes refreshed tokens to a connection and raises the revision, so that every node has them within a second. There
     * is no audit line, because no member acted. False when the connection is gone or has other tokens by now.
     */
    renewTokens(siteId: string, id: string, used: string, tokens: Readonly<Record<string, string>>): Promise<boolean> {
      return db.write((tx) =>
        raiseRevision(tx, siteId, async () => {
          const [row] = await tx.all(`SELECT credentials FROM connections WHERE site_id = $1 AND id = $2`, [siteId, id]);
          if (!row) return false;
          const known = unsealObject(seal, String(row.credentials), connectionPlace(siteId, id));
          if (!known) return false;
          // A transaction that runs again finds its own tokens.
          if (known.refresh_token !== used && known.access_token !== tokens.access_token) return false;
          const sealed = seal.seal(JSON.stringify({ ...known, ...tokens }), connectionPlace(siteId, id));
          await tx.all(`UPDATE connections SET credentials = $3 WHERE site_id = $1 AND id = $2`, [siteId, id, sealed]);
          return true;
        }),
      );
    },

    /** Deletes expired sign-ins of a site. */
    async purge(siteId: string, now: number): Promise<void> {
      await db.run(`DELETE FROM platform_sign_ins WHERE site_id = $1 AND expires_at <= $2`, [siteId, now]);
    },
  };
}

const refreshOf = (connectionId: string) => `token of ${connectionId}`;

export const appPlace = (platform: string) => `oauth app ${platform}`;
export const signInPlace = (siteId: string, id: string) => `sign-in ${siteId} ${id}`;
