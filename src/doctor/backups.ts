// Checks that backups are made: the last one of the folder, and those of the schedule.

import { hourMs } from "../kernel/time.ts";
import { overdueMs } from "../maintenance/backups/schedule.ts";
import { namesNoSite } from "../sites/hosts.ts";
import { bytesText, error, note, ok, timeText, warning, type AsyncFindings, type StoreContext } from "./finding.ts";

/** A backup of a large database takes time. */
const lateMs = 2 * hourMs;

export async function* checkBackups({ config, store, directory, now }: StoreContext): AsyncFindings {
  const { folder, schedule, secret } = config.backups;
  const record = await store.backups.read();
  const { last, failure } = record;
  if (failure?.step === "backup")
    yield error(
      `the last backup failed at ${timeText(failure.at)} UTC`,
      "Run 'cleancast backup' to see the reason; the log of the relay has it too.",
    );
  if (failure?.step === "hook")
    yield warning(
      `the hook after the last backup failed at ${timeText(failure.at)} UTC: the backup was not copied`,
      "Run 'cleancast backup' to see its output.",
    );
  if (folder !== null && schedule !== null) {
    const lateBy = overdueMs(schedule, record, now);
    if (lateBy > lateMs && failure?.step !== "backup")
      yield error(
        `the scheduled backup has been due for ${Math.floor(lateBy / hourMs)} hours`,
        "Check that a relay with CLEANCAST_BACKUP_FOLDER is running, or run 'cleancast backup'.",
      );
    if (secret === null)
      yield note(
        "scheduled backups are not encrypted",
        "Set CLEANCAST_BACKUP_KEY or CLEANCAST_BACKUP_PASSPHRASE if they leave this machine.",
      );
  }
  if (last) yield ok(`last backup ${timeText(last.at)} UTC, ${bytesText(last.bytes)}`);
  const isPublic = Array.from(directory.sites()).some(({ hosts }) => hosts.some((host) => !namesNoSite(host)));
  if (!last && folder === null && isPublic)
    yield note(
      "no backup into a folder was ever made",
      "Set CLEANCAST_BACKUP_FOLDER (docs/how-to/scheduled-backups.md), unless backups are made in another way.",
    );
}
