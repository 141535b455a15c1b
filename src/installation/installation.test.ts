import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { freshDatabase, freshFolder } from "../../test/support/databases.ts";
import { engines } from "../../test/support/relay.ts";
import { checkLocation } from "../maintenance/check.ts";
import { readConfig } from "./config.ts";
import { loadInstallation } from "./installation.ts";

describe.each(engines)("the key of an installation on %s", (engine) => {
  test("the encryption key is created with the database, and never again", async () => {
    const CLEANCAST_DATA = freshFolder();
    const env = engine === "sqlite" ? {} : { DATABASE_URL: await freshDatabase() };
    const file = join(CLEANCAST_DATA, "encryption.key");
    const config = () => readConfig({ CLEANCAST_DATA, ...env });
    await (await loadInstallation(config())).close();
    expect(readFileSync(file, "utf8")).toMatch(/^[0-9a-f]{64}\n$/);

    rmSync(file);
    const lost = /encryption\.key is not there, and the database was sealed .*'cleancast encryption-key lost'/;
    await expect(loadInstallation(config())).rejects.toThrow(lost);
    const { store, encryptionKeys } = config();
    await expect(checkLocation(store, encryptionKeys)).rejects.toThrow(lost);
    expect(existsSync(file)).toBe(false);
  });
});
