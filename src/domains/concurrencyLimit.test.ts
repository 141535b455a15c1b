import { expect, test } from "vitest";
import { openConcurrencyLimit } from "./concurrencyLimit.ts";

/** Checks that end when the test says so. */
function checks() {
  const under: string[] = [];
  const ends = new Map<string, (failure?: Error) => void>();
  return {
    under,
    of: (host: string) => () => {
      under.push(host);
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

test("a host is checked once, however many ask; and again when that is over", async () => {
  const turns = openConcurrencyLimit<string>(3, 5);
  const { under, of, end } = checks();
  const host = { siteId: "a", host: "shop.test" };
  const asked = Array.from({ length: 150 }, () => turns.run(host, of("shop.test")) ?? expect.unreachable());
  await settled();
  expect(under).toEqual(["shop.test"]);
  await end("shop.test");
  expect(new Set(await Promise.all(asked))).toEqual(new Set(["shop.test is well"]));
  void turns.run(host, of("shop.test"));
  await settled();
  expect(under).toHaveLength(2);
});

test("few are checked at once, the others in turn; one that fails makes room like any other", async () => {
  const turns = openConcurrencyLimit<string>(2, 5);
  const { under, of, end } = checks();
  const [first, ...others] = ["a", "b", "c", "d"].map(
    (name) => turns.run({ siteId: name, host: name }, of(name)) ?? expect.unreachable(),
  );
  await settled();
  expect(under).toEqual(["a", "b"]);
  const failing = expect(first).rejects.toThrow("no luck");
  await end("a", new Error("no luck"));
  await failing;
  expect(under).toEqual(["a", "b", "c"]);
  for (const name of ["b", "c", "d"]) await end(name);
  expect(await Promise.all(others)).toEqual(["b is well", "c is well", "d is well"]);
});

test("a site has only so many in the line", async () => {
  const turns = openConcurrencyLimit<string>(1, 3);
  const { of, end } = checks();
  const take = (siteId: string, host: string) => turns.run({ siteId, host }, of(host));
  for (const host of ["1", "2", "3"]) expect(take("a", host)).not.toBeNull();
  expect(take("a", "4")).toBeNull();
  expect(take("a", "3")).not.toBeNull();
  expect(take("b", "4")).not.toBeNull();
  await settled();
  await end("1");
  expect(take("a", "5")).not.toBeNull();
});
