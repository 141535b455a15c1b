// Commands and the management API throw a refusal when a caller asks for something that cannot be done. Its code is one of
// this catalogue and gives the HTTP status; only api/router.ts and runCommand.ts render it. Every other exception is a defect or
// broken infrastructure.

import { english, say } from "./messages/message.ts";

export const refusalStatus = {
  invalid: 400,
  signed_out: 401,
  code_needed: 401,
  forbidden: 403,
  not_found: 404,
  conflict: 409,
  insecure: 426,
  too_many: 429,
  internal: 500,
  unavailable: 503,
} as const;
export type RefusalCode = keyof typeof refusalStatus;
export const refusalCodes = Object.keys(refusalStatus) as [RefusalCode, ...RefusalCode[]];

/** Says in one sentence what is wrong with a value. Readers return it, and their callers decide how to answer. */
export class Fault {
  /** The message with its code, or a text. */
  readonly said: string;
  constructor(said: string) {
    this.said = said;
  }
  /** The English sentence. */
  get message(): string {
    return english(this.said);
  }
}

/** A fault of one field among several. */
type FieldFault = { field: string; message: string };
/** A fault in a file, and its place there. */
export type PlacedFault = FieldFault & { line: number; column: number };

/** A value that the caller can correct. */
export class Refusal extends Error {
  readonly code: RefusalCode = "invalid";
  /** The message with its code, or a text. `message` is its English sentence. */
  readonly said: string;
  /** The field or argument that the message is about; empty when it is about none. */
  readonly field: string;
  /** The message for the operator: it may name commands, and sites that others must not know of. */
  readonly forOperator: string;
  readonly retryAfterSeconds: number | undefined = undefined;
  /** All faults of a file or of the fields of a request; the message has the first ones. */
  readonly faults: readonly FieldFault[] | undefined = undefined;

  constructor(field: string, said: string, forOperator = said) {
    super(english(said));
    this.said = said;
    this.field = field;
    this.forOperator = english(forOperator);
  }

  get status(): number {
    return refusalStatus[this.code];
  }
}

/** The JSON of a refusal, in answers of the API and of commands. */
export function describeRefusal(refusal: Refusal, message = refusal.message) {
  const { code, field, faults } = refusal;
  return { error: { code, message, ...(field && { field }), ...(faults && { faults }) } };
}

/** Several fields are wrong. The message is that of the first; a form marks all of them. */
class InvalidFields extends Refusal {
  override readonly faults: readonly FieldFault[];
  constructor(first: Refusal, all: readonly Refusal[]) {
    super(first.field, first.said);
    this.faults = all.slice(0, maxFieldFaults).map(({ field, said }) => ({ field, message: said }));
  }
}
const maxFieldFaults = 100;

/** Refuses a request whose fields have these faults; without any, it is fine. */
export function refuseFields(faults: readonly Refusal[]): void {
  const [first, ...others] = faults;
  if (first) throw others.length > 0 ? new InvalidFields(first, faults) : first;
}

/** Runs checks that refuse, and refuses with what all of them found. */
export function checkAll(...checks: (() => void)[]): void {
  const found: Refusal[] = [];
  for (const check of checks)
    try {
      check();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      found.push(...(error.faults?.map(({ field, message }) => new Refusal(field, message)) ?? [error]));
    }
  refuseFields(found);
}

/** The value is valid, and the present state does not allow it: a name is taken, a file exists, a row has ended. */
export class Conflict extends Refusal {}

/** The named thing does not exist, or the caller must not know of it. */
export class Missing extends Refusal {
  override readonly code = "not_found";
}

/** Creates the refusal of an unknown id or name. Its message for the operator names the command that lists the known ones. */
export function missing(kind: string, name: string, listed = "their ids"): Missing {
  const sentence = say("unknown_name", { kind, name });
  return new Missing(kind, sentence, `${english(sentence)} 'cleancast ${kind} list' shows ${listed}.`);
}

/** No other value would help: the caller must wait, sign in, or ask a member with more rights. */
export class Denied extends Refusal {
  override readonly code: RefusalCode;
  override readonly retryAfterSeconds: number | undefined;

  constructor(code: Exclude<RefusalCode, "invalid" | "not_found">, said: string, retryAfterSeconds?: number, field = "") {
    super(field, said);
    this.code = code;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** The person or program behind a change, as the audit log names it. */
export type By = {
  actor: string;
  now: number;
  /** The API key that a program used; absent for people and the command line. */
  apiKeyId?: string;
};
