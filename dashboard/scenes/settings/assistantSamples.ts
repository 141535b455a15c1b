// What to paste for each assistant: a command, or a part of its own configuration file.

import type { settingsText } from "../../messages/settings.ts";

type Assistant = keyof typeof settingsText.assistants.names;

export function samplesFor(url: string, apiKey: string): Record<Assistant, string> {
  const headers = { Authorization: `Bearer ${apiKey}` };
  const json = (value: unknown) => JSON.stringify(value, null, 2);
  return {
    claudeCode: `claude mcp add --transport http cleancast ${url} \\\n  --header "Authorization: Bearer ${apiKey}"`,
    codex: `export CLEANCAST_KEY=${apiKey}\ncodex mcp add cleancast --url ${url} --bearer-token-env-var CLEANCAST_KEY`,
    cursor: json({ mcpServers: { cleancast: { url, headers } } }),
    vsCode: json({ servers: { cleancast: { type: "http", url, headers } } }),
    local: json({ mcpServers: { cleancast: { command: "npx", args: ["cleancast", "mcp"] } } }),
  };
}
