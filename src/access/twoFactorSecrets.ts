// Finds secrets of authenticator apps and backup codes that cannot be decrypted any more. better-auth seals them with the access
// secret, and would answer a sign-in with an internal error.

import { say } from "../kernel/messages/message.ts";
import { Refusal } from "../kernel/refusal.ts";
import type { TwoFactorRow } from "../store/access/members.ts";
import type { Row } from "../store/engine/database.ts";
import type { AccessContext } from "./context.ts";

/** By their columns. */
const secretNames = { secret: "The secret of your authenticator app", backup_codes: "Your backup codes" };

/** Returns the emails of the users whose secret or backup codes are damaged. */
export async function listDamagedSecrets(rows: readonly TwoFactorRow[], accessSecret: string): Promise<string[]> {
  const damaged: string[] = [];
  for (const { email, secret, backupCodes } of rows) {
    const isReadable = (await canOpenSecret(accessSecret, secret)) && (await canOpenSecret(accessSecret, backupCodes));
    if (!isReadable) damaged.push(email);
  }
  return damaged;
}

/** Returns a refusal where this secret of a user is damaged, and null where it is not. `remedy` says what to do. */
export async function refuseDamagedSecret(
  { store, secret, onDefect }: AccessContext,
  userId: string,
  column: keyof typeof secretNames,
  remedy: string,
): Promise<Refusal | null> {
  const row = await findTwoFactor(store, userId);
  if (!row || (await canOpenSecret(secret, String(row[column])))) return null;
  onDefect(new Error(`two_factors.${column} of the user ${userId} cannot be read: the row is damaged`));
  return new Refusal("code", say("secret_unreadable", { secret: secretNames[column], remedy }));
}

export async function findTwoFactor(store: AccessContext["store"], userId: string): Promise<Row | null> {
  const ofUser = [{ column: "user_id", operator: "eq", value: userId }] as const;
  const [row] = await store.accounts.find("two_factors", ofUser, { limit: 1 });
  return row ?? null;
}

/** True where these backup codes, and the secret that was made with them, are the stored ones. */
export async function areStoredCodes(
  { store, secret }: AccessContext,
  userId: string,
  codes: readonly string[],
): Promise<boolean> {
  const row = await findTwoFactor(store, userId);
  return row !== null && (await openSecret(secret, String(row.backup_codes))) === JSON.stringify(codes);
}

const canOpenSecret = async (accessSecret: string, sealed: string) => (await openSecret(accessSecret, sealed)) !== null;

async function openSecret(accessSecret: string, sealed: string): Promise<string | null> {
  const { symmetricDecrypt } = await import("better-auth/crypto");
  try {
    return await symmetricDecrypt({ key: accessSecret, data: sealed });
  } catch {
    return null;
  }
}
