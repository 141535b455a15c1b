// node:sqlite on the disk of the simulated machine.

import { fileOfCaller } from "../database/file.ts";
import type { Row, Value } from "../database/tables.ts";
import { callingProcess } from "../runtime/world.ts";

export class DatabaseSync {
  readonly #role = fileOfCaller("open database").open(callingProcess());

  exec(sql: string): void {
    fileOfCaller(sql).exec(sql);
  }

  prepare(sql: string): StatementSync {
    return new StatementSync(sql, this.#role);
  }

  get isTransaction(): boolean {
    return fileOfCaller().tables.isTransaction;
  }

  close(): void {}
}

export class StatementSync {
  readonly #sql: string;
  readonly #role: "writer" | "reader";

  constructor(sql: string, role: "writer" | "reader") {
    this.#sql = sql;
    this.#role = role;
  }

  all(...params: Value[]): Row[] {
    return fileOfCaller("read").read(this.#role, this.#sql, params);
  }

  get(...params: Value[]): Row | undefined {
    return this.all(...params)[0];
  }

  run(...params: Value[]): { changes: number } {
    const { tables } = fileOfCaller("write");
    const { changes } = tables.atomically(() => tables.prepare(this.#sql).run(...params));
    return { changes: Number(changes) };
  }
}
