// Axon's responses: all or nothing. The reason of an error is in headers; bodies are not documented.

import { readAllOrNothing } from "../shared/readers.ts";
import { errorText } from "../shared/response.ts";

export const readResponse = readAllOrNothing((response) => {
  const { "x-al-error-code": code = "", "x-al-error-message": message = "" } = response.headers;
  return [code, message || errorText(response)].filter(Boolean).join(": ");
});
