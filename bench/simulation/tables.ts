// Formats the simulation's results as tables.

import { number, type Table } from "../part.ts";
import type { CitusCosts } from "./citus.ts";
import type { Costs } from "./costs.ts";
import { assumed, workersOf, type Plan } from "./plan.ts";
import { figures, type Measured } from "./points.ts";
import type { Allowance, Sharing } from "./quotas.ts";
import type { Check } from "./validate.ts";

export const heads = {
  plans: [
    "events/s",
    "sites",
    "nodes (a core each)",
    "database",
    "connections",
    "memory of all nodes",
    "disk a month",
    "added p50 / p99",
    "drain time after an hour's outage",
    "first bottleneck",
  ],
  citus: ["Citus, every machine listed", "measured"],
  costs: ["CPU µs", "node", "database"],
  checks: ["", "events/s", "node CPU", "database CPU", "statements", "requests", "p50", "p99"],
  allowances: ["platform", "requests/s", "events/s in full batches", "limit applies to"],
  sharing: ["platform", "sites, an event a second each", "p50", "p99"],
} as const;

const seconds = (ms: number) => (ms < 1000 ? `${number(ms)} ms` : `${number(ms / 1000)} s`);

function time(inSeconds: number): string {
  if (!Number.isFinite(inSeconds)) return "does not drain";
  if (inSeconds < 100) return `${number(inSeconds)} s`;
  return inSeconds < 6000 ? `${number(inSeconds / 60)} min` : `${number(inSeconds / 3600)} h`;
}

function bytes(count: number): string {
  const units = ["MB", "GB", "TB", "PB"];
  let value = count / 1e6;
  let unit = 0;
  for (; value >= 1000 && unit < 3; unit++) value /= 1000;
  return `${number(value)} ${units[unit]}`;
}

export function databaseOf({ databaseCores, sharded, standby }: Plan): string {
  const pair = standby ? ", with a standby" : "";
  if (!sharded) return `PostgreSQL, ${databaseCores} cores${pair}`;
  return `Citus, ${workersOf({ databaseCores })} workers of ${assumed.workerCores} cores${pair}`;
}

const words = {
  node: "the nodes' CPU",
  database: "the database's CPU",
  pool: "a node's connections to the database",
};

const monthSeconds = 30 * 86_400;

export function planTable(plans: readonly Plan[], measured: Measured): Table {
  const perEvent = measured.bytesPerEvent[String(assumed.platforms.length)] ?? Number.NaN;
  return {
    title: "Three connections per site; nodes and database sized for 50 % utilisation",
    head: [...heads.plans],
    rows: plans.map((plan) => [
      number(plan.perSecond),
      number(plan.sites),
      number(plan.nodes),
      databaseOf(plan),
      `${number(plan.nodes * plan.poolSize)} (${plan.poolSize} a node)`,
      bytes(plan.nodes * measured.nodeMb * 1e6),
      bytes(plan.perSecond * monthSeconds * perEvent),
      `${seconds(plan.result.p50 - assumed.platformMs)} / ${seconds(plan.result.p99 - assumed.platformMs)}`,
      time(plan.drainSeconds),
      `${words[plan.first.what]}, at ${number(plan.first.perSecond)}/s`,
    ]),
  };
}

export const citusTable = ({ database, node, idleNodeMs, idleWorkerMs }: CitusCosts): Table => ({
  title: "What Citus costs",
  head: [...heads.citus],
  rows: [
    ["database CPU of an event, compared with plain PostgreSQL", `${number(database)} ×`],
    ["node CPU of an event, compared with plain PostgreSQL", `${number(node)} ×`],
    ["database CPU of leases and looks, for each node", `${number(idleNodeMs)} ms/s`],
    ["database CPU of leases and looks, for each worker", `${number(idleWorkerMs)} ms/s`],
  ],
});

export function costTable({ node, database }: Costs): Table {
  const row = (what: string, of: number, other?: number) => [what, number(of), other === undefined ? "" : number(other)];
  return {
    title: "Fitted costs",
    head: [...heads.costs],
    rows: [
      row("an event", node.event, database.event),
      row("a delivery", node.delivery, database.delivery),
      row("a statement", node.statement, database.statement),
      row("a request to a platform", node.request),
    ],
  };
}

const percent = (error: number) => `${error >= 0 ? "+" : "−"}${Math.round(Math.abs(error) * 100)} %`;

export function checkTable(checks: readonly Check[]): Table {
  return {
    title: "Predicted against measured, without the calibration points",
    head: [...heads.checks],
    rows: checks
      .filter(({ forCalibration }) => !forCalibration)
      .map(({ name, errors }) => [name, ...figures.map((figure) => percent(errors[figure]))]),
  };
}

export const allowanceTable = (all: readonly Allowance[]): Table => ({
  title: "What platforms allow",
  head: [...heads.allowances],
  rows: all.map(({ platform, requestsPerSecond, eventsPerSecond, shared }) => [
    platform,
    number(requestsPerSecond),
    number(eventsPerSecond),
    shared ? "all sites together" : "each connection",
  ]),
});

export const sharingTable = (all: readonly Sharing[]): Table => ({
  title: "Sites that share one allowance, one node",
  head: [...heads.sharing],
  rows: all.map(({ platform, sites, p50, p99 }) => [platform, number(sites), seconds(p50), seconds(p99)]),
});
