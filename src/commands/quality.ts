import type { Answer } from "../contract/contract.ts";
import { qualityPeriodDays } from "../delivery/quality/read.ts";
import { shownPercent } from "../kernel/text.ts";
import { findSiteOrOnly, table, type CliCommand } from "./context.ts";

type Quality = Answer<"GET /sites/:site/quality">["items"][number];

export function qualityCommands(program: CliCommand): void {
  program
    .command("quality [site]")
    .description("show which match keys the sent conversions carry")
    .run(async ({ directory, call, print }, siteText: string | undefined) => {
      const { id } = findSiteOrOnly(directory, siteText);
      const quality = await call("GET /sites/:site/quality", { params: { site: id } });
      const rows = quality.items.map(({ connection, platform, conversions, score, keys, withinHour, snapshot }) => [
        `${platform} ${connection}`,
        String(conversions),
        score === null ? "–" : score.toFixed(1),
        keys.map(({ key, coverage }) => `${key} ${percent(coverage)}`).join(", ") || "–",
        withinHour === null ? "–" : percent(withinHour),
        describeSnapshot(snapshot),
      ]);
      const head = ["CONNECTION", "CONVERSIONS", "SCORE", "CARRY", "WITHIN AN HOUR", "THE PLATFORM SAYS"];
      const advice = quality.items.flatMap(({ platform, improvements }) =>
        improvements.map(({ text }) => `${platform}: ${text}`),
      );
      const title = `Conversions of the last ${qualityPeriodDays} days, the newest of each connection. Score from 0 to 10.`;
      print(quality, [title, table(head, rows, "There are no connections."), ...advice].join("\n"));
    });
}

function describeSnapshot(snapshot: Quality["snapshot"]): string {
  const words = snapshot?.reports.flatMap(({ event, score, maxScore, rating }) => {
    const said = score === null ? rating : `${score}${maxScore === null ? "" : ` of ${maxScore}`}`;
    return said === null ? [] : [`${event ? `${event} ` : ""}${said}`];
  });
  return words?.length ? `${words.join(", ")} (${snapshot?.day})` : "–";
}

const percent = (share: number) => `${shownPercent(share, 1)} %`;
