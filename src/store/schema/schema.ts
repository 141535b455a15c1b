// The schema as forward migrations, one text for both engines.
//
// These rules let the same tables run embedded, on one PostgreSQL and sharded over many:
// - `configuration` tables are small, and no event writes to them; on a sharded database they are copied to every node.
// - every other table has the site first in its key and is sharded by it. There is no sequence, no trigger, and no row that
//   all sites share on the path of an event.
// - ids, times (epoch milliseconds) and hashes are made by the application; JSON is text behind a codec.
// `{COMPACT}` stores a small row inside its primary key in SQLite and is nothing in PostgreSQL.

import type { Migration } from "./migration.ts";
import { initial } from "./migrations/0001-initial.ts";

export const migrations: readonly Migration[] = [initial];
