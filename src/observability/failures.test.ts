import { expect, test } from "vitest";
import { openFailures } from "./failures.ts";

test("failures count until something succeeds, or a moment has passed", () => {
  let ms = 100;
  const failures = openFailures(() => ms);
  expect(failures.inARow()).toBe(0);
  for (let n = 0; n < 3; n++) failures.ended(true);
  expect(failures.inARow()).toBe(3);
  failures.ended(false);
  expect(failures.inARow()).toBe(0);
  failures.ended(true);
  ms += 4999;
  expect(failures.inARow()).toBe(1);
  ms += 1;
  expect(failures.inARow()).toBe(0);
});
