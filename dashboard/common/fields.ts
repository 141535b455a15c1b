// Shows errors of the relay at the field that they are about.

import type { ApiError } from "./api/api.ts";
import { capitalize } from "./format/sentence.ts";

/** Returns the message if the error is about one of these fields, else null. */
export function fieldError(error: ApiError | null, ...fields: string[]): string | null {
  if (!error || error.field === undefined || !fields.includes(error.field)) return null;
  const mark = `${error.field}: `;
  const text = error.message.startsWith(mark) ? error.message.slice(mark.length) : error.message;
  // An email address keeps its case.
  return /^\S+@/.test(text) ? text : capitalize(text);
}

/** Returns the error if it is about none of these fields, to be shown next to the button. */
export function otherError(error: ApiError | null, ...fields: string[]): ApiError | null {
  return error && fieldError(error, ...fields) === null ? error : null;
}
