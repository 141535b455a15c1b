// Runs the row of a sender: it sends over real HTTP, and keeps the sender's own books of retries, bans and subscriptions. Delays
// pass on a clock of its own, which a test moves; signatures have the time of the real one.

import { request } from "node:http";
import { connect } from "node:net";
import type { Sheet } from "./sheet.ts";

export type Message = {
  /** An object is sent as JSON. Some senders write the number of the attempt into the body. */
  body: (attempt: number) => unknown;
  headers?: Record<string, string>;
};

/** `lost`: it was never sent, or no further attempt is made. */
type State = "waiting" | "delivered" | "lost";
type Delivery = { message: Message; state: State; attempts: (number | null)[]; dueAt: number; retried: number };

type SenderOptions = {
  /** The address that was entered at the sender. */
  url: string;
  /** Where the name in the address leads. */
  at: string;
  secrets: readonly string[];
  /** A slow machine is not the endpoint's fault: times the sender's own limits. */
  patience?: number;
};

export type Prepared = { url: string; headers: Record<string, string>; body: Buffer };

const bytesOf = (body: unknown): Buffer =>
  Buffer.isBuffer(body) ? body : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));

/** Writes a request as the sender does, signed now unless another time is given. */
export function prepare(
  sheet: Sheet,
  body: unknown,
  {
    url,
    secrets,
    signedAt = Date.now(),
    headers = {},
  }: Pick<SenderOptions, "url" | "secrets"> & { signedAt?: number; headers?: object | undefined },
): Prepared {
  const bytes = bytesOf(body);
  return {
    url,
    headers: {
      host: new URL(url).host,
      "content-type": sheet.contentType,
      ...headers,
      ...sheet.sign?.({ method: "POST", url, body: bytes, secrets, at: signedAt }),
    },
    body: bytes,
  };
}

export function createSender(sheet: Sheet, options: SenderOptions) {
  const { off, ban, retries, slowRetries } = sheet;
  const deliveries: Delivery[] = [];
  let clock = 0;
  let isOff = false;
  let bannedUntil = -1;
  let failuresInARow = 0;
  let firstTryFailures = 0;
  let failingSince: number | null = null;

  async function attempt(delivery: Delivery): Promise<void> {
    const { message, attempts } = delivery;
    const sent = prepare(sheet, message.body(attempts.length + 1), { ...options, headers: message.headers });
    const answer = await post(sheet, sent, options);
    attempts.push(answer?.status ?? null);
    if (answer && sheet.success(answer.status, answer.text)) {
      delivery.state = "delivered";
      failuresInARow = 0;
      failingSince = null;
      if (attempts.length === 1) firstTryFailures = 0;
    } else fail(delivery, answer);
  }

  function fail(delivery: Delivery, answer: Answer | null): void {
    const status = answer?.status ?? null;
    failuresInARow += 1;
    failingSince ??= clock;
    if (delivery.attempts.length === 1 && ban && (firstTryFailures += 1) >= ban.firstTryFailures) {
      bannedUntil = clock + ban.ms;
      firstTryFailures = 0;
    }
    if (
      (status !== null && off?.statuses?.includes(status)) ||
      failuresInARow >= (off?.failuresInARow ?? Infinity) ||
      clock - failingSince >= (off?.msWithoutSuccess ?? Infinity)
    )
      isOff = true;
    const rule = slowRetries?.on(status) ? slowRetries : retries;
    const delay = rule.on(status) && !isOff ? rule.delaysMs[delivery.retried++] : undefined;
    if (delay === undefined) delivery.state = "lost";
    else delivery.dueAt = clock + Math.max(delay, sheet.retryAfter ? Number(answer?.retryAfter ?? 0) : 0);
  }

  return {
    /** Sends now, once. What fails is due again after the sender's delay. */
    async send(message: Message): Promise<Delivery> {
      const delivery: Delivery = { message, state: "waiting", attempts: [], dueAt: clock, retried: 0 };
      deliveries.push(delivery);
      if (isOff || clock < bannedUntil) delivery.state = "lost";
      else await attempt(delivery);
      return delivery;
    },

    /** Lets time pass, and makes the attempts that are due in it, in their order. */
    async advance(ms: number): Promise<void> {
      const end = clock + ms;
      for (;;) {
        const waiting = deliveries.filter(({ state, dueAt }) => state === "waiting" && dueAt <= end);
        const [next] = waiting.toSorted((a, b) => a.dueAt - b.dueAt);
        if (!next) break;
        clock = Math.max(clock, next.dueAt);
        if (isOff) next.state = "lost";
        else await attempt(next);
      }
      clock = end;
      if (failingSince !== null && clock - failingSince >= (off?.msWithoutSuccess ?? Infinity)) isOff = true;
    },

    /** `off`: it was disabled, removed or deleted, and only its owner can make it anew. */
    state: (): "active" | "banned" | "off" => (isOff ? "off" : clock < bannedUntil ? "banned" : "active"),
  };
}

