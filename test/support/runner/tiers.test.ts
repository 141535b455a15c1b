import { existsSync, globSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../documents/documents.ts";
import { filesOf, quick, quickOnPostgres, slow, tierOf } from "./tiers.ts";

describe("the tiers of the tests", () => {
  test("the first tier has every promise once, the second the same on PostgreSQL and what takes long", () => {
    expect(tierOf("test/contract/keys.test.ts", "inbound keys on sqlite")).toBe("quick");
    expect(tierOf("test/contract/keys.test.ts", "inbound keys on postgres")).toBe("rest");
    expect(tierOf("src/store/load.test.ts", "a store on postgres")).toBe("quick");
    expect(tierOf("test/faults/crash.test.ts", "kills on sqlite")).toBe("rest");
  });

  test("every test file is in a tier, and every entry of a list exists", () => {
    const all = globSync(["src/**/*.test.ts", "test/**/*.test.ts", "standins/**/*.test.ts"], { cwd: root });
    expect(new Set([...filesOf("quick", root), ...filesOf("rest", root)])).toEqual(new Set(all));
    expect([...slow, ...quick, ...quickOnPostgres].filter((one) => !existsSync(join(root, one)))).toEqual([]);
  });
});
