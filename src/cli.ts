// The `cleancast` command.

import { runCommand } from "./commands/terminal/runCommand.ts";

// Files that commands create are readable only by their owner.
process.umask(0o077);

await runCommand();
