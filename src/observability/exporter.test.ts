import { expect, test } from "vitest";
import { createExporter } from "./exporter.ts";

test("names that end in _total are those of counters, as Prometheus expects", async () => {
  const types = (await createExporter().read()).matchAll(/^# TYPE (\w+) (\w+)$/gm);
  const all = [...types].map(([, name = "", type = ""]) => ({ name, type }));
  expect(all.map(({ name }) => name)).toContain("nodejs_active_handles");
  expect(all.filter(({ name, type }) => name.endsWith("_total") !== (type === "counter"))).toEqual([]);
});
