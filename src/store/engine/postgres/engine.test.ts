// The groups of sites whose commits share a transaction on PostgreSQL.

import { expect, inject, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../../test/support/databases.ts";
import { commitGroups, openPostgres } from "./engine.ts";

const sites = Array.from({ length: 100 }, (_, n) => `site-${n}`);

async function groupsOf(url: string, isKnown: boolean): Promise<number> {
  const db = openPostgres(url, { connections: 2 });
  onTestFinished(() => db.close());
  if (isKnown) await db.isSharded();
  return new Set(sites.map((site) => db.commitGroup(site))).size;
}

// A database that is given to `npm run test:store` may be sharded.
test.skipIf(inject("inSchemas"))(
  "sites are divided into a few commit groups; each site is its own where tables are sharded, and until that is known",
  async () => {
    const url = await freshDatabase();
    const sharded = `${url}${url.includes("?") ? "&" : "?"}cleancast=as-sharded`;
    expect(await groupsOf(sharded, true)).toBe(sites.length);
    expect(await groupsOf(url, false)).toBe(sites.length);
    expect(await groupsOf(url, true)).toBe(commitGroups);
  },
);

test("looks over all sites that hang leave the other reads their connections, and end after a short time", async () => {
  const db = openPostgres(await freshDatabase(), { connections: 6 });
  const looks = Array.from({ length: 8 }, () =>
    db.background.all("SELECT pg_sleep(30)").then(
      () => "answered",
      (error: { code?: string }) => error.code,
    ),
  );
  try {
    const reads = await Promise.all(Array.from({ length: 20 }, (_, n) => db.all("SELECT $1 AS n", [n])));
    expect(reads).toHaveLength(20);
    expect(await Promise.race(looks)).toBe("57014");
  } finally {
    await db.close();
    await Promise.all(looks);
  }
});
