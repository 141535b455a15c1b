// Lets a database change its timeline under open connections. To its clients it then looks like a promoted server that a pooler
// or a name has put in the place of the primary.

import { withClient } from "./postgres.ts";

export async function simulateTimeline(url: string): Promise<{ promote: () => Promise<void> }> {
  const name = new URL(url).pathname.slice(1);
  const run = (sql: string) => withClient(url, async (client) => void (await client.query(sql)));
  // Found before PostgreSQL's own function, by sessions that begin from now on.
  await run(
    `CREATE SCHEMA timeline;
     CREATE TABLE timeline.present (n integer);
     INSERT INTO timeline.present VALUES (1);
     CREATE FUNCTION timeline.pg_walfile_name(pg_lsn) RETURNS text LANGUAGE sql AS
       $$ SELECT lpad(to_hex(n), 8, '0') || repeat('0', 16) FROM timeline.present $$;
     ALTER DATABASE ${name} SET search_path = public, timeline, pg_catalog`,
  );
  return { promote: () => run(`UPDATE timeline.present SET n = n + 1`) };
}
