import { describeImprovement, qualityPeriodDays, readQuality } from "../../delivery/quality/read.ts";
import type { QualitySnapshot } from "../../store/confirmations/snapshots.ts";
import { findSiteOrOnly, table, type CliCommand } from "../context.ts";

export function qualityCommands(program: CliCommand): void {
  program
    .command("quality [site]")
    .description("show which match keys the sent conversions carry, by connection, and what would raise the score")
    .run(async ({ store, directory, by, print }, siteText: string | undefined) => {
      const site = findSiteOrOnly(directory, siteText);
      const nameOf = (keyId: string) => site.keys.find(({ id }) => id === keyId)?.name ?? keyId;
      const found = await readQuality(store, site, by.now);
      const connections = found.map(({ connection, platform, improvements, ...score }) => ({
        connection: connection.id,
        platform: platform.id,
        ...score,
        improvements: improvements.map((one) => ({ ...one, text: describeImprovement(one, nameOf) })),
      }));
      const rows = connections.map(({ connection, platform, conversions, score, keys, withinHour, snapshot }) => [
        `${platform} ${connection}`,
        String(conversions),
        score === null ? "–" : score.toFixed(1),
        keys.map(({ key, coverage }) => `${key} ${percent(coverage)}`).join(", ") || "–",
        withinHour === null ? "–" : percent(withinHour),
        describeSnapshot(snapshot),
      ]);
      const head = ["CONNECTION", "CONVERSIONS", "SCORE", "CARRY", "WITHIN AN HOUR", "THE PLATFORM SAYS"];
      const advice = connections.flatMap(({ platform, improvements }) => improvements.map(({ text }) => `${platform}: ${text}`));
      const title = `Conversions of the last ${qualityPeriodDays} days, the newest of each connection. Score from 0 to 10.`;
      const lines = [title, table(head, rows, "There are no connections."), ...advice];
      print({ connections }, lines.join("\n"));
    });
}

function describeSnapshot(snapshot: QualitySnapshot | null): string {
  const words = snapshot?.reports.flatMap(({ event, score, maxScore, rating }) => {
    const said = score === null ? rating : `${score}${maxScore === null ? "" : ` of ${maxScore}`}`;
    return said === null ? [] : [`${event ? `${event} ` : ""}${said}`];
  });
  return words?.length ? `${words.join(", ")} (${snapshot?.day})` : "–";
}

const percent = (share: number) => `${Math.round(100 * share)} %`;
