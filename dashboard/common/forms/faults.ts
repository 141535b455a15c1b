// The errors of fields as texts at the fields: those that the browser finds by the attributes of inputs, and the relay's, whose
// messages name their field.

import type { MessageCode } from "../../../src/kernel/messages/message.ts";
import type { ApiError } from "../api/api.ts";
import { commonText } from "../../messages/common.ts";
import { messageOf, serverText } from "../../messages/server.ts";
import { capitalize, withFullStop } from "../format/sentence.ts";

/** Finds the fields of a form that break their rules, by name. */
export function findFaults(form: HTMLFormElement): Record<string, string> {
  const faults: Record<string, string> = {};
  for (const input of form.elements)
    if ((input instanceof HTMLInputElement || input instanceof HTMLTextAreaElement) && input.name && !input.disabled) {
      const fault = faultOf(input);
      if (fault !== null) faults[input.name] = fault;
    }
  return faults;
}

function faultOf(input: HTMLInputElement | HTMLTextAreaElement): string | null {
  const { value, validity, minLength } = input;
  if (input.required && value.trim() === "") return commonText.fields.required;
  if (value !== "" && minLength > 0 && value.length < minLength) return commonText.fields.atLeast(minLength);
  if (validity.typeMismatch && input.type === "email") return commonText.fields.email;
  if (validity.rangeUnderflow && input instanceof HTMLInputElement && input.type === "date") return commonText.fields.later;
  return validity.valid || validity.valueMissing || validity.tooShort ? null : commonText.fields.invalid;
}

/** Errors of the relay that name their field, without it: the label is beside them. */
const shortTexts: Partial<Record<MessageCode, (parameter: (name: string) => string) => string>> = {
  value_missing: () => commonText.fields.required,
  setting_required: () => commonText.fields.required,
  text_too_short: (of) => (Number(of("min")) <= 1 ? commonText.fields.required : commonText.fields.atLeast(Number(of("min")))),
  text_too_long: (of) => commonText.fields.atMost(Number(of("max"))),
  number_too_small: (of) => commonText.fields.min(Number(of("min"))),
  number_too_big: (of) => commonText.fields.max(Number(of("max"))),
  value_invalid: () => commonText.fields.invalid,
  value_unknown: () => commonText.fields.invalid,
  // The field has a choice of units, so none has to be written.
  must_be_days: (of) => commonText.fields.days(Number(of("max"))),
  must_be_at_most_days: (of) => commonText.fields.maxDays(Number(of("max"))),
  setting_fault: (of) => withFullStop(faultText(of("fault"))),
  address_fault: (of) => withFullStop(faultText(of("fault"))),
};

/** Writes an error of the relay as the text at its field. */
export function faultText(sentence: string): string {
  const message = messageOf(sentence);
  const short = message && shortTexts[message.code];
  if (short) return short((name) => String(message.parameters[name] ?? ""));
  const text = serverText(sentence);
  // An email address keeps its case.
  return /^\S+@/.test(text) ? text : capitalize(text);
}

/** Returns what the relay says about one of these fields; null if nothing. */
export const fieldError = (error: ApiError | null, ...fields: string[]): string | null =>
  error?.faults.find(({ field }) => fields.includes(field))?.text ?? null;

/** Returns the error if it is about none of these fields, to be shown next to the button. */
export const otherError = (error: ApiError | null, ...fields: string[]): ApiError | null =>
  fieldError(error, ...fields) === null ? error : null;
