import type { Command } from "commander";
import { urlFault } from "../delivery/addresses.ts";
import { tokensOfSignIn } from "../delivery/oauth/signIn.ts";
import { connect, disconnect, findConnection, pause, resume } from "../sites/connect.ts";
import { describeConnection } from "../sites/connectionSettings.ts";
import { findSite } from "../sites/manage.ts";
import { atDesk, pairsOf, print, table, timeText } from "./context.ts";
import { tryOutCommands } from "./connectionTest.ts";

export function connectionCommands(program: Command): void {
  program
    .command("connect <site> <platform> [name=value...]")
    .description(
      "connect a platform, or change the connection to the same account; name=@file reads a value from a file, " +
        "sign_in=ID takes the tokens of a sign-in, events=a,b selects events, event.NAME=… names one, map.FIELD=… fills a field",
    )
    .action((siteText: string, platform: string, words: string[], _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        const site = findSite(desk, siteText);
        const { sign_in: signIn, ...pairs } = pairsOf(words);
        const tokens = signIn
          ? await tokensOfSignIn(
              desk.store,
              { siteId: site.id, platform, id: signIn, asker: null },
              desk.by.now,
            )
          : {};
        const given = { ...pairs, ...tokens };
        const checkAddress = (url: string) => urlFault(desk.config.allowPrivate, url);
        const made = await connect(desk, site, platform, given, { ...desk.by, checkAddress });
        if (signIn) await desk.store.platformSignIns.end(site.id, signIn);
        const released = made.released ? ` ${made.released} parked deliveries go out now.` : "";
        print(
          command,
          {
            id: made.connection.id,
            platform,
            ...(made.isNew ? {} : { existing: true, released: made.released }),
          },
          `${made.isNew ? "Connected" : "Changed the connection to"} ${platform}: ${made.connection.id}.${released}`,
        );
      }),
    );

  program
    .command("disconnect <id>")
    .description("end a connection; what still waits for it is not sent")
    .action((id: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        await disconnect(desk, findConnection(desk.directory.sites(), id), desk.by);
        print(command, { id, disconnected: true }, `Connection ${id} is gone.`);
      }),
    );

  const connection = program.command("connection").description("connections to platforms");

  connection
    .command("list [site]")
    .description("the connections of a site, or of all")
    .action((siteText: string | undefined, _options: unknown, command: Command) =>
      atDesk(async ({ directory }) => {
        const sites = siteText === undefined ? [...directory.sites()] : [findSite({ directory }, siteText)];
        const connections = sites.flatMap((site) =>
          site.connections.map((one) => ({ site: site.id, ...describeConnection(one) })),
        );
        const rows = connections.map((one) => [
          one.id,
          one.site,
          one.platform,
          one.state,
          one.events?.join(",") ?? "all",
          timeText(one.createdAt),
        ]);
        const head = ["ID", "SITE", "PLATFORM", "STATE", "EVENTS", "CREATED"];
        print(
          command,
          { connections },
          table(head, rows, "No connection yet. Make one: cleancast connect SITE webhook url=https://…"),
        );
      }),
    );

  tryOutCommands(connection);

  connection
    .command("pause <id>")
    .description("park its deliveries until it is resumed; nothing is lost")
    .action((id: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        await pause(desk, findConnection(desk.directory.sites(), id), desk.by);
        print(command, { id, state: "paused" }, `Connection ${id} is paused.`);
      }),
    );

  connection
    .command("resume <id>")
    .description("send again, what was parked first")
    .action((id: string, _options: unknown, command: Command) =>
      atDesk(async (desk) => {
        const released = await resume(desk, findConnection(desk.directory.sites(), id), desk.by);
        print(
          command,
          { id, state: "active", released },
          `Connection ${id} is active; ${released} parked deliveries go out now.`,
        );
      }),
    );
}
