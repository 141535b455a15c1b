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
import { theRelayStands } from "./migrations/0001-initial.ts";
import { visitsHaveVerdicts } from "./migrations/0002-visit-verdicts.ts";
import { peopleSignIn } from "./migrations/0003-platform-sign-in.ts";
import { webhooksReceiveTotals } from "./migrations/0004-outbound-webhooks.ts";
import { peopleReadTheLog } from "./migrations/0005-sync-log.ts";
import { peopleHaveAccounts } from "./migrations/0006-accounts.ts";
import { theDashboardShowsNumbers } from "./migrations/0007-statistics.ts";
import { membersHaveComeByInvitation } from "./migrations/0008-invited-members.ts";
import { hostsAreVerified } from "./migrations/0009-host-verification.ts";
import { whatIsOldGoes } from "./migrations/0010-retention.ts";
import { filesAreImported } from "./migrations/0011-imports.ts";
import { recordsTakeLessRoom } from "./migrations/0012-drop-identity-age-index.ts";

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
