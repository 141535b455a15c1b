// The rows that are described in one place, by table.

import { apiKeyRow } from "../../../src/store/access/apiKeys.ts";
import { sharedLinkRow } from "../../../src/store/sharing/sharedLinks.ts";
import { invitationRow } from "../../../src/store/access/invitations.ts";
import { confirmationRow } from "../../../src/store/confirmations/confirmations.ts";
import { questionRow } from "../../../src/store/confirmations/questions.ts";
import { correctionRow } from "../../../src/store/corrections/corrections.ts";
import { backfillRow } from "../../../src/store/deliveries/backfills.ts";
import { attemptRow, deliveryRow } from "../../../src/store/deliveries/delivery.ts";
import { describeEvents } from "../../../src/store/events/eventRow.ts";
import { periodRow } from "../../../src/store/outbound/periods.ts";
import { callRow } from "../../../src/store/outbound/pushes.ts";
import { orderRow } from "../../../src/store/reconciliation/orders.ts";
import { resultRow, runRow } from "../../../src/store/reconciliation/runs.ts";
import { keyRow } from "../../../src/store/sites/configuration.ts";
import { hostRow } from "../../../src/store/sites/hosts.ts";
import { importRow } from "../../../src/store/sites/imports.ts";
import { requestRow, shapeRow } from "../../../src/store/sources/sourceRequests.ts";
import { rejectedRequestRow } from "../../../src/store/statistics/rejectedRequests.ts";

export const describedRows = {
  events: describeEvents({ unseal: String, seal: String }),
  deliveries: deliveryRow,
  api_keys: apiKeyRow,
  shared_links: sharedLinkRow,
  attempts: attemptRow,
  backfills: backfillRow,
  confirmation_requests: questionRow,
  confirmations: confirmationRow,
  corrections: correctionRow,
  hosts: hostRow,
  imports: importRow,
  inbound_keys: keyRow,
  invitations: invitationRow,
  orders: orderRow,
  periods: periodRow,
  push_log: callRow,
  reconciliations: runRow,
  reconciliation_rows: resultRow,
  rejected_requests: rejectedRequestRow,
  source_requests: requestRow,
  source_shapes: shapeRow,
};
