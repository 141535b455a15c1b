import type { Command } from "commander";
import { openMailer } from "../alerts/mail.ts";
import { messageOf } from "../alerts/message.ts";
import { idleMail, tellTest } from "../alerts/testAlert.ts";
import { openSender } from "../delivery/send.ts";
import { findSite } from "../sites/manage.ts";
import { atDesk, print, table, timeText } from "./context.ts";

export function alertCommands(program: Command): void {
  const alert = program.command("alert").description("what needs a person");

  alert
    .command("list [site]")
    .description("open alerts of a site, or of all")
    .option("--all", "also those that are over")
    .action((siteText: string | undefined, options: { all?: boolean }, command: Command) =>
      atDesk(async (desk) => {
        const { store, directory } = desk;
        const sites = siteText === undefined ? [...directory.sites()] : [findSite(desk, siteText)];
        const ofEach = await Promise.all(
          sites.map(async (site) => {
            const alerts = await store.alerts.listSince(
              site.id,
              options.all ? 0 : Number.MAX_SAFE_INTEGER,
              200,
            );
            return alerts.map((one) => {
              const { kind, subject, title, text, whatToDo, beganAt, endedAt } = messageOf(
                site,
                one,
                "began",
              );
              const failed = Object.entries(one.told).flatMap(([channel, note]) =>
                note.error === null ? [] : [{ channel, error: note.error }],
              );
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
                failed,
              };
            });
          }),
        );
        const alerts = ofEach.flat().toSorted((one, other) => other.beganAt - one.beganAt);
        const shown = alerts.map((one) =>
          [
            `${one.host}: ${one.title}${one.endedAt === null ? "" : " (over)"}`,
            `  ${one.text}`,
            `  began ${timeText(one.beganAt)} UTC, told ${timeText(one.notifiedAt)}${one.endedAt === null ? "" : `, over ${timeText(one.endedAt)} UTC`}`,
            ...one.failed.map(({ channel, error }) => `  not told by ${channel}: ${error}`),
            ...(one.endedAt === null ? [`  to do: ${one.whatToDo}`] : []),
          ].join("\n"),
        );
        const none = options.all ? "No alert in the last 90 days." : "Nothing needs you.";
        print(command, { alerts }, shown.join("\n\n") || none);
      }),
    );

  alert
    .command("test <site>")
    .description("send a test message to the site's alert_emails and alert_webhook")
    .action((siteText: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        const { config, by } = desk;
        const site = findSite(desk, siteText);
        const sender = openSender({ ...config, allow: config.allowPrivate, origins: {} });
        try {
          const means = { mailer: config.smtp && openMailer(config.smtp), sender };
          const results = await tellTest(site, means, by.now);
          const idle = idleMail(site, means);
          const rows = results.map((one) => [one.channel, one.to, one.ok ? "sent" : (one.error ?? "")]);
          const text = table(["CHANNEL", "TO", "RESULT"], rows, "");
          print(command, { channels: results }, idle ? `${text}\n${idle}` : text);
          if (results.some(({ ok }) => !ok)) process.exitCode = 1;
        } finally {
          await sender.close();
        }
      }),
    );
}
