// Every route of the contract, and who answers it.

import type { RouteName } from "../contract/contract.ts";
import { apiKeyHandlers } from "./handlers/apiKeys.ts";
import type { Handlers } from "./call.ts";
import { connectionHandlers } from "./handlers/connections.ts";
import { deliveryHandlers } from "./handlers/deliveries.ts";
import { eventHandlers } from "./handlers/events.ts";
import { hostHandlers } from "./handlers/hosts.ts";
import { keyHandlers } from "./handlers/inboundKeys.ts";
import { memberHandlers } from "./handlers/members.ts";
import { oauthAppHandlers } from "./handlers/oauthApps.ts";
import type { ApiParts } from "./context.ts";
import { peopleHandlers } from "./handlers/people.ts";
import { platformHandlers } from "./handlers/platforms.ts";
import { sessionHandlers } from "./handlers/session.ts";
import { siteHandlers } from "./handlers/sites.ts";
import { statisticsHandlers } from "./handlers/statistics.ts";
import { trafficHandlers } from "./handlers/traffic.ts";
import { watchHandlers } from "./handlers/alerts.ts";
import { webhookHandlers } from "./handlers/webhooks.ts";

export const handlersOf = (parts: ApiParts): Handlers<RouteName> => ({
  ...sessionHandlers(parts),
  ...memberHandlers(parts),
  ...apiKeyHandlers(parts),
  ...siteHandlers(parts),
  ...hostHandlers(parts),
  ...keyHandlers(parts),
  ...statisticsHandlers(parts),
  ...eventHandlers(parts),
  ...deliveryHandlers(parts),
  ...trafficHandlers(parts),
  ...peopleHandlers(parts),
  ...platformHandlers(parts),
  ...connectionHandlers(parts),
  ...oauthAppHandlers(parts),
  ...webhookHandlers(parts),
  ...watchHandlers(parts),
});
