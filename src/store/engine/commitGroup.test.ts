// Whose commits share a transaction on PostgreSQL.

import { expect, inject, onTestFinished, test } from "vitest";
import { freshDatabase } from "../../../test/support/databases.ts";
import { commitGroups, openPostgres } from "./postgres/engine.ts";

const sites = Array.from({ length: 100 }, (_, n) => `site-${n}`);

async function groupsOf(url: string, isAsked: boolean): Promise<number> {
  const db = openPostgres(url, { connections: 2 });
  onTestFinished(() => db.close());
  if (isAsked) await db.isSharded();
  return new Set(sites.map((site) => db.commitGroup(site))).size;
}

// One that is named to `npm run test:store` may be sharded.
test.skipIf(inject("inSchemas"))(
  "sites are divided into a few groups; each is one of its own where they are sharded, and until that is known",
  async () => {
    const url = await freshDatabase();
    const sharded = `${url}${url.includes("?") ? "&" : "?"}cleancast=as-sharded`;
    expect(await groupsOf(sharded, true)).toBe(sites.length);
    expect(await groupsOf(url, false)).toBe(sites.length);
    expect(await groupsOf(url, true)).toBe(commitGroups);
  },
);
