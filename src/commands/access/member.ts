import { Option } from "commander";
import { roles } from "../../access/actor.ts";
import { normalizeEmail } from "../../access/betterAuth.ts";
import type { Role } from "../../contract/route.ts";
import { findSite } from "../../sites/manage.ts";
import { countOf } from "../../kernel/text.ts";
import { table, timeText, whereText, type CommandContext, type CliCommand } from "../context.ts";

export function memberCommands(program: CliCommand): void {
  const member = program.command("member").description("people who may sign in to the dashboard");

  member
    .command("list")
    .description("list members and open invitations")
    .run(async ({ directory, call, print }) => {
      const listed = await call("GET /members", {});
      const rows = [
        ...listed.members.map((one) => [
          one.email,
          one.name,
          one.grants.map(({ site, role }) => `${role} (${whereText(directory, site)})`).join(", ") || "none",
          one.twoFactor ? "on" : "off",
          timeText(one.lastSeenAt),
        ]),
        ...listed.invitations.map((one) => [one.email, "(invited)", `${one.role} (${whereText(directory, one.site)})`, "–", "–"]),
      ];
      const head = ["EMAIL", "NAME", "ROLES", "TWO-FACTOR", "LAST SEEN"];
      const empty =
        "No members yet. The server prints a set-up link when it starts; or run: cleancast member add EMAIL --role owner";
      print(listed, table(head, rows, empty));
    });

  member
    .command("add <email>")
    .description("invite a member: prints a link that works once, for 7 days")
    .addOption(new Option("--role <role>", "the role of the member").choices([...roles]).makeOptionMandatory())
    .option("--site <site>", "for this site only; for all sites if left out")
    .runOrCreate(async (context, email: string, options: { role: Role; site?: string }) => {
      const site = options.site === undefined ? null : findSite(context, options.site).id;
      const created = await context.call("POST /members/invitations", { body: { email, site, role: options.role } });
      context.print(
        created,
        `${created.link}\n\nPass this link on to ${normalizeEmail(email)}. It works once, until ${timeText(created.expiresAt)} UTC.`,
      );
    });

  member
    .command("reset <email>")
    .description("print a link to set a new password; it turns two-factor sign-in off")
    .run(async (context, given: string) => {
      const { id, email } = await findMember(context, given);
      const created = await context.call("POST /members/:member/password-reset", { params: { member: id } });
      context.print(
        created,
        `${created.link}\n\nPass this link on to ${email}. It works once, until ${timeText(created.expiresAt)} UTC. ` +
          `All their sessions end when it is used, and two-factor sign-in is turned off.`,
      );
    });

  member
    .command("remove <email>")
    .description("remove a member; their sessions end at once")
    .run(async (context, given: string) => {
      const { id, email } = await findMember(context, given);
      const removed = await context.call("DELETE /members/:member", { params: { member: id } });
      context.print(removed, `${email} is no longer a member.`);
    });

  member
    .command("sessions <email>")
    .description("list the sessions of a member")
    .option("--end", "end all sessions")
    .run(async (context, given: string, options: { end?: boolean }) => {
      const { store, by, print } = context;
      const { id, email } = await findMember(context, given);
      if (options.end) {
        const ended = await (await context.access()).members.endSessions(id, by);
        return print({ email, ended }, `${countOf(ended, "session has", "sessions have")} ended.`);
      }
      const sessions = await store.accounts.listSessions(id, by.now);
      const rows = sessions.map((one) => [
        timeText(one.createdAt),
        timeText(one.lastSeenAt),
        one.address ?? "–",
        one.userAgent ?? "–",
      ]);
      const head = ["SIGNED IN (UTC)", "LAST SEEN", "ADDRESS", "BROWSER"];
      print({ email, sessions }, table(head, rows, "No sessions."));
    });
}

const findMember = async ({ access }: CommandContext, given: string) =>
  (await access()).members.findByEmail(normalizeEmail(given));
