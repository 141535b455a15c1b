import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { sealWith } from "./seal.ts";

const key = Buffer.alloc(32, 7);
const seal = sealWith(key);
const place = "connection site1 abc";

describe("a sealed value", () => {
  test("a sealed value opens in its place as it was", () => {
    for (const plain of ["", "x", '{"token":"s3cret"}', "Ünïcode 日本 😀", "\0", "a".repeat(100_000)])
      expect(seal.unseal(seal.seal(plain, place), place)).toBe(plain);
  });

  test("a sealed value shows nothing of the plain text and is safe in a text column", () => {
    const sealed = seal.seal('{"token":"s3cret-value"}', place);
    expect(sealed).toMatch(/^v1\.[A-Za-z0-9_-]+$/);
    const bytes = Buffer.from(sealed.slice(3), "base64url").toString("latin1");
    for (const part of ["s3cret", "token", place]) expect(bytes).not.toContain(part);
  });

  test("the same value is sealed differently every time, so that the database does not show equal secrets", () => {
    expect(new Set(Array.from({ length: 200 }, () => seal.seal("same", place))).size).toBe(200);
  });

  test("a sealed value opens with the same key in another process", () => {
    expect(sealWith(Buffer.from(key)).unseal(seal.seal("x", place), place)).toBe("x");
  });

  test("a value that an earlier version sealed still opens", () => {
    const old = "v1.AAECAwQFBgcICQoL3EWYWqOtvJat9-Q1gPMUYXTuhxc9aL4m";
    expect(seal.unseal(old, place)).toBe("long ago");
  });
});

describe("opening a sealed value", () => {
  const sealed = seal.seal("s3cret", place);

  test.each(["connection site1 abd", "connection site2 abc", "event site1 abc", "", `${place} `])(
    "a value that was copied to the place %j does not open",
    (other) => {
      expect(() => seal.unseal(sealed, other)).toThrow();
    },
  );

  test("a value sealed with another key does not open", () => {
    for (const other of [randomBytes(32), Buffer.alloc(32, 8), Buffer.alloc(32)])
      expect(() => sealWith(other).unseal(sealed, place)).toThrow();
  });

  test("a value with any one bit changed does not open", () => {
    const bytes = Buffer.from(sealed.slice(3), "base64url");
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = Buffer.from(bytes);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => seal.unseal(`v1.${changed.toString("base64url")}`, place), `bit ${bit}`).toThrow();
    }
  });

  test("a value that was cut or lengthened does not open", () => {
    const bytes = Buffer.from(sealed.slice(3), "base64url");
    for (let length = 0; length < bytes.length; length++)
      expect(() => seal.unseal(`v1.${bytes.toString("base64url", 0, length)}`, place), `${length} bytes`).toThrow();
    const longer = Buffer.concat([bytes, Buffer.alloc(1)]);
    expect(() => seal.unseal(`v1.${longer.toString("base64url")}`, place)).toThrow();
  });

  test.each(["", "v1.", "v2.abc", "{}", "null", "s3cret", "V1.AAAA", "v1"])(
    "%j is not a sealed value and does not open",
    (text) => {
      expect(() => seal.unseal(text, place)).toThrow();
    },
  );

  test("the error reveals nothing of the value", () => {
    const plain = "s3cret";
    for (const wrong of [plain, `v1.${plain}`]) {
      let message = "";
      try {
        seal.unseal(wrong, place);
      } catch (error) {
        message = String(error);
      }
      expect(message).not.toBe("");
      expect(message).not.toContain(plain);
    }
  });
});

test("a key of the wrong length never seals anything", () => {
  for (const length of [0, 16, 31, 33, 64]) expect(() => sealWith(Buffer.alloc(length)).seal("x", place)).toThrow();
});
