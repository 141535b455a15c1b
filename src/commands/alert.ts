import { missingMailServer, sendTestAlert } from "../alerts/channels.ts";
import { createMailer } from "../alerts/mail.ts";
import { listFailedChannels, messageOf } from "../alerts/message.ts";
import { createSender } from "../delivery/send.ts";
import { findSite } from "../sites/manage.ts";
import { findSites, table, timeText, type CliCommand } from "./context.ts";

export function alertCommands(program: CliCommand): void {
  const alert = program.command("alert").description("problems that need attention");

  alert
    .command("list [site]")
    .description("list the open alerts of a site, or of all sites")
    .option("--all", "also closed alerts")
    .run(async (context, siteText: string | undefined, options: { all?: boolean }) => {
      const { store, directory } = context;
      const sites = findSites(directory, siteText);
      const ofEach = await Promise.all(
        sites.map(async (site) => {
          const alerts = await store.alerts.listSince(site.id, options.all ? 0 : Number.MAX_SAFE_INTEGER, 200);
          return alerts.map((one) => {
            const { kind, subject, title, text, whatToDo, beganAt, endedAt } = messageOf(site, one, "began");
            return {
              site: site.id,
              host: site.hosts[0] ?? site.id,
              kind,
              subject,
              title,
              text,
              whatToDo,
              beganAt,
              notifiedAt: one.notifiedAt,
              endedAt,
              failed: listFailedChannels(one),
            };
          });
        }),
      );
      const alerts = ofEach.flat().toSorted((one, other) => other.beganAt - one.beganAt);
      const shown = alerts.map((one) =>
        [
          `${one.host}: ${one.title}${one.endedAt === null ? "" : " (closed)"}`,
          `  ${one.text}`,
          `  opened ${timeText(one.beganAt)} UTC, notified ${timeText(one.notifiedAt)}${one.endedAt === null ? "" : `, closed ${timeText(one.endedAt)} UTC`}`,
          ...one.failed.map(({ channel, error }) => `  not sent by ${channel}: ${error}`),
          ...(one.endedAt === null ? [`  What to do: ${one.whatToDo}`] : []),
        ].join("\n"),
      );
      const none = options.all ? "No alerts in the last 90 days." : "No open alerts.";
      context.print({ alerts }, shown.join("\n\n") || none);
    });

  alert
    .command("test <site>")
    .description("send a test alert to the site's alert_emails and alert_webhook")
    .run(async (context, siteText: string) => {
      const { config, by } = context;
      const site = findSite(context, siteText);
      const sender = createSender({ ...config, allow: config.allowPrivate, origins: {} });
      try {
        const { publicUrl, smtp } = config;
        const channels = { mailer: smtp && createMailer(smtp), sender, publicUrl };
        const results = await sendTestAlert(site, channels, by.now);
        const missing = missingMailServer(site, channels);
        const rows = results.map((one) => [one.channel, one.to, one.ok ? "sent" : (one.error ?? "")]);
        const text = table(["CHANNEL", "TO", "RESULT"], rows, "");
        context.print({ channels: results }, missing ? `${text}\n${missing}` : text);
        if (results.some(({ ok }) => !ok)) process.exitCode = 1;
      } finally {
        await sender.close();
      }
    });
}
