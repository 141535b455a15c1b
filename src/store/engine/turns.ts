// Wraps a database so that sites take turns with their reads: for calls of the management API, of which one site can make any number.
// In the embedded database a read works on the thread that accepts events. On a server it takes a connection from the reads of events:
// a site has one of those at a time and, where there are several, one stays free of calls.

import { createLimit, threadShare } from "../../kernel/concurrency.ts";
import type { Database } from "./database.ts";
import { createStatementSites } from "./postgres/statementSite.ts";

/** `tables` are those whose rows are of a site. Statements about others read configuration, which is small, and take no turns. */
export function inTurns(db: Database, tables: ReadonlySet<string>): Database {
  const siteOf = createStatementSites(tables);
  const reads = createLimit({ max: Math.max(1, db.readers - 1), maxOfKey: 1 });
  return {
    ...db,
    async all(sql, params) {
      const siteId = siteOf(sql, params);
      if (siteId === null) return db.all(sql, params);
      if (db.isServer) return reads.run(siteId, () => db.all(sql, params));
      const resting = threadShare.rest(siteId);
      if (resting) await resting;
      return db.all(sql, params);
    },
  };
}
