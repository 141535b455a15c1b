import { readdirSync, readFileSync } from "node:fs";
import { getAuthTables } from "better-auth/db";
import { twoFactor } from "better-auth/plugins/two-factor";
import { expect, test } from "vitest";
import { z } from "zod";
import { roles as contractRoles } from "../contract/route.ts";
import { accountTables } from "../store/access/accounts.ts";
import { initial } from "../store/schema/migrations/0001-initial.ts";
import { roles } from "./actor.ts";
import { betterAuthOptions, isEmail, twoFactorOptions } from "./betterAuth.ts";

test("every field of better-auth has a column in our tables", () => {
  const options = betterAuthOptions({ secret: "x", publicUrl: "https://cc.example.com", onDefect: () => {} });
  const tables = getAuthTables({ ...options, plugins: [twoFactor(twoFactorOptions)] });
  expect(
    Object.values(tables)
      .map(({ modelName }) => modelName)
      .toSorted(),
  ).toEqual([...accountTables].toSorted());
  for (const { modelName, fields } of Object.values(tables)) {
    const text = initial.statements.find((one) => one.startsWith(`CREATE TABLE ${modelName} (`));
    const columns = [...(text ?? "").matchAll(/^\s+([a-z_]+) (?:text|integer|bigint)/gm)].map(([, name]) => name);
    const wanted = Object.entries(fields).map(([name, { fieldName }]) => fieldName ?? name);
    expect(columns).toEqual(expect.arrayContaining(["id", ...wanted]));
  }
});

test("better-auth is loaded at the first sign-in, not when the relay starts", () => {
  const here = new URL(".", import.meta.url);
  const files = readdirSync(here, { recursive: true, encoding: "utf8" }).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const importing = files.filter((name) =>
    /^(?:import|export) .*from "better-auth/m.test(readFileSync(new URL(name, here), "utf8")),
  );
  expect(importing).toEqual(["adapter.ts"]);
  const early = files.filter((name) =>
    /^import .*from "(?:\.\/adapter\.ts|zod)"/m.test(readFileSync(new URL(name, here), "utf8")),
  );
  expect(early).toEqual([]);
});

test("access control knows the same roles as the contract", () => {
  expect(roles).toEqual(contractRoles);
});

test("an email is valid exactly when better-auth accepts it", () => {
  const texts = [
    "ada@example.com",
    "a.b+c@mail.example.co.uk",
    "o'neil@example.com",
    ".a@example.com",
    "a..b@example.com",
    "a@localhost",
    "a@b.c",
    "a b@example.com",
    "@example.com",
    "ada@example.com\n",
    "ada@exa_mple.com",
    "ä@example.com",
  ];
  for (const text of texts) expect([text, isEmail(text)]).toEqual([text, z.email().safeParse(text).success]);
});
