// A connection to a simulated server, at its server end: it runs statements one after the other.

import type { SimulatedProcess } from "../runtime/world.ts";
import type { Cluster, Server } from "./cluster.ts";
import { ServerError, toServerError } from "./errors.ts";
import type { Row, Value } from "./tables.ts";
import { isDeadlocked, Transaction, type Executed } from "./transactions.ts";

/** `notice` is the code of a warning that comes with the answer. */
export type Reply = { rows: Row[]; command: string; notice?: string } | { error: unknown };

type Request = { text: string; values: readonly Value[]; answer: (reply: Reply) => void };

type SessionOptions = {
  cluster: Cluster;
  server: Server;
  process: SimulatedProcess;
  statementTimeoutMs: number;
  /** The server, or the network, closed the connection. */
  onClosed: () => void;
};

type Blocked = Extract<Executed, { blockedBy: Transaction }>;

const deadlockTimeoutMs = 1000;

export class Session {
  readonly pid: number;
  readonly #options: SessionOptions;
  readonly #queue: Request[] = [];
  #transaction: Transaction | null = null;
  /** The transaction of a statement that was sent without BEGIN. */
  #single: Transaction | null = null;
  #isBusy = false;
  #isOpen = true;
  /** The number of the commit that is under way. */
  #committing: number | null = null;
  /** The statement that waits for a lock. */
  #waiting: Request | null = null;

  constructor(options: SessionOptions) {
    this.#options = options;
    this.pid = options.cluster.newPid();
    options.server.sessions.add(this);
  }

