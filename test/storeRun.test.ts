// `npm run test:store -- DATABASE_URL` must leave the operator's database unchanged, and report nothing that it did not test.

import { execFile } from "node:child_process";
import { readFileSync, readdirSync } from "node:fs";
import { promisify } from "node:util";
import { Client } from "pg";
import { describe, expect, inject, test } from "vitest";
import { harmful, tested } from "../scripts/testStore/files.ts";
import { summary, type Report } from "../scripts/testStore/summary.ts";
import { createDatabase } from "./support/postgres/postgres.ts";

const run = promisify(execFile);

test("tests that end other sessions or change the server do not run on a given database", () => {
  const files = tested.flatMap((one) =>
    one.endsWith(".ts")
      ? [one]
      : readdirSync(one, { recursive: true, encoding: "utf8" })
          .filter((name) => name.endsWith(".test.ts"))
          .map((name) => `${one}/${name}`),
  );
  expect(files.length).toBeGreaterThan(10);
  const found = files.filter((file) =>
    /alter (?:database|system|role)|pg_terminate_backend|pg_cancel_backend|(?:drop|create) database|startPostgres/i.test(
      readFileSync(file, "utf8"),
    ),
  );
  expect(found.filter((file) => !harmful.includes(file))).toEqual([]);
});

describe("the summary of a store run", () => {
  const one = (fullName: string, status: string) => ({ fullName, status, failureMessages: [] });
  const file = (name: string, status: string, ...assertionResults: ReturnType<typeof one>[]) => ({
    name: `/x/${name}`,
    status,
    message: status === "failed" ? "no connection" : "",
    assertionResults,
  });
  const of = (...testResults: Report["testResults"]) => summary({ testResults }, "/x");

  test("a test file passes in the summary only if one of its tests ran and none failed", () => {
    expect(of(file("a", "passed", one("b", "passed"), one("on sqlite", "skipped")))).toEqual({
      text: "holds    a: 1 of 1",
      holds: true,
    });
    expect(of(file("a", "passed", one("b", "skipped")))).toEqual({
      text: "NOT RUN  a: 0 of 1",
      holds: false,
    });
    const broken = of(file("a", "failed", one("b", "skipped")), file("c", "passed", one("d", "passed")));
    expect(broken.text).toBe("NOT RUN  a: 0 of 1\n           no connection\nholds    c: 1 of 1");
    expect(broken.holds).toBe(false);
    expect(of(file("a", "failed", one("b", "passed"))).text).toMatch(/^FAILS /);
    expect(of(file("a", "failed")).text).toMatch(/^NOT RUN /);
    expect(of().holds).toBe(false);
    expect(of(file("a", "passed", one("on sqlite", "skipped"))).text).toBe("");
  });
});

test("a database in use, an unknown dialect flag and a missing server are refused at once", async () => {
  const url = await createDatabase(inject("postgresUrl"));
  const refusal = (address: string) =>
    run(process.execPath, ["scripts/testStore/main.ts", address]).then(
      ({ stdout }) => stdout,
      (error: { stderr: string }) => error.stderr,
    );
  const relay = new Client({ connectionString: url, application_name: "cleancast" });
  await relay.connect();
  try {
    const refusals = await Promise.all([refusal(url), refusal(`${url}?cleancast=foo`), refusal("postgres://127.0.0.1:1/x")]);
    expect(refusals[0]).toMatch(/a relay, a command or another run of these tests is using it/);
    expect(refusals[1]).toMatch(/"foo" is not one of/);
    expect(refusals[2]).toMatch(/cannot be used: .*ECONNREFUSED/);
  } finally {
    await relay.end();
  }
});
