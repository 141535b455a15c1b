// What Citus costs with every machine listed, from the tables that `npm run test:engines` writes into
// docs/explanation/engines-measured.md.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = fileURLToPath(new URL("../../docs/explanation/engines-measured.md", import.meta.url));

export type CitusCosts = {
  /** CPU of an event compared with plain PostgreSQL: of the database, and of the nodes. */
  database: number;
  node: number;
  /** Database CPU without traffic, in ms/s: what each node adds, and what each worker does whatever the number of nodes. */
  idleNodeMs: number;
  idleWorkerMs: number;
};

const citus = "Citus, every machine listed";
const plain = "plain PostgreSQL";
/** The number of workers in those runs. */
const measuredWorkers = 2;

export function readCitusCosts(page = readFileSync(file, "utf8")): CitusCosts {
  const { nodeMs, restMs } = fitIdle(readIdle(page));
  return {
    ...compareEvents(page),
    idleNodeMs: nodeMs,
    idleWorkerMs: restMs / measuredWorkers,
  };
}

/** Events that arrive together share statements, so the ratio differs with the load: the larger one counts. */
function compareEvents(page: string): { database: number; node: number } {
  const rows = [...page.matchAll(/^\| (.+): CPU of an event, (\d+) senders .*\| database (\d+) µs .*, nodes (\d+) µs;/gm)].map(
    ([, engine, senders, database, node]) => ({
      engine,
      senders,
      database: Number(database),
      node: Number(node),
    }),
  );
  const ratios = rows
    .filter(({ engine }) => engine === citus)
    .map((row) => {
      const base = rows.find(({ engine, senders }) => engine === plain && senders === row.senders);
      return { database: row.database / (base?.database ?? NaN), node: row.node / (base?.node ?? NaN) };
    });
  const largest = (of: "database" | "node") => Math.max(...ratios.map((ratio) => ratio[of]));
  const found = { database: largest("database"), node: largest("node") };
  if (!Number.isFinite(found.database + found.node))
    throw new Error("docs/explanation/engines-measured.md does not compare an event on Citus and PostgreSQL");
  return found;
}

type Idle = { nodes: number; ms: number };

function readIdle(page: string): Idle[] {
  const rows = page.matchAll(/^\| (.+): (\d+) nodes without traffic, database CPU \| ([\d.]+) ms\/s/gm);
  return [...rows].filter(([, engine]) => engine === citus).map(([, , nodes, ms]) => ({ nodes: Number(nodes), ms: Number(ms) }));
}

/** A line through the measured points. Neither part is negative. */
function fitIdle(points: readonly Idle[]): { nodeMs: number; restMs: number } {
  const mean = (of: (point: Idle) => number) => points.reduce((sum, one) => sum + of(one), 0) / points.length;
  const [nodes, ms] = [mean((one) => one.nodes), mean((one) => one.ms)];
  const slope = mean((one) => (one.nodes - nodes) * (one.ms - ms)) / mean((one) => (one.nodes - nodes) ** 2);
  if (!Number.isFinite(slope))
    throw new Error("docs/explanation/engines-measured.md has fewer than two numbers of idle nodes on Citus");
  const nodeMs = Math.max(0, slope);
  return { nodeMs, restMs: Math.max(0, ms - nodeMs * nodes) };
}
