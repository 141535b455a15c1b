// The driver's end of a connection to a simulated server: what the product, and the driver's own pool, use of `Client`.

import { EventEmitter } from "node:events";
import { callingProcess, cancel, type Action, type SimulatedProcess } from "../runtime/world.ts";
import { clusterOf, type Cluster, type Server } from "./cluster.ts";
import { connectionEnded, networkError } from "./errors.ts";
import { Session, type Reply } from "./session.ts";
import type { Row, Value } from "./tables.ts";

type Socket = EventEmitter & { connect(): unknown; destroy(error?: Error): unknown; destroyed: boolean };

type ClientOptions = {
  connectionString: string;
  connectionTimeoutMillis?: number;
  statement_timeout?: number;
  query_timeout?: number;
  stream?: () => Socket;
};

type Result = { rows: Row[]; command: string };
type Callback = (error: unknown, result?: Result) => void;
type QueryConfig = { text: string; values?: readonly Value[] };

const labels = new Map<string, string>();

/** The beginning of a statement, for the trace. */
function labelOf(text: string): string {
  let label = labels.get(text);
  if (label === undefined) labels.set(text, (label = text.replaceAll(/\s+/g, " ").slice(0, 90)));
  return label;
}

export class SimulatedClient extends EventEmitter {
  /** Read by the driver's pool. */
  _queryable = true;
  _ending = false;
  processID = 0;
  connection: { stream: { destroy: () => void } };
  readonly #options: ClientOptions;
  readonly #process: SimulatedProcess;
  readonly #cluster: Cluster;
  readonly #server: Server;
  #session: Session | null = null;
  #socket: Socket | null = null;
  #isConnected = false;
  #onConnected: ((error: unknown) => void) | null = null;
  readonly #pending = new Set<(error: unknown) => void>();
  /** Messages arrive in the order in which they were sent. */
  #lastArrival = 0;
  #lastReturn = 0;
  readonly #onProcessEnd = () => this.#session && this.#toServer(() => this.#session?.close());

  constructor(options: ClientOptions) {
    super();
    this.#options = options;
    this.#process = callingProcess();
    this.#cluster = clusterOf(this.#process.world);
    this.#server = this.#cluster.server(new URL(options.connectionString).hostname);
    this.connection = { stream: { destroy: () => this.#break(connectionEnded()) } };
  }

  connect(callback?: (error: unknown) => void): Promise<void> | undefined {
    if (callback) {
      this.#connect(callback);
      return;
    }
    return new Promise((resolve, reject) => {
      this.#connect((error) => (error ? reject(error) : resolve()));
    });
  }

  #connect(onConnected: (error: unknown) => void): void {
    const process = this.#process;
    let timeout: Action | null = null;
    this.#onConnected = (error) => {
      this.#onConnected = null;
      if (timeout) cancel(timeout);
      onConnected(error);
    };
    const socket = this.#options.stream?.() ?? null;
    this.#socket = socket;
    socket?.on("error", (error) => this.#break(error));
    socket?.on("close", () => this.#break(connectionEnded()));
    socket?.connect();
    if (socket?.destroyed) return;
    if (!process.act(`connect to ${this.#server.name}`)) return;
    const ms = this.#options.connectionTimeoutMillis;
    if (ms) timeout = process.after(ms, "connection timeout", () => this.#break(new Error("timeout expired")));
    this.#toServer(() => {
      const { state } = this.#server;
      if (state === "silent") return;
      if (state === "down") return this.#toClient(() => this.#break(networkError("ECONNREFUSED")));
      const session = new Session({
        cluster: this.#cluster,
        server: this.#server,
        process,
        statementTimeoutMs: this.#options.statement_timeout ?? 60_000,
        onClosed: () => this.#toClient(() => this.#break(connectionEnded())),
      });
      this.#session = session;
      this.#toClient(() => {
        if (!this._queryable) return;
        this.#isConnected = true;
        this.processID = session.pid;
        process.onEnd.add(this.#onProcessEnd);
        this.#onConnected?.(null);
      });
    });
  }

  query(config: string | QueryConfig, values?: readonly Value[] | Callback, callback?: Callback) {
    const text = typeof config === "string" ? config : config.text;
    const given = (typeof config === "string" ? undefined : config.values) ?? values;
    const params = Array.isArray(given) ? (given as Value[]) : [];
    const then = callback ?? (typeof values === "function" ? values : undefined);
    if (then) {
      this.#query(text, params, then);
      return;
    }
    return new Promise<Result>((resolve, reject) => {
      this.#query(text, params, (error, result) => (error ? reject(error) : resolve(result as Result)));
    });
  }

  #query(text: string, values: readonly Value[], callback: Callback): void {
    const process = this.#process;
    if (!this._queryable || this._ending || !this.#isConnected) {
      const error = new Error("Client has encountered a connection error and is not queryable");
      return queueMicrotask(() => callback(error));
    }
    if (!process.act(labelOf(text))) return;
    let timeout: Action | null = null;
    const settle: Callback = (error, result) => {
      if (!this.#pending.delete(fail)) return;
      if (timeout) cancel(timeout);
      callback(error, result);
    };
    const fail = (error: unknown) => settle(error);
    this.#pending.add(fail);
    const ms = this.#options.query_timeout;
    if (ms) timeout = process.after(ms, "query timeout", () => fail(new Error("Query read timeout")));
    const answer = (reply: Reply) =>
      this.#toClient(() => {
        if ("error" in reply) return fail(reply.error);
        if (reply.notice !== undefined) this.emit("notice", { code: reply.notice });
        settle(null, reply);
      });
    this.#toServer(() => this.#session?.receive({ text, values, answer }));
  }

  end(callback?: () => void): Promise<void> | undefined {
    this._ending = true;
    if (this.#isConnected && this._queryable) {
      this.#process.onEnd.delete(this.#onProcessEnd);
      this.#toServer(() => this.#session?.close());
    }
    this._queryable = false;
    this.#isConnected = false;
    const closed = (done: () => void) =>
      this.#process.after(0.1, "connection closed", () => {
        for (const fail of Array.from(this.#pending)) fail(connectionEnded());
        this.emit("end");
        done();
      });
    if (callback) return void closed(callback);
    return new Promise((resolve) => void closed(resolve));
  }

  isConnected = () => this.#isConnected;
  ref = () => {};
  unref = () => {};

  /** The connection has ended unexpectedly. */
  #break(error: unknown): void {
    if (!this._queryable) return;
    this._queryable = false;
    this.#process.onEnd.delete(this.#onProcessEnd);
    this.#toServer(() => this.#session?.close());
    for (const fail of Array.from(this.#pending)) fail(error);
    if (!this.#socket?.destroyed) this.#socket?.destroy();
    if (this.#onConnected) return this.#onConnected(error);
    if (this._ending) return;
    this.emit("error", error);
    this.emit("end");
  }

  #toServer(deliver: () => void): void {
    const { world } = this.#cluster;
    const ms = this.#process.heldMs("statement") + this.#cluster.faults.latencyMs(this.#process);
    const at = Math.max(this.#lastArrival, world.now + ms);
    this.#lastArrival = at;
    world.after(at - world.now, "to server", deliver);
  }

  #toClient(deliver: () => void): void {
    const { world } = this.#cluster;
    // A server that is silent does not answer.
    if (this.#server.state === "silent") return;
    const at = Math.max(this.#lastReturn, world.now + this.#cluster.faults.latencyMs(this.#process));
    this.#lastReturn = at;
    this.#process.after(at - world.now, "from server", deliver);
  }
}
