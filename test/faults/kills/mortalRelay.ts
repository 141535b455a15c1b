// A relay that kills itself right before a certain step: a statement that writes to one of the tables of CLEANCAST_TEST_TABLES,
// or the commit of its transaction. Steps are counted from the start, or from the signal SIGUSR2 when CLEANCAST_TEST_ON_SIGNAL
// is set. Then the moment after such a commit is a step, too: at a start nothing happens between it and the next statement.

import { DatabaseSync, StatementSync } from "node:sqlite";
import { Client } from "pg";

const lastStep = Number(process.env["CLEANCAST_TEST_STEP"]);
const tables = new RegExp(`\\b(?:INTO|UPDATE|FROM) (?:${process.env["CLEANCAST_TEST_TABLES"]})\\b`);
/** A statement over many rows may begin with their values. */
const writes = /^\s*(?:INSERT|UPDATE|DELETE|WITH)\b/;
const onSignal = process.env["CLEANCAST_TEST_ON_SIGNAL"] !== undefined;
let isCounting = !onSignal;
let steps = 0;

process.on("SIGUSR2", () => {
  isCounting = true;
  process.stdout.write("counting steps\n");
});

function step(): void {
  if (!isCounting) return;
  if (steps === lastStep) process.kill(process.pid, "SIGKILL");
  steps += 1;
}

/** Connections whose transaction has such a statement. */
const touched = new Set<unknown>();

/** Returns true for a commit after which there is a step. */
function before(connection: unknown, text: string): boolean {
  const isCommit = text === "COMMIT" && touched.delete(connection);
  if (!isCommit && !(writes.test(text) && tables.test(text))) return false;
  step();
  if (!isCommit) touched.add(connection);
  return isCommit && onSignal;
}

// SQLite has one connection that writes.
for (const name of ["run", "all"] as const) {
  const original = StatementSync.prototype[name] as (...args: unknown[]) => unknown;
  StatementSync.prototype[name] = function (this: StatementSync, ...args: unknown[]) {
    before("sqlite", this.sourceSQL);
    return Reflect.apply(original, this, args) as never;
  };
}

// oxlint-disable-next-line typescript/unbound-method -- called on the object that it was taken from
const exec = DatabaseSync.prototype.exec;
DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string) {
  const isCommit = before("sqlite", text);
  exec.call(this, text);
  if (isCommit) step();
};

// oxlint-disable-next-line typescript/unbound-method -- as above
const query = Client.prototype.query;
Client.prototype.query = function (this: Client, ...args: unknown[]) {
  const [asked] = args as [string | { text: string }];
  const isCommit = before(this, typeof asked === "string" ? asked : asked.text);
  const answer = Reflect.apply(query, this, args) as unknown;
  return (isCommit ? (answer as Promise<unknown>).finally(step) : answer) as never;
};

await import("../../../src/cli.ts");
