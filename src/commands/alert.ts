import { missingMailServer } from "../alerts/channels.ts";
import { createMailer } from "../alerts/mail.ts";
import type { Answer } from "../contract/contract.ts";
import { findSite } from "../sites/manage.ts";
import { siteName, table, timeText, type CliCommand } from "./context.ts";
import { selectSites, withSite } from "./lists.ts";

type Alert = Answer<"GET /sites/:site/alerts">["open"][number];

export function alertCommands(program: CliCommand): void {
  const alert = program.command("alert").description("problems that need attention");

  alert
    .command("list [site]")
    .description("list the open alerts of a site, or of all sites")
    .option("--all", "also closed alerts")
    .run(async ({ directory, call, print }, siteText: string | undefined, options: { all?: boolean }) => {
      const { sites, isNamed } = selectSites(directory, siteText);
      const answers = await Promise.all(
        sites.map(async (site) => ({ site, answer: await call("GET /sites/:site/alerts", { params: { site: site.id } }) })),
      );
      const rowsOf = (list: "open" | "over") =>
        answers.flatMap(({ site, answer }) => answer[list].map((item) => ({ site, item })));
      const rows = [...rowsOf("open"), ...(options.all ? rowsOf("over") : [])];
      const shown = rows
        .toSorted((one, other) => other.item.beganAt - one.item.beganAt)
        .map(({ site, item }) => alertText(siteName(site), item));
      const [only] = answers;
      const joined = { open: rowsOf("open").map(withSite), over: rowsOf("over").map(withSite), mail: only?.answer.mail ?? false };
      const none = options.all ? "No alerts in the last 90 days." : "No open alerts.";
      print(only && isNamed ? only.answer : joined, shown.join("\n\n") || none);
    });

  alert
    .command("test <site>")
    .description("send a test alert to the site's alert_emails and alert_webhook")
    .run(async ({ directory, config, call, print }, siteText: string) => {
      const site = findSite({ directory }, siteText);
      const tested = await call("POST /sites/:site/alerts/test", { params: { site: site.id } });
      const missing = missingMailServer(site, { mailer: config.smtp && createMailer(config.smtp) });
      const rows = tested.channels.map((one) => [one.channel, one.to, one.ok ? "sent" : (one.error ?? "")]);
      const text = table(["CHANNEL", "TO", "RESULT"], rows, "");
      print(tested, missing ? `${text}\n${missing}` : text);
      if (tested.channels.some(({ ok }) => !ok)) process.exitCode = 1;
    });
}

function alertText(host: string, { title, text, command, beganAt, notifiedAt, endedAt, failed }: Alert): string {
  return [
    `${host}: ${title}${endedAt === null ? "" : " (closed)"}`,
    `  ${text}`,
    `  opened ${timeText(beganAt)} UTC, notified ${timeText(notifiedAt)}${endedAt === null ? "" : `, closed ${timeText(endedAt)} UTC`}`,
    ...failed.map(({ channel, error }) => `  not sent by ${channel}: ${error}`),
    ...(endedAt === null ? [`  What to do: ${command}`] : []),
  ].join("\n");
}
