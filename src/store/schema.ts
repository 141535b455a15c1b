// The schema as forward migrations, one text for both engines.
//
// The rules that let the same tables run embedded, on one PostgreSQL and sharded over many:
// - `configuration` tables are small, read whole into every node's memory and written only when somebody
//   changes a setting; on a sharded database they are copied to every node.
// - every other table is keyed by site first, and is sharded by it. No sequence, no trigger, no row that all
//   sites share on the path of an event.
// - ids, times (epoch milliseconds) and hashes are made by the application; JSON is text behind a codec.
// `{COMPACT}` stores a small row inside its primary key in SQLite and is nothing in PostgreSQL.

import type { Migration } from "./migration.ts";
import { theRelayStands } from "./migration1.ts";
import { visitsHaveVerdicts } from "./migration2.ts";
import { peopleSignIn } from "./migration3.ts";
import { webhooksReceiveTotals } from "./migration4.ts";
import { peopleReadTheLog } from "./migration5.ts";
import { peopleHaveAccounts } from "./migration6.ts";
import { theDashboardShowsNumbers } from "./migration7.ts";
import { membersHaveComeByInvitation } from "./migration8.ts";
import { hostsAreVerified } from "./migration9.ts";
import { whatIsOldGoes } from "./migration10.ts";
import { filesAreImported } from "./migration11.ts";
import { recordsTakeLessRoom } from "./migration12.ts";

export const migrations: readonly Migration[] = [
  theRelayStands,
  visitsHaveVerdicts,
  peopleSignIn,
  webhooksReceiveTotals,
  peopleReadTheLog,
  peopleHaveAccounts,
  theDashboardShowsNumbers,
  membersHaveComeByInvitation,
  hostsAreVerified,
  whatIsOldGoes,
  filesAreImported,
  recordsTakeLessRoom,
];
