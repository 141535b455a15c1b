import { argon2Sync } from "node:crypto";
import { expect, test } from "vitest";
import { hashPassword, isPassword } from "./password.ts";
import { Denied } from "../kernel/refusal.ts";

test("a hash verifies its own password and no other", async () => {
  const hash = await hashPassword("correct horse battery");
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[\w+/]{22}\$[\w+/]{43}$/);
  expect(await isPassword("correct horse battery", hash)).toBe(true);
  expect(await isPassword("correct horse batterY", hash)).toBe(false);
  expect(await hashPassword("correct horse battery")).not.toBe(hash);
});

test("a password verifies in composed and in decomposed Unicode", async () => {
  const hash = await hashPassword("caf\u00e9 au lait");
  expect(await isPassword("cafe\u0301 au lait", hash)).toBe(true);
});

test("a hash verifies with the costs that it names, so that the default can be raised later", async () => {
  const nonce = Buffer.from("somesalt12345678");
  const costs = { memory: 64, passes: 3, parallelism: 2, tagLength: 16 };
  const tag = argon2Sync("argon2id", { ...costs, message: "password", nonce });
  const text = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");
  const cheap = `$argon2id$v=19$m=64,t=3,p=2$${text(nonce)}$${text(tag)}`;
  expect(await isPassword("password", cheap)).toBe(true);
  expect(await isPassword("passwore", cheap)).toBe(false);
  expect(await isPassword("password", "")).toBe(false);
  expect(await isPassword("password", "$2b$12$abcdefghijklmnopqrstuv")).toBe(false);
});

test("of 40 simultaneous password hashes 32 are computed and 8 are refused as unavailable", async () => {
  const flood = await Promise.allSettled(Array.from({ length: 40 }, () => hashPassword("x")));
  const refused = flood.filter((one) => one.status === "rejected");
  expect(refused).toHaveLength(8);
  expect(refused.every(({ reason }) => reason instanceof Denied && reason.code === "unavailable")).toBe(true);
  expect(await hashPassword("afterwards")).toMatch(/^\$argon2id/);
});
