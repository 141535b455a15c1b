// The `mcp` command: the tools of assistants over standard input and output, for an assistant that runs on the server.

import { once } from "node:events";
import { operator } from "../../access/actor.ts";
import type { CliCommand } from "../context.ts";

export function mcpCommands(program: CliCommand): void {
  program
    .command("mcp")
    .description("serve an assistant (Model Context Protocol) on standard input")
    .option("--write", "also offer the tools that change something; each asks for a confirmation")
    .run(async ({ store, directory, api }, { write = false }: { write?: boolean }) => {
      const [{ serveStdio }, { createServer }, { createToolCaller }, { createHandlers }] = await Promise.all([
        import("@modelcontextprotocol/server/stdio"),
        import("../../mcp/server.ts"),
        import("../../mcp/callTool.ts"),
        import("../../api/routes.ts"),
      ]);
      const context = await api();
      const caller = createToolCaller({
        store,
        directory,
        handlers: createHandlers(context),
        now: context.now,
        // A relay may run meanwhile: the command sees its changes.
        refresh: () => directory.refresh(),
      });
      const onDefect = (error: unknown) => void process.stderr.write(`${String(error)}\n`);
      const { version } = context;
      const ended = Promise.race([once(process.stdin, "close"), once(process.stdin, "end"), once(process.stdout, "error")]);
      const served = serveStdio(() => createServer({ version, actor: operator, caller, allowsWrites: write, onDefect }), {
        onerror: onDefect,
      });
      await ended;
      await served.close();
    });
}
