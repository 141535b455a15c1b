import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { hashKey, isWellFormed, makeKey } from "./keys.ts";

const live = "cc_0123456789ABCDEFGHIJKLMNOPQRSTUV4Fv52R";
const forTests = "cc_test_UVWXYZabcdefghijklmnopqrstuvwxyz3QGBBN";

describe("a new key", () => {
  test("a key is cc_, 32 random letters and digits, and a checksum of 6", () => {
    for (let i = 0; i < 300; i++) {
      const { key } = makeKey("live");
      expect(key).toMatch(/^cc_[0-9A-Za-z]{38}$/);
      expect(key).not.toMatch(/^cc_test_/);
      expect(isWellFormed(key)).toBe(true);
    }
  });

  test("a test key begins with cc_test_ and is otherwise the same", () => {
    for (let i = 0; i < 300; i++) {
      const { key } = makeKey("test");
      expect(key).toMatch(/^cc_test_[0-9A-Za-z]{38}$/);
      expect(isWellFormed(key)).toBe(true);
    }
  });

  test("a management API key begins with ccm_ and is otherwise the same", () => {
    const { key } = makeKey("API");
    expect(key).toMatch(/^ccm_[0-9A-Za-z]{38}$/);
    expect(isWellFormed(key)).toBe(true);
  });

  test("no key is created twice", () => {
    const keys = Array.from({ length: 5000 }, () => makeKey("live").key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("a key is stored as its SHA-256 and its first 8 characters only", () => {
    for (const mode of ["live", "test"] as const) {
      const made = makeKey(mode);
      expect(Object.keys(made).toSorted()).toEqual(["hash", "key", "prefix"]);
      expect(made.hash).toBe(createHash("sha256").update(made.key).digest("hex"));
      expect(made.prefix).toBe(made.key.slice(0, 8));
    }
  });

  test("the stored hash is the one by which a key is looked up", () => {
    const made = makeKey("live");
    expect(hashKey(made.key)).toBe(made.hash);
    expect(hashKey(`${made.key} `)).not.toBe(made.hash);
    expect(hashKey(made.key.toLowerCase())).not.toBe(made.hash);
  });
});

describe("the checksum", () => {
  test.each(["cc_000000000000000000000000000000000NUYJU", live, "cc_test_000000000000000000000000000000003u9VkG", forTests])(
    "%s is well formed: keys in use must stay so",
    (key) => {
      expect(isWellFormed(key)).toBe(true);
    },
  );

  test.each([live, forTests])("the checksum detects one wrong character anywhere in %s", (key) => {
    for (let at = 0; at < key.length; at++) {
      const wrong = key[at] === "x" ? "y" : "x";
      expect(isWellFormed(key.slice(0, at) + wrong + key.slice(at + 1)), `at ${at}`).toBe(false);
    }
  });

  test("the checksum detects two swapped neighbours", () => {
    for (let at = 3; at < live.length - 1; at++) {
      const swapped = live.slice(0, at) + live[at + 1] + live[at] + live.slice(at + 2);
      expect(isWellFormed(swapped), `at ${at}`).toBe(false);
    }
  });

  test("a live key does not become a test key, nor the other way round", () => {
    expect(isWellFormed(live.replace("cc_", "cc_test_"))).toBe(false);
    expect(isWellFormed(forTests.replace("cc_test_", "cc_"))).toBe(false);
  });

  test.each([
    "",
    "cc_",
    "cc_test_",
    live.slice(0, -1),
    `${live}0`,
    ` ${live}`,
    `${live}\n`,
    live.toLowerCase(),
    live.replace("cc_", "CC_"),
    live.replace("cc_", "ccm_"),
    "cc_0123456789ABCDEFGHIJKLMNOPQRSTÜV4Fv52R",
  ])("%j is not well formed", (text) => {
    expect(isWellFormed(text)).toBe(false);
  });
});
