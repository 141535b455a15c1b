// Checks the inbound keys of a site: those that expire soon, and those that are not used.

import { isUsable, type InboundKey, type Site } from "../sites/directory.ts";
import { dayMs } from "../kernel/time.ts";
import { nameOf, note, soonMs, timeText, warning, type AsyncFindings, type Findings, type StoreContext } from "./finding.ts";

const unusedMs = 7 * dayMs;

export async function* checkKeys(site: Site, context: StoreContext): AsyncFindings {
  const { store, now } = context;
  const uses = await store.keyUse.sumUses(site.id, 0);
  const usable = site.keys.filter((key) => isUsable(key, now));
  const expiresSoon = ({ expiresAt }: InboundKey) => expiresAt !== null && expiresAt - now < soonMs;
  const rotations = usable.some(expiresSoon) ? await readRotations(site.id, context) : new Map();
  for (const key of usable) {
    const name = `${nameOf(site)}: the key "${key.name}" (${key.id})`;
    const rotation: Rotation | undefined = rotations.get(key.id);
    const lastUsedAt = uses.get(key.id)?.lastUsedAt ?? null;
    if (rotation && usable.some(({ id }) => id === rotation.newId)) yield* checkRotated(name, key, rotation, lastUsedAt);
    else if (expiresSoon(key))
      yield warning(
        `${name} expires on ${timeText(key.expiresAt ?? 0)} UTC`,
        `cleancast key rotate ${key.id} creates a new one; both work for a day.`,
      );
    else if (lastUsedAt === null && now - key.createdAt > unusedMs)
      yield note(
        `${name} has never been used`,
        `Use it, or revoke it with cleancast key remove ${key.id}: an unused key is only a risk.`,
      );
  }
}

/** Rotating an old key again would create another key that no sender knows. */
function* checkRotated(name: string, key: InboundKey, rotation: Rotation, lastUsedAt: number | null): Findings {
  if (lastUsedAt === null || lastUsedAt < rotation.at) return;
  yield note(
    `${name} was replaced by ${rotation.newId}, and is still used; it works until ${timeText(key.expiresAt ?? 0)} UTC`,
    "Give its senders the new key.",
  );
}

type Rotation = { newId: string; at: number };

const pageLength = 200;
const maxPages = 25;
/** An old key works for a day after its rotation. */
const rotationMs = 2 * dayMs;

/** Reads the rotations of the last two days from the audit log, by the id of the old key. */
async function readRotations(siteId: string, { store, now }: StoreContext): Promise<Map<unknown, Rotation>> {
  const rotations = new Map<unknown, Rotation>();
  let before: string | undefined;
  for (let pages = 0; pages < maxPages; pages += 1) {
    const lines = await store.audit.list(siteId, pageLength, before);
    for (const { action, detail, at } of lines)
      if (action === "key rotated") rotations.set(detail.id, { newId: String(detail.newId), at });
    const last = lines.at(-1);
    if (!last || lines.length < pageLength || last.at < now - rotationMs) break;
    before = last.id;
  }
  return rotations;
}
