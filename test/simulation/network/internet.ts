// The network between the relay and the services that it calls. Each service decides when it answers and what.

import type { SimulatedProcess, World } from "../runtime/world.ts";

export type Call = {
  id: number;
  process: SimulatedProcess;
  origin: string;
  path: string;
  method: string;
  headers: Readonly<Record<string, string>>;
  body: string;
};

export type Answer =
  | { status: number; headers?: Record<string, string>; body: string }
  /** The connection breaks; the code is Node's or undici's. */
  | { broken: string };

/** What happens to a call, decided when it arrives. Several answers are sent one after the other; none is a hang. */
export type Fate = { answers: readonly { afterMs: number; answer: Answer }[] };

export type Service = {
  /** Called when a process sends the request, before anything else can happen. */
  onSent?: (call: Call) => void;
  /** Called when the request arrives at the service. */
  onArrived: (call: Call) => Fate;
  /** Called when an answer reaches the process that made the call, and is not late. */
  onAnswered?: (call: Call, answer: Answer) => void;
};

/** The part of undici's handler that the product implements. */
export type Handler = {
  onRequestStart(controller: Controller): void;
  onResponseStart(controller: Controller, status: number, headers: Record<string, string>): void;
  onResponseData(controller: Controller, part: Buffer): void;
  onResponseEnd(controller: Controller): void;
  onResponseError(controller: Controller, error: Error): void;
};
type Controller = { abort(reason: Error): void };

export class Internet {
  readonly #world: World;
  readonly #services = new Map<string, Service>();
  #calls = 0;
  readonly #usual: Internet["connect"];
  /** Set by a fault: how a process reaches the services, and how long a message takes. */
  connect: (process: SimulatedProcess) => { ms: number; broken: string | null };

  constructor(world: World) {
    this.#world = world;
    const random = world.random.stream("internet");
    this.connect = this.#usual = () => ({ ms: random.between(0.2, 4), broken: null });
  }

  /** Everything can be reached again. */
  heal(): void {
    this.connect = this.#usual;
  }

  serve(origin: string, service: Service): void {
    this.#services.set(origin, service);
  }

  call(request: Omit<Call, "id">, handler: Handler): void {
    const { process, origin } = request;
    const service = this.#services.get(origin);
    if (!service) throw new Error(`no service is at ${origin}`);
    const call = { ...request, id: ++this.#calls };
    if (!process.act(`call ${call.id} to ${origin}`)) return;
    service.onSent?.(call);
    let state: "open" | "answered" | "failed" = "open";
    const fail = (error: Error) => {
      if (state !== "open") return;
      state = "failed";
      handler.onResponseError(controller, error);
    };
    const controller: Controller = {
      abort: (reason) => queueMicrotask(() => fail(reason)),
    };
    const { ms, broken } = this.connect(process);
    if (broken !== null) {
      this.#world.occurred.add("network", "platform out of reach");
      process.after(ms, `call ${call.id} not connected`, () => fail(errorOf(broken)));
      return;
    }
    handler.onRequestStart(controller);
    process.heldMs("call");
    this.#world.after(ms, `call ${call.id} arrives`, () => {
      for (const { afterMs, answer } of service.onArrived(call).answers) {
        process.after(afterMs + ms, `call ${call.id} answered`, () => {
          if (state === "failed") return;
          if ("broken" in answer) return fail(errorOf(answer.broken));
          if (state === "open") service.onAnswered?.(call, answer);
          state = "answered";
          // An HTTP client drops a second answer. The product's handler must not depend on that.
          handler.onResponseStart(controller, answer.status, answer.headers ?? {});
          handler.onResponseData(controller, Buffer.from(answer.body));
          handler.onResponseEnd(controller);
        });
      }
    });
  }
}

const errorOf = (code: string) => Object.assign(new Error(code), { code });

const internets = new WeakMap<World, Internet>();

export function createInternet(world: World): Internet {
  const internet = new Internet(world);
  internets.set(world, internet);
  return internet;
}

export function internetOf(world: World): Internet {
  const internet = internets.get(world);
  if (!internet) throw new Error("the world has no internet");
  return internet;
}
