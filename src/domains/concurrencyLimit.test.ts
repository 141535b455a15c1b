import { expect, test } from "vitest";
import { createConcurrencyLimit } from "./concurrencyLimit.ts";

/** Checks that end when the test says so. */
function checks() {
  const started: string[] = [];
  const ends = new Map<string, (failure?: Error) => void>();
  return {
    started,
    of: (host: string) => () => {
      started.push(host);
      return new Promise<string>((resolve, reject) =>
        ends.set(host, (failure) => (failure ? reject(failure) : resolve(`${host} is well`))),
      );
    },
    end: async (host: string, failure?: Error): Promise<void> => {
      ends.get(host)?.(failure);
      await settled();
    },
  };
}
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

test("requests for a host under check share that check, and a later request starts a new one", async () => {
  const limit = createConcurrencyLimit<string>(3, 5);
  const { started, of, end } = checks();
  const host = { siteId: "a", host: "shop.test" };
  const asked = Array.from({ length: 150 }, () => limit.run(host, of("shop.test")) ?? expect.unreachable());
  await settled();
  expect(started).toEqual(["shop.test"]);
  await end("shop.test");
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["shop.test is well"]));
  void limit.run(host, of("shop.test"));
  await settled();
  expect(started).toHaveLength(2);
});

test("a limited number of checks run at once, and one that fails frees its slot for the next", async () => {
  const limit = createConcurrencyLimit<string>(2, 5);
  const { started, of, end } = checks();
  const [first, ...others] = ["a", "b", "c", "d"].map(
    (name) => limit.run({ siteId: name, host: name }, of(name)) ?? expect.unreachable(),
  );
  await settled();
  expect(started).toEqual(["a", "b"]);
  const failing = expect(first).rejects.toThrow("no luck");
  await end("a", new Error("no luck"));
  await failing;
  expect(started).toEqual(["a", "b", "c"]);
  for (const name of ["b", "c", "d"]) await end(name);
  expect(await Promise.all(others)).toEqual(["b is well", "c is well", "d is well"]);
});

test("a site can have only a limited number of checks pending, and other sites are not affected", async () => {
  const limit = createConcurrencyLimit<string>(1, 3);
  const { of, end } = checks();
  const run = (siteId: string, host: string) => limit.run({ siteId, host }, of(host));
  for (const host of ["1", "2", "3"]) expect(run("a", host)).not.toBeNull();
  expect(run("a", "4")).toBeNull();
  expect(run("a", "3")).not.toBeNull();
  expect(run("b", "4")).not.toBeNull();
  await settled();
  await end("1");
  expect(run("a", "5")).not.toBeNull();
});
