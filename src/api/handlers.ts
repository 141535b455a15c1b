// Every route of the contract, and who answers it.

import type { RouteName } from "../contract/contract.ts";
import { apiKeyHandlers } from "./apiKeys.ts";
import type { Handlers } from "./call.ts";
import { connectionHandlers } from "./connections.ts";
import { deliveryHandlers } from "./deliveries.ts";
import { eventHandlers } from "./events.ts";
import { hostHandlers } from "./hosts.ts";
import { keyHandlers } from "./keys.ts";
import { memberHandlers } from "./members.ts";
import { oauthAppHandlers } from "./oauthApps.ts";
import type { ApiParts } from "./parts.ts";
import { peopleHandlers } from "./people.ts";
import { platformHandlers } from "./platforms.ts";
import { sessionHandlers } from "./session.ts";
import { siteHandlers } from "./sites.ts";
import { statisticsHandlers } from "./statistics.ts";
import { trafficHandlers } from "./traffic.ts";
import { watchHandlers } from "./watch.ts";
import { webhookHandlers } from "./webhooks.ts";

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
