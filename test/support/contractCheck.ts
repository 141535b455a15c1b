// Answers of the management API, held against the contract.

import { expect } from "vitest";
import { contract, type RouteName } from "../../src/contract/contract.ts";
import type { Asked } from "./apiClient.ts";

/** What a 200 holds, exactly: nothing is missing, and nothing is there that was not declared. */
export function declared(name: RouteName, { status, json, answer }: Asked): Asked["json"] {
  expect(status, answer.text).toBe(200);
  const schema = contract[name].answer;
  if (typeof schema === "string") throw new Error(`${name} is no JSON`);
  expect(schema.parse(json)).toEqual(json);
  return json;
}

export const fault = ({ status, json }: Asked) => [status, json.error.code, json.error.field];
