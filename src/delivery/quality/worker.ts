// Asks platforms once a day how well the events that they received can be matched, and stores their answers. One node does it for
// all sites. A platform that fails is asked again some hours later, and costs nothing else.

import { createLeaderJob, type JobNode, type LeaderJob } from "../../background/leaderJob.ts";
import { hourMs, minuteMs } from "../../kernel/time.ts";
import { platformOf } from "../../platforms/index.ts";
import type { Platform, QualityNotes, QualityReading } from "../../platforms/platform.ts";
import { isWorking, type Connection, type Directory } from "../../sites/directory.ts";
import { snapshotDay } from "../../store/confirmations/snapshots.ts";
import type { Store } from "../../store/store.ts";
import { askPlatform } from "../askPlatform.ts";
import type { Tokens } from "../oauth/tokens.ts";
import type { Sender } from "../send.ts";

type QualityOptions = JobNode & {
  store: Pick<Store, "leases" | "snapshots">;
  directory: Pick<Directory, "sites">;
  sender: Sender;
  tokens: Tokens;
};

type NotesReading = { kind: "answered"; found: QualityNotes[] };

/** A platform that failed, or whose token lacks the permission, is asked again after this time. */
const againMs = 6 * hourMs;
/** Third-party texts are bounded. */
const maxReports = 100;
const maxNotes = 20;

export function createQualityJob(options: QualityOptions): LeaderJob {
  const { store, directory, now } = options;
  /** When each connection was asked in vain. */
  const failedAt = new Map<string, number>();

  /** What the platform does not say is left out: the reports are worth storing without it. */
  async function readNotes(connection: Connection, platform: Platform): Promise<Map<string, string[]>> {
    const source = platform.quality?.notes;
    if (!source) return new Map();
    const reading = await askPlatform<NotesReading>(options, connection, platform, {
      toRequest: (settings) => source.toRequest(settings),
      read: (response) => ({ kind: "answered", found: source.read(response) }),
    });
    const found = "found" in reading ? reading.found : [];
    return new Map(found.map(({ event, notes }) => [event, notes]));
  }

  async function take(connection: Connection): Promise<void> {
    const platform = platformOf(connection.platform);
    const source = platform?.quality;
    const request = source?.toRequest(connection.settings);
    if (!platform || !source || !request) return;
    const key = { siteId: connection.siteId, connectionId: connection.id };
    const day = snapshotDay(now());
    const id = `${key.siteId} ${key.connectionId}`;
    const failed = failedAt.get(id);
    if (failed !== undefined && failed <= now() && now() - failed < againMs) return;
    const [newest] = await store.snapshots.list(key, 1);
    if (newest && newest.day >= day) return;
    const reading = await askPlatform<QualityReading>(options, connection, platform, {
      toRequest: (settings) => source.toRequest(settings) ?? request,
      read: (response) => source.read(response, now()),
    });
    if (reading.kind !== "answered") {
      failedAt.set(id, now());
      return;
    }
    failedAt.delete(id);
    const more = await readNotes(connection, platform);
    const reports = reading.reports.slice(0, maxReports).map((report) => ({
      ...report,
      notes: [...report.notes, ...(more.get(report.event) ?? [])].slice(0, maxNotes),
    }));
    await store.snapshots.add(key, { day, reports });
  }

  return createLeaderJob({
    everyMs: 10 * minuteMs,
    ...options,
    name: "quality",
    leases: store.leases,
    leaseMs: minuteMs,
    work({ each }) {
      const connections = [...directory.sites()].filter(isWorking).flatMap((site) => site.connections);
      const asked = connections.filter(({ state, platform }) => state === "active" && platformOf(platform)?.quality);
      return each(asked, ({ id }) => ({ connection: id }), take);
    },
  });
}
