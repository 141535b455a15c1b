// What callers of commands and of the management API can put right themselves.

/** Something that the person who asked can put right. */
export class Refusal extends Error {
  readonly field: string;
  /** The same for whoever runs the installation: names commands, and sites that others may not know of. */
  readonly forOperator: string;
  constructor(field: string, message: string, forOperator = message) {
    super(message);
    this.field = field;
    this.forOperator = forOperator;
  }
}

/** What was named is not there, or not for the one who asked. */
export class Missing extends Refusal {}

/** The person or program behind a change, as the audit log names it. */
export type By = { actor: string; now: number };
