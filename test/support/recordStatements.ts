// Loaded into every process of a test run by `npm run release:freeze` (NODE_OPTIONS=--import): writes down each statement that
// is sent to PostgreSQL under a name, or prepared in SQLite, into the folder that CLEANCAST_TEST_STATEMENTS names.

import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Client } from "pg";

const folder = process.env["CLEANCAST_TEST_STATEMENTS"];
const file = folder === undefined ? null : join(folder, `${randomUUID()}.ndjson`);
const heard = new Set<string>();

/** At once: processes of tests are killed. */
function hear(engine: "postgres" | "sqlite", text: string): void {
  const line = `${JSON.stringify({ engine, text: text.replaceAll(/\s+/g, " ").trim() })}\n`;
  if (file === null || heard.has(line)) return;
  heard.add(line);
  appendFileSync(file, line);
}

// oxlint-disable-next-line typescript/unbound-method -- called on the client that it was taken from
const query = Client.prototype.query;
Client.prototype.query = function (this: Client, ...args: unknown[]) {
  const [config] = args as [{ name?: string; text?: string }];
  if (config.name !== undefined && config.text !== undefined) hear("postgres", config.text);
  return Reflect.apply(query, this, args) as never;
};

// oxlint-disable-next-line typescript/unbound-method -- as above
const prepare = DatabaseSync.prototype.prepare;
DatabaseSync.prototype.prepare = function (this: DatabaseSync, text: string) {
  hear("sqlite", text.replaceAll(/\?(\d+)/g, "$$$1"));
  return Reflect.apply(prepare, this, [text]);
};
