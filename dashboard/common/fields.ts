// What the relay refused, at the field that it is about.

import type { ApiError } from "./api.ts";

/** The sentence for one of these fields, or null. */
export function faultAt(error: ApiError | null, ...fields: string[]): string | null {
  if (!error || error.field === undefined || !fields.includes(error.field)) return null;
  const mark = `${error.field}: `;
  const text = error.message.startsWith(mark) ? error.message.slice(mark.length) : error.message;
  // An address is written as it is.
  return /^\S+@/.test(text) ? text : text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** What is about none of these fields: it stands beside the button. */
export function faultElse(error: ApiError | null, ...fields: string[]): ApiError | null {
  return error && faultAt(error, ...fields) === null ? error : null;
}
