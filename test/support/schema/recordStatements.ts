// `npm run release:freeze` loads this into every process of a test run (NODE_OPTIONS=--import). It records each statement that
// is sent to PostgreSQL under a name, or prepared in SQLite, in the folder of RECORD_STATEMENTS_TO.

import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";

const folder = process.env["RECORD_STATEMENTS_TO"];
const file = folder === undefined ? null : join(folder, `${randomUUID()}.ndjson`);
const recorded = new Set<string>();

/** Writes each statement immediately, because tests kill their processes. */
function record(engine: "postgres" | "sqlite", text: string): void {
  const line = `${JSON.stringify({ engine, text: text.replaceAll(/\s+/g, " ").trim() })}\n`;
  if (file === null || recorded.has(line)) return;
  recorded.add(line);
  appendFileSync(file, line);
}

// oxlint-disable-next-line typescript/unbound-method -- called on the client that it was taken from
const query = Client.prototype.query;
Client.prototype.query = function (this: Client, ...args: unknown[]) {
  const [config] = args as [{ name?: string; text?: string }];
  if (config.name !== undefined && config.text !== undefined) record("postgres", config.text);
  return Reflect.apply(query, this, args) as never;
};

// oxlint-disable-next-line typescript/unbound-method -- as above
const prepare = DatabaseSync.prototype.prepare;
DatabaseSync.prototype.prepare = function (this: DatabaseSync, text: string) {
  record("sqlite", text.replaceAll(/\?(\d+)/g, "$$$1"));
  return Reflect.apply(prepare, this, [text]);
};
