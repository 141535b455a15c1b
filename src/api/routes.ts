// Joins the handlers of all routes of the contract.

import type { RouteName } from "../contract/contract.ts";
import type { Handlers } from "./call.ts";
import { configurationHandlers } from "./handlers/configuration.ts";
import { connectionHandlers } from "./handlers/connections/connections.ts";
import { deliveryHandlers } from "./handlers/deliveries.ts";
import { eventHandlers } from "./handlers/events.ts";
import { hostHandlers } from "./handlers/hosts.ts";
import { importHandlers } from "./handlers/imports.ts";
import { keyHandlers } from "./handlers/inboundKeys.ts";
import { apiKeyHandlers, memberHandlers } from "./handlers/members.ts";
import type { ApiContext } from "./context.ts";
import { peopleHandlers } from "./handlers/people.ts";
import { correctionHandlers } from "./handlers/corrections.ts";
import { qualityHandlers } from "./handlers/connections/quality.ts";
import { oauthAppHandlers, platformHandlers } from "./handlers/connections/platforms.ts";
import { reconciliationHandlers } from "./handlers/reconciliations.ts";
import { sessionHandlers } from "./handlers/session.ts";
import { siteHandlers } from "./handlers/sites.ts";
import { sourceHandlers } from "./handlers/sources.ts";
import { statisticsHandlers } from "./handlers/statistics.ts";
import { trafficHandlers } from "./handlers/traffic.ts";
import { alertHandlers } from "./handlers/alerts.ts";
import { dataExportHandlers } from "./handlers/outbound/dataExport.ts";
import { sharingHandlers } from "./handlers/outbound/sharing.ts";
import { whatIfHandlers } from "./handlers/connections/whatIf.ts";
import { whyHandlers } from "./handlers/why.ts";
import { webhookHandlers } from "./handlers/outbound/webhooks.ts";

export const createHandlers = (context: ApiContext): Handlers<RouteName> => ({
  ...sessionHandlers(context),
  ...memberHandlers(context),
  ...apiKeyHandlers(context),
  ...siteHandlers(context),
  ...hostHandlers(context),
  ...keyHandlers(context),
  ...statisticsHandlers(context),
  ...eventHandlers(context),
  ...whyHandlers(context),
  ...whatIfHandlers(context),
  ...deliveryHandlers(context),
  ...trafficHandlers(context),
  ...peopleHandlers(context),
  ...importHandlers(context),
  ...reconciliationHandlers(context),
  ...platformHandlers(context),
  ...connectionHandlers(context),
  ...oauthAppHandlers(context),
  ...correctionHandlers(context),
  ...qualityHandlers(context),
  ...sourceHandlers(context),
  ...webhookHandlers(context),
  ...dataExportHandlers(context),
  ...sharingHandlers(context),
  ...alertHandlers(context),
  ...configurationHandlers(context),
});
