// Rows that are described, against the tables that they are written to.

import { expect, test } from "vitest";
import { freshFolder } from "../../test/support/databases.ts";
import { attemptRow, deliveryRow } from "./deliveries/delivery.ts";
import { describeEvents } from "./events/eventRow.ts";
import { migrate } from "./schema/migrate.ts";
import { columnsOf } from "./schema/tables.ts";
import { rejectedRequestRow } from "./statistics/rejectedRequests.ts";
import { openDatabase } from "./open.ts";

const described = {
  events: describeEvents({ open: String, close: String }),
  deliveries: deliveryRow,
  attempts: attemptRow,
  rejected_requests: rejectedRequestRow,
};

test("a described row has every column of its table, and its insert begins with the site", async () => {
  const db = openDatabase({ engine: "sqlite", file: `${freshFolder()}/store.db` });
  try {
    await migrate(db);
    for (const [table, { columns, inserted }] of Object.entries(described)) {
      const all = new Set([...columns, ...inserted]);
      expect([...all].toSorted(), table).toEqual((await columnsOf(db, table)).toSorted());
      expect(inserted[0], table).toBe("site_id");
    }
  } finally {
    await db.close();
  }
});
