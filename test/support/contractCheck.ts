// Checks answers of the management API against the contract.

import { expect } from "vitest";
import { contract, type RouteName } from "../../src/contract/contract.ts";
import type { ApiAnswer } from "./apiClient.ts";

/** Checks the body of a 200 exactly: no declared field is missing, and no other field is there. */
export function checkedAnswer(name: RouteName, { status, json, answer }: ApiAnswer): ApiAnswer["json"] {
  expect(status, answer.text).toBe(200);
  const schema = contract[name].answer;
  if (typeof schema === "string") throw new Error(`${name} does not answer with JSON`);
  // Beside any answer stand the codes of its sentences.
  const { messages: _messages, ...stated } = json;
  expect(schema.parse(stated)).toEqual(stated);
  return stated;
}

export const fault = ({ status, json }: ApiAnswer) => [status, json.error.code, json.error.field];
