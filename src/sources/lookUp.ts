// Looks up at the sender what an event does not carry. Pure: it says which request comes next, and reads the answers; the relay
// sends. The addresses are the kind's, and of an event only ids go into them.

import type { Kind, LookUp } from "./kind.ts";
import { evaluate } from "./mapping/evaluate.ts";
import { toText } from "./mapping/functions.ts";
import { parseExpression } from "./mapping/parse.ts";
import { Work } from "./mapping/work.ts";
import { compileFields, readMapped, type Mapped } from "./run.ts";

/** What is kept of an event that waits: no contact data but hashes. */
export type WaitingEvent = Pick<
  Mapped,
  "is" | "type" | "deliveryId" | "deliveredAt" | "mode" | "fields" | "customer" | "orderRef" | "link" | "isSum" | "needsOrder"
> & {
  /** Null for one that waits for another request of its sender. */
  lookUp: string | null;
  receivedAt: number;
};

/** The answers so far, by the names of their steps. */
type Answers = Record<string, unknown>;

type LookUpCall = { name: string; url: string; permission: string };

/** Ids of both senders look so. Nothing else may become a part of an address. */
const idForm = /^[\w-]{1,128}$/;

/** Returns the next request; null where all answers are there. */
export function nextCall({ steps }: LookUp, event: WaitingEvent, answers: Answers): LookUpCall | null {
  for (const { name, url, permission } of steps) {
    if (Object.hasOwn(answers, name)) continue;
    const filled = fill(url, entryOf(event, answers));
    if (filled === null) answers[name] = null;
    else return { name, url: filled, permission };
  }
  return null;
}

const entryOf = ({ fields, customer, orderRef }: WaitingEvent, answers: Answers) => ({
  ...fields,
  customer,
  orderRef,
  ...answers,
});

function fill(url: string, entry: unknown): string | null {
  let isComplete = true;
  const filled = url.replace(/\{([^}]+)\}/g, (_whole, path: string) => {
    const id = toText(evaluate(parseExpression(path), { entry, around: {}, work: new Work() })) ?? "";
    if (!idForm.test(id)) isComplete = false;
    return id;
  });
  return isComplete ? filled : null;
}

/** Returns the event with what the answers say. */
export function withAnswers(
  lookUp: LookUp,
  event: WaitingEvent,
  answers: Answers,
  settings: Readonly<Record<string, string>>,
  isClickId: (name: string) => string | undefined,
): Mapped {
  const { is, type, deliveryId, deliveredAt, mode, isSum, needsOrder } = event;
  const scope = { entry: entryOf(event, answers), around: { settings }, work: new Work() };
  const read = readMapped(compileFields(lookUp.fields), scope, isClickId);
  const fields = { ...event.fields, ...read.fields };
  if (fields.email !== undefined) delete fields.hashed_email;
  return {
    is,
    type,
    deliveryId,
    deliveredAt,
    mode,
    fields,
    customer: read.customer ?? event.customer,
    orderRef: read.orderRef ?? event.orderRef,
    link: null,
    lookUp: null,
    ...(isSum && { isSum }),
    ...(needsOrder && { needsOrder }),
  };
}

/** How an answer of the sender's API is read. */
export type LookUpReading =
  | { is: "answer"; body: unknown }
  /** A later attempt may succeed, also because a person corrects the key. */
  | { is: "retry"; why: string; retryAfterSeconds: number }
  /** The object is gone. */
  | { is: "final"; why: string };

type LookUpResponse = { status: number; headers: Readonly<Record<string, string>>; body: string };

export function readLookUp({ status, headers, body }: LookUpResponse, { permission }: LookUpCall): LookUpReading {
  const retry = (why: string): LookUpReading => ({
    is: "retry",
    why,
    retryAfterSeconds: Number(/^\d{1,6}$/.exec(headers["retry-after"] ?? "")?.[0] ?? 0),
  });
  if (status === 200) {
    const read = parse(body);
    return read === undefined ? retry("look-up failed: the answer is no JSON") : { is: "answer", body: read };
  }
  if (status === 401) return retry("look-up refused: the key is not valid");
  if (status === 403) return retry(`look-up refused: the key lacks ${permission}`);
  if (status === 404) return { is: "final", why: "look-up failed: the object is not there" };
  if (status === 408 || status === 429 || status >= 500) return retry(`look-up failed: HTTP ${status}`);
  return { is: "final", why: `look-up failed: HTTP ${status}` };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

/** The key and the look-up that an event of this kind needs; null where the kind has none of that name. */
export const lookUpOf = (kind: Kind, name: string): LookUp | null => kind.lookUps?.[name] ?? null;
