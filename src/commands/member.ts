import { Option } from "commander";
import { createAccess, type Access } from "../access/access.ts";
import { roles } from "../access/actor.ts";
import { operator } from "../access/members.ts";
import { normalizeEmail } from "../access/betterAuth.ts";
import type { Role } from "../contract/route.ts";
import { countOf } from "../kernel/text.ts";
import { findSite } from "../sites/manage.ts";
import { table, timeText, type CommandContext, type CliCommand } from "./context.ts";

/** Links are printed and never mailed: the operator who runs the command passes them on. */
export function withAccess<A extends unknown[]>(work: (context: CommandContext, access: Access, ...given: A) => Promise<void>) {
  return async (context: CommandContext, ...given: A) => {
    const { store, directory, config } = context;
    const access = createAccess({
      store,
      directory,
      mailer: null,
      publicUrl: config.publicUrl,
      secret: store.accessSecret,
      trusted: config.transport.trusted,
      now: Date.now,
      onDefect: (error) => process.stderr.write(`${String(error)}\n`),
    });
    try {
      await work(context, access, ...given);
    } finally {
      await access.close();
    }
  };
}

export function memberCommands(program: CliCommand): void {
  const member = program.command("member").description("people who may sign in to the dashboard");

  member
    .command("list")
    .description("list members and open invitations")
    .run(
      withAccess(async ({ directory, print }, access) => {
        const members = await access.members.list(operator);
        const invitations = await access.invitations.list(operator);
        const where = (site: string | null) => (site === null ? "all sites" : (directory.site(site)?.hosts[0] ?? site));
        const rows = [
          ...members.map((one) => [
            one.email,
            one.name,
            one.grants.map(({ site, role }) => `${role} (${where(site)})`).join(", ") || "none",
            one.twoFactor ? "on" : "off",
            timeText(one.lastSeenAt),
          ]),
          ...invitations.map((one) => [one.email, "(invited)", `${one.role} (${where(one.site)})`, "–", "–"]),
        ];
        const head = ["EMAIL", "NAME", "ROLES", "TWO-FACTOR", "LAST SEEN"];
        const empty =
          "No members yet. The server prints a set-up link when it starts; or run: cleancast member add EMAIL --role owner";
        print({ members, invitations }, table(head, rows, empty));
      }),
    );

  member
    .command("add <email>")
    .description("invite a member: prints a link that works once, for 7 days")
    .addOption(new Option("--role <role>", "the role of the member").choices([...roles]).makeOptionMandatory())
    .option("--site <site>", "for this site only; for all sites if left out")
    .runOrCreate(
      withAccess(async (context, access, email: string, options: { role: Role; site?: string }) => {
        const site = options.site === undefined ? null : findSite(context, options.site).id;
        const invitation = { email, site, role: options.role };
        const created = await access.invitations.invite(operator, invitation, context.by, { show: true });
        context.print(
          { email: normalizeEmail(email), ...created },
          `${created.link}\n\nPass this link on to ${normalizeEmail(email)}. It works once, until ${timeText(created.expiresAt)} UTC.`,
        );
      }),
    );

  member
    .command("reset <email>")
    .description("print a link to set a new password; it turns two-factor sign-in off")
    .run(
      withAccess(async ({ by, print }, { members, recovery }, email: string) => {
        const found = await members.findByEmail(normalizeEmail(email));
        const created = await recovery.createReset(found, by, { show: true });
        print(
          { email: found.email, ...created },
          `${created.link}\n\nPass this link on to ${found.email}. It works once, until ${timeText(created.expiresAt)} UTC. ` +
            `All their sessions end when it is used, and two-factor sign-in is turned off.`,
        );
      }),
    );

  member
    .command("remove <email>")
    .description("remove a member; their sessions end at once")
    .run(
      withAccess(async ({ by, print }, { members }, email: string) => {
        const found = await members.findByEmail(normalizeEmail(email));
        await members.remove(found.id, by);
        print({ email: found.email, removed: true }, `${found.email} is no longer a member.`);
      }),
    );

  member
    .command("sessions <email>")
    .description("list the sessions of a member")
    .option("--end", "end all sessions")
    .run(
      withAccess(async ({ store, by, print }, { members }, email: string, options: { end?: boolean }) => {
        const found = await members.findByEmail(normalizeEmail(email));
        if (options.end) {
          const ended = await members.endSessions(found.id, by);
          const text = countOf(ended, "session has", "sessions have");
          print({ email: found.email, ended }, `${text} ended.`);
          return;
        }
        const sessions = await store.accounts.listSessions(found.id, by.now);
        const rows = sessions.map((one) => [
          timeText(one.createdAt),
          timeText(one.lastSeenAt),
          one.address ?? "–",
          one.userAgent ?? "–",
        ]);
        const head = ["SIGNED IN (UTC)", "LAST SEEN", "ADDRESS", "BROWSER"];
        print({ email: found.email, sessions }, table(head, rows, "No sessions."));
      }),
    );
}
