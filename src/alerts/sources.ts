// Finds sources that need a person: no request for an unusual time, requests with wrong signatures, and a sender that gets
// nothing but errors and may switch its webhook off.

import { say } from "../kernel/messages/message.ts";
import { dayMs, hourMs, minuteMs } from "../kernel/time.ts";
import type { Site, Source } from "../sites/directory.ts";
import { kindOf } from "../sources/kinds/index.ts";
import type { SourceRequest } from "../store/sources/sourceRequests.ts";
import type { Finding } from "../store/statistics/alerts.ts";
import type { Store } from "../store/store.ts";
import { hoursText, sourceName } from "./message.ts";
import { timeText } from "../kernel/text.ts";
import { hoursNeeded, judgeSilence } from "./silence.ts";
import { createSlowCheck, type SlowCheck } from "./slowCheck.ts";

const everyMs = 5 * minuteMs;
/** Requests that are looked at. */
const maxRequests = 50;

const sourcesOf = ({ sources }: Site) => sources;

/** A paused source is expected to be silent: its requests are not used. */
export const createSourceSilenceCheck = (): SlowCheck<Pick<Store, "alerts">> =>
  createSlowCheck({
    kind: "source silence",
    everyMs,
    subjects: ({ sources }) => sources.filter(({ state }) => state === "active"),
    async find({ alerts }, { site, subjects, openOf, now }) {
      const findings: Finding[] = [];
      for (const source of subjects) {
        const uses = await alerts.listKeyUses(site.id, source.id, Math.floor(now / hourMs) - hoursNeeded);
        const lastAt = Math.max(0, ...uses.map((one) => one.lastUsedAt));
        const open = openOf(source);
        const finding = { kind: "source silence", subject: source.id } as const;
        // The alert ends with the next request, not when such a long silence has become usual.
        if (open) {
          if (lastAt < open.beganAt) findings.push({ ...finding, text: open.text });
          continue;
        }
        const judged = judgeSilence(new Map(uses.map((one) => [one.hour, one.uses])), lastAt, now);
        if (!judged.isUnusual) continue;
        const since = timeText(judged.since, site.settings.timeZone);
        const pause = hoursText(judged.usualHours);
        findings.push({ ...finding, text: say("alert_source_silence", { source: sourceName(source), since, pause }) });
      }
      return findings;
    },
  });

const minWrong = 3;

/** One wrong signature may be a stranger. */
export const createSignatureCheck = (): SlowCheck<Pick<Store, "sourceRequests">> =>
  createSlowCheck({
    kind: "wrong signatures",
    everyMs,
    subjects: sourcesOf,
    find: ({ sourceRequests }, { site, subjects, now }) =>
      forEachSource(sourceRequests, subjects, (source, requests) => {
        const recent = requests.filter(({ at }) => at > now - hourMs);
        const wrong = recent.filter(({ outcome }) => outcome === "refused");
        const first = wrong.at(-1);
        const others = recent.filter(isTaken).length;
        if (!first || wrong.length < minWrong || wrong.length < others) return null;
        const count = wrong.length === maxRequests ? say("more_than", { count: maxRequests }) : wrong.length;
        const text = say("alert_wrong_signatures", {
          source: sourceName(source),
          count,
          since: timeText(first.at, site.settings.timeZone),
        });
        return { kind: "wrong signatures", subject: source.id, text };
      }),
  });

const minFailures = 3;
/** Of senders that do not say when they give up. */
const longFailureMs = 12 * hourMs;
/** Older failures say nothing: such a sender sends nothing any more. */
const staleMs = 7 * dayMs;

export const createSourceFailureCheck = (): SlowCheck<Pick<Store, "sourceRequests">> =>
  createSlowCheck({
    kind: "source failing",
    everyMs,
    subjects: sourcesOf,
    find: ({ sourceRequests }, { site, subjects, now }) =>
      forEachSource(sourceRequests, subjects, (source, requests) => {
        const failed = failuresInARow(requests);
        const [last, first] = [failed[0], failed.at(-1)];
        if (!last || !first || last.at < now - staleMs || !isClose(source, failed.length, now - first.at)) return null;
        const { givesUp } = kindOf(source.kind) ?? {};
        const rule = !givesUp
          ? say("source_gives_up")
          : "failures" in givesUp
            ? say("source_gives_up_failures", { failures: givesUp.failures })
            : say("source_gives_up_hours", { hours: hoursText(givesUp.hours) });
        const text = say("alert_source_failing", {
          source: sourceName(source),
          count: failed.length,
          since: timeText(first.at, site.settings.timeZone),
          rule,
        });
        return { kind: "source failing", subject: source.id, text };
      }),
  });

/** True where half of what the sender tolerates is used up. */
function isClose({ kind }: Source, failures: number, ms: number): boolean {
  const { givesUp } = kindOf(kind) ?? {};
  if (givesUp && "failures" in givesUp) return failures >= Math.ceil(givesUp.failures / 2);
  return failures >= minFailures && ms >= (givesUp ? (givesUp.hours * hourMs) / 2 : longFailureMs);
}

/** True for a request that was answered with success. */
const isTaken = ({ outcome }: SourceRequest) => outcome !== "refused" && outcome !== "postponed";

/** The last requests that all got an error, newest first. */
export function failuresInARow(requests: readonly SourceRequest[]): readonly SourceRequest[] {
  const end = requests.findIndex(isTaken);
  return end < 0 ? requests : requests.slice(0, end);
}

async function forEachSource(
  store: Store["sourceRequests"],
  sources: readonly Source[],
  judge: (source: Source, requests: readonly SourceRequest[]) => Finding | null,
): Promise<Finding[]> {
  const findings: (Finding | null)[] = [];
  for (const source of sources) findings.push(judge(source, await store.list(source.siteId, source.id, { limit: maxRequests })));
  return findings.filter((one) => one !== null);
}
