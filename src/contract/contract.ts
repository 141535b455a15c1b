// Joins all routes of the management API, named `METHOD /path` under /api/v1. A new route is a declaration in this folder
// and a handler in api/handlers/.

import type { z } from "zod";
import { alertRoutes } from "./alerts.ts";
import { apiKeyRoutes } from "./apiKeys.ts";
import { configurationRoutes } from "./configuration.ts";
import { correctionRoutes } from "./corrections.ts";
import { eventRoutes } from "./events.ts";
import { hostRoutes } from "./hosts.ts";
import { importRoutes } from "./imports.ts";
import { integrationRoutes } from "./integrations.ts";
import { memberRoutes } from "./members.ts";
import { peopleRoutes } from "./people.ts";
import { qualityRoutes } from "./quality.ts";
import { reconciliationRoutes } from "./reconciliation.ts";
import type { Route } from "./route.ts";
import { sessionRoutes } from "./session.ts";
import { sharingRoutes } from "./sharing.ts";
import { siteRoutes } from "./sites.ts";
import { sourceRoutes } from "./webhooks/sources.ts";
import { performanceRoutes, statisticsRoutes } from "./statistics.ts";
import { trafficRoutes } from "./traffic.ts";
import { whatIfRoutes } from "./whatIf/whatIf.ts";
import { dataExportRoutes } from "./webhooks/dataExport.ts";
import { webhookRoutes } from "./webhooks/webhooks.ts";

export const basePath = "/api/v1";

/** The sections of the API reference. */
export const sections = {
  Session: sessionRoutes,
  Members: memberRoutes,
  "API keys": apiKeyRoutes,
  Sites: siteRoutes,
  Hosts: hostRoutes,
  Events: { ...statisticsRoutes, ...eventRoutes, ...whatIfRoutes },
  Traffic: trafficRoutes,
  People: peopleRoutes,
  Imports: importRoutes,
  Reconciliation: reconciliationRoutes,
  Sources: sourceRoutes,
  Integrations: integrationRoutes,
  "Match quality and corrections": { ...performanceRoutes, ...correctionRoutes, ...qualityRoutes },
  Webhooks: webhookRoutes,
  "Data export": dataExportRoutes,
  "Shared links": sharingRoutes,
  "Alerts and audit": alertRoutes,
  Configuration: configurationRoutes,
} satisfies Record<string, Record<string, Route>>;

type Section = (typeof sections)[keyof typeof sections];
type NamesIn<Some> = Some extends unknown ? keyof Some : never;

export type RouteName = NamesIn<Section>;
export type Contract = { [Name in RouteName]: Extract<Section, Record<Name, unknown>>[Name] };

export const contract = Object.assign({}, ...Object.values(sections)) as Contract;

/** `site` and `key` of "DELETE /sites/:site/keys/:key". */
export type ParamNames<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never;

type SchemaOf<Of, Key extends string> = Of extends { [K in Key]: infer Schema extends z.ZodType } ? Schema : never;

/** A caller sends query and body before defaults are filled in. */
export type QueryIn<Name extends RouteName> = z.input<SchemaOf<Contract[Name], "query">>;
export type BodyIn<Name extends RouteName> = z.input<SchemaOf<Contract[Name], "body">>;
/** A handler gets them with defaults. */
export type Query<Name extends RouteName> = z.output<SchemaOf<Contract[Name], "query">>;
export type Body<Name extends RouteName> = z.output<SchemaOf<Contract[Name], "body">>;
/** Streams and CSV files are produced piece by piece. */
export type Answer<Name extends RouteName> = [SchemaOf<Contract[Name], "answer">] extends [never]
  ? AsyncIterable<string>
  : z.output<SchemaOf<Contract[Name], "answer">>;