  receive(request: Request): void {
    // A server that was started again does not know the connection.
    if (!this.#isOpen) return this.#options.server.state === "up" ? this.#options.onClosed() : undefined;
    this.#queue.push(request);
    if (!this.#isBusy) this.#next();
  }

  /** The client has closed the connection. What it had sent before is done first. */
  close(): void {
    this.receive({ text: "terminate", values: [], answer: () => {} });
  }

  /** The server dies. A commit that was on its way to the standby may have arrived there. */
  loseServer(isSilent: boolean): void {
    if (!this.#isOpen) return;
    const { cluster, process, onClosed } = this.#options;
    const isReplicating = this.#committing !== null && cluster.isSynchronous && !cluster.isStandbyAway;
    const isOnStandby = isReplicating && cluster.world.random.chance(0.5);
    if (isOnStandby && this.#transaction) {
      cluster.commit(this.#transaction, process, true);
      this.#transaction = null;
    }
    this.#end();
    if (!isSilent) onClosed();
  }

  #end(): void {
    this.#isOpen = false;
    this.#queue.length = 0;
    const { cluster, server } = this.#options;
    if (this.#committing !== null) cluster.endCommit(this.#committing, false);
    server.sessions.delete(this);
    if (this.#transaction) cluster.transactions.rollback(this.#transaction);
    this.#transaction = null;
  }

  #next(): void {
    const request = this.#queue.shift();
    this.#isBusy = request !== undefined;
    if (request) this.#run(request);
  }

  #reply(request: Request, reply: Reply): void {
    request.answer(reply);
    this.#next();
  }

  #run(request: Request): void {
    const { cluster, server } = this.#options;
    if (request.text === "terminate") return this.#end();
    const { kind, command } = cluster.transactions.translate(request.text);
    switch (kind) {
      case "server":
        return this.#reply(request, { rows: this.#answerServerQuestion(request), command: "SELECT" });
      case "begin":
        this.#transaction = new Transaction();
        return this.#reply(request, { rows: [], command });
      case "rollback":
        return this.#rollBack(request);
      case "commit":
        if (this.#transaction?.hasFailed) return this.#rollBack(request);
        return this.#commit(request);
      case "query":
        if (this.#transaction?.hasFailed)
          return this.#reply(request, { error: new ServerError("25P02", "current transaction is aborted") });
        if (!server.isWritable && this.#transaction === null && command !== "SELECT")
          return this.#reply(request, { error: new ServerError("25006", "read-only") });
        return this.#execute(request);
    }
  }

  #rollBack(request: Request): void {
    if (this.#transaction) this.#options.cluster.transactions.rollback(this.#transaction);
    this.#transaction = null;
    this.#reply(request, { rows: [], command: "ROLLBACK" });
  }

  #commit(request: Request, answer = { rows: [] as Row[], command: "COMMIT" }): void {
    const { cluster, process, onClosed } = this.#options;
    const transaction = this.#transaction;
    if (!transaction) return this.#reply(request, answer);
    const isWritten = transaction.changes.length > 0 || transaction.hasMessage;
    const fault = isWritten ? cluster.faults.commitFault() : null;
    const number = cluster.beginCommit();
    this.#committing = number;
    /** `isConfirmed`: the standby has it. Without that the server warns. */
    const finish = (isConfirmed: boolean) => {
      if (!this.#isOpen) return;
      cluster.endCommit(number, isWritten);
      this.#committing = null;
      if (fault !== "before") {
        cluster.commit(transaction, process, isConfirmed);
        this.#transaction = null;
      }
      if (fault === null) return this.#reply(request, { ...answer, ...(!isConfirmed && { notice: "01000" }) });
      cluster.world.log("network", `a connection breaks ${fault} the commit`);
      cluster.world.occurred.add("PostgreSQL", `connection lost ${fault} the commit`);
      this.#end();
      onClosed();
    };
    cluster.world.after(cluster.faults.commitMs(), `commit by ${process.name}`, () => {
      if (isWritten) cluster.confirm(this.pid, finish);
      else finish(true);
    });
  }

  #execute(request: Request): void {
    const { cluster } = this.#options;
    const { transactions } = cluster;
    const statement = transactions.translate(request.text);
    const fault = cluster.faults.statementFault();
    if (fault !== null) {
      cluster.world.occurred.add("PostgreSQL", "failing statement");
      return this.#fail(request, new ServerError(fault, "simulated"));
    }
    if (!this.#transaction && /^(?:SELECT|WITH)$/.test(statement.command))
      return this.#reply(request, { rows: transactions.read(statement, request.values), command: "SELECT" });
    // A statement outside of a transaction is one by itself.
    if (!this.#transaction) this.#single = this.#transaction = new Transaction();
    const transaction = this.#transaction;
    try {
      const executed = transactions.execute(transaction, statement, request.values);
      if ("rows" in executed) {
        const { rows } = executed;
        const { command } = statement;
        if (this.#single === transaction) return this.#commit(request, { rows, command });
        return this.#reply(request, { rows, command });
      }
      this.#wait(transaction, executed, request);
    } catch (error) {
      this.#fail(request, toServerError(error));
    }
  }

  #wait(transaction: Transaction, blocked: Blocked, request: Request): void {
    const { blockedBy: holder, key } = blocked;
    const { cluster, statementTimeoutMs } = this.#options;
    const { world } = cluster;
    world.log(this.#options.process.name, "waits for a lock");
    world.occurred.add("PostgreSQL", "wait for a lock");
    transaction.blockedBy = holder;
    this.#waiting = request;
    holder.onEnd.push(() => {
      world.after(0.01, "lock released", () => {
        if (!this.#isOpen || this.#waiting !== request || transaction.blockedBy !== holder) return;
        transaction.blockedBy = null;
        this.#waiting = null;
        if (key !== null) cluster.transactions.lockAfterWait(transaction, key, holder);
        this.#execute(request);
      });
    });
    // Only a statement that waits takes long.
    world.after(statementTimeoutMs, "statement timeout", () => {
      if (this.#isOpen && this.#waiting === request && transaction.blockedBy === holder)
        this.#fail(request, new ServerError("57014", "canceling statement due to statement timeout"));
    });
    world.after(deadlockTimeoutMs, "deadlock check", () => {
      if (this.#isOpen && this.#waiting === request && isDeadlocked(transaction))
        this.#fail(request, new ServerError("40P01", "deadlock detected"));
    });
  }

  #fail(request: Request, error: unknown): void {
    this.#waiting = null;
    if (this.#transaction) this.#options.cluster.transactions.fail(this.#transaction);
    if (this.#transaction === this.#single) this.#transaction = null;
    this.#reply(request, { error });
  }

  /** Questions about the server itself. */
  #answerServerQuestion({ text, values }: Request): Row[] {
    const { server, cluster } = this.#options;
    if (text.includes("current_setting('transaction_read_only')"))
      return [{ read_only: server.isWritable ? "off" : "on", pid: this.pid }];
    if (text.includes("pg_walfile_name")) {
      const file = server.timeline.toString(16).padStart(8, "0").padEnd(24, "0");
      return [{ file, system: "simulated" }];
    }
    if (text.includes("pg_logical_emit_message") && this.#transaction) this.#transaction.hasMessage = true;
    if (text.includes("pg_cancel_backend")) cluster.cancelWait(Number(values[0]));
    return [];
  }
}
