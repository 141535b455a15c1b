// Sizes installations from the measurements.
//
//   npm run simulate             prints the tables and writes them into docs/explanation/capacity-planning.md
//   npm run simulate -- --check  checks that the page has the tables that would be written; figures may differ

import { parseArgs } from "node:util";
import { tableText } from "../report.ts";
import { readCitusCosts } from "./citus.ts";
import { faultsOf, writePage } from "./page.ts";
import { planFor, steps } from "./plan.ts";
import { readMeasured } from "./points.ts";
import { allowances, shareAllowance } from "./quotas.ts";
import { allowanceTable, checkTable, citusTable, costTable, planTable, sharingTable } from "./tables.ts";
import { checkAll, costsOf } from "./validate.ts";

const { values } = parseArgs({ options: { check: { type: "boolean", default: false } } });
if (values.check) {
  const faults = faultsOf();
  for (const fault of faults) console.error(fault);
  process.exit(faults.length ? 1 : 0);
}

const measured = readMeasured();
const costs = costsOf(measured);
const citus = readCitusCosts();
const checks = checkAll(measured, costs);
const tables = {
  plans: planTable(
    steps.map((step) => planFor(step, measured, costs, citus)),
    measured,
  ),
  citus: citusTable(citus),
  checks: checkTable(checks),
  costs: costTable(costs),
  allowances: allowanceTable(allowances()),
  sharing: sharingTable(shareAllowance(measured, costs, [10, 50, 250])),
};
for (const table of Object.values(tables)) console.log(`${table.title}:\n\n${tableText(table)}\n`);
writePage(tables);
