// Browsers and phones that show alerts as push notifications: one row for each, with the account that added it. The address of a
// device lets anyone who has it send to the device, so it is sealed.

import { unsealObject } from "../damagedRows.ts";
import { hasRows, insertRow, orReplace, type Database, type Row } from "../engine/database.ts";
import type { Seal } from "../engine/seal.ts";

/** As a browser gives it: the address at its push service, and the keys that messages are encrypted with. */
export type PushSubscription = { endpoint: string; keys: { p256dh: string; auth: string } };

/** `id` is the hash of the address. */
type PushDevice = { id: string; userId: string; name: string; email: string; createdAt: number };
type Stored = PushDevice & {
  /** Null where the row is damaged. */
  subscription: PushSubscription | null;
};

/** The limit per account; the oldest gives way. */
const maxDevices = 10;
/** The limit of devices that are notified of one site. */
const maxPerSite = 200;

export const pushPlace = (id: string) => `push device ${id}`;

const all = `SELECT push_devices.id, push_devices.user_id, push_devices.name, push_devices.subscription, push_devices.created_at,
  users.email FROM push_devices JOIN users ON users.id = push_devices.user_id`;

export function pushDeviceStore(db: Database, seal: Seal) {
  const read = (row: Row): Stored => ({
    id: String(row.id),
    userId: String(row.user_id),
    name: String(row.name),
    email: String(row.email),
    createdAt: Number(row.created_at),
    subscription: unsealObject(seal, String(row.subscription), pushPlace(String(row.id))) as PushSubscription | null,
  });

  return {
    /** A device belongs to the account that added it last: one browser may be used by several people. */
    async add({ id, userId, name, createdAt }: Omit<PushDevice, "email">, subscription: PushSubscription): Promise<void> {
      const sealed = seal.seal(JSON.stringify(subscription), pushPlace(id));
      await db.write(async (tx) => {
        const row = { id, user_id: userId, name, subscription: sealed, created_at: createdAt };
        await insertRow(tx, "push_devices", row, orReplace("id", "user_id", "name", "subscription", "created_at"));
        await tx.all(
          `DELETE FROM push_devices WHERE user_id = $1 AND id NOT IN
             (SELECT id FROM push_devices WHERE user_id = $1 ORDER BY created_at DESC, id LIMIT $2)`,
          [userId, maxDevices],
        );
      });
    },

    async listOf(userId: string): Promise<PushDevice[]> {
      const rows = await db.all(`${all} WHERE push_devices.user_id = $1 ORDER BY push_devices.created_at DESC`, [userId]);
      return rows.map(read);
    },

    /** Lists the devices of everyone who may read the site. */
    async listFor(siteId: string): Promise<Stored[]> {
      const rows = await db.all(
        `${all} WHERE push_devices.user_id IN (SELECT user_id FROM grants WHERE site_id IN ('', $1))
         ORDER BY push_devices.created_at DESC, push_devices.id LIMIT ${maxPerSite}`,
        [siteId],
      );
      return rows.map(read);
    },

    /** False where the account has no such device. */
    async remove(userId: string, id: string): Promise<boolean> {
      return hasRows(db.run(`DELETE FROM push_devices WHERE user_id = $1 AND id = $2 RETURNING id`, [userId, id]));
    },
  };
}