export type Sender = ReturnType<typeof createSender>;

type Answer = { status: number; text: string; retryAfter: string | undefined };

/** Null where there was no answer in time. Redirects are not followed. */
export function post(
  { timeout, http }: Pick<Sheet, "timeout" | "http">,
  { url, headers, body }: Prepared,
  { at, patience = 1 }: Pick<SenderOptions, "at" | "patience">,
): Promise<Answer | null> {
  if (http === "1.0") return postAsHttp10(timeout, { url, headers, body }, { at, patience });
  const { pathname, search } = new URL(url);
  return new Promise((resolve) => {
    const outgoing = request(new URL(pathname + search, at), { method: "POST", headers, agent: false }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("error", () => done(null));
      response.on("end", () =>
        done({
          status: response.statusCode ?? 0,
          text: Buffer.concat(parts).toString(),
          retryAfter: response.headers["retry-after"],
        }),
      );
    });
    const done = (answer: Answer | null) => {
      clearTimeout(total);
      clearTimeout(connecting);
      resolve(answer);
      if (answer === null) outgoing.destroy();
    };
    const total = setTimeout(() => done(null), timeout.totalMs * patience);
    const connecting = timeout.connectMs === undefined ? undefined : setTimeout(() => done(null), timeout.connectMs * patience);
    outgoing.on("socket", (socket) => socket.once("connect", () => clearTimeout(connecting)));
    outgoing.on("error", () => done(null));
    outgoing.end(body);
  });
}

/** Node has no client of HTTP/1.0: the connection ends with the answer. */
function postAsHttp10(
  timeout: Sheet["timeout"],
  { url, headers, body }: Prepared,
  { at, patience = 1 }: Pick<SenderOptions, "at" | "patience">,
): Promise<Answer | null> {
  const { hostname, port } = new URL(at);
  const lines = Object.entries({ ...headers, "content-length": String(body.length), connection: "close" });
  const head = [`POST ${new URL(url).pathname} HTTP/1.0`, ...lines.map(([name, value]) => `${name}: ${value}`), "", ""];
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(Buffer.concat([Buffer.from(head.join("\r\n")), body])));
    const parts: Buffer[] = [];
    const done = (answer: Answer | null) => {
      clearTimeout(total);
      resolve(answer);
      socket.destroy();
    };
    const total = setTimeout(() => done(null), timeout.totalMs * patience);
    socket.on("data", (part) => parts.push(part));
    socket.on("error", () => done(null));
    socket.on("close", () => {
      const [, status, rest = ""] = /^HTTP\/1\.[01] (\d{3})([^]*)$/.exec(Buffer.concat(parts).toString()) ?? [];
      const text = rest.slice(rest.indexOf("\r\n\r\n") + 4);
      done(status === undefined ? null : { status: Number(status), text, retryAfter: undefined });
    });
  });
}
