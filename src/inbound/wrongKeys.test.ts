import { expect, test } from "vitest";
import { countWrongKeys } from "./wrongKeys.ts";

test("while the store hangs, at most a thousand wrong keys wait per host, and the others are refused immediately", async () => {
  let calls = 0;
  let answer: (until: number) => void = () => {};
  const countWrongKey = () => {
    calls += 1;
    return new Promise<number>((resolve) => (answer = resolve));
  };
  const wrongKeys = countWrongKeys({ keyUse: { countWrongKey } as never });
  let settled = 0;
  const all = Array.from({ length: 5000 }, () =>
    wrongKeys.count("shop.example.com", "site", 1000).then((until) => {
      settled += 1;
      return until;
    }),
  );
  await new Promise((resolve) => setTimeout(resolve, 10));
  expect(settled).toBe(4000);
  expect(calls).toBe(1);
  answer(9000);
  const until = await Promise.all(all);
  expect(until.filter((one) => one === 9000)).toHaveLength(1000);
  // Later requests are counted as before.
  expect(await wrongKeys.count("shop.example.com", "site", 2000)).toBe(9000);
  expect(calls).toBe(1);
});
