// Renders plain numbers in Prometheus' text format. Each metric declares where its values are; they are read on a scrape.

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { BucketCounts } from "./counts.ts";

/** The values of the labels, in their order, and the number. */
export type Sample = readonly [...labels: string[], value: number];

export type Exporter = ReturnType<typeof createExporter>;

export function createExporter() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  // Sums of nodejs_active_* by type. They are gauges with the names of counters, which promtool reports as faults.
  for (const what of ["resources", "handles", "requests"]) registry.removeSingleMetric(`nodejs_active_${what}_total`);

  function write(
    metric: {
      reset(): void;
      remove(labels: Record<string, string>): void;
      inc(labels: Record<string, string>, value: number): void;
    },
    labelNames: readonly string[],
    samples: Iterable<Sample>,
  ): void {
    metric.reset();
    // A metric without labels would export 0 where no value is known.
    if (labelNames.length === 0) metric.remove({});
    for (const sample of samples) {
      const labels = Object.fromEntries(labelNames.map((name, i) => [name, String(sample[i])]));
      metric.inc(labels, Number(sample.at(-1)));
    }
  }

  const declare =
    (Kind: typeof Counter | typeof Gauge) =>
    (name: string, help: string, labelNames: readonly string[], samples: () => Iterable<Sample>): void =>
      void new Kind({
        name,
        help,
        labelNames,
        registers: [registry],
        collect() {
          write(this, labelNames, samples());
        },
      });

  return {
    counter: declare(Counter),
    gauge: declare(Gauge),
    histogram: (name: string, help: string, readAll: ReadHistograms): void =>
      void new CountedHistogram(name, help, readAll, registry),
    contentType: registry.contentType,
    read: () => registry.metrics(),
  };
}

/** One histogram per platform; an empty platform means no label. */
type ReadHistograms = () => Iterable<readonly [platform: string, BucketCounts]>;

/** A histogram whose counts are kept elsewhere. */
class CountedHistogram extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #readAll: ReadHistograms;

  constructor(name: string, help: string, readAll: ReadHistograms, registry: Registry) {
    super({ name, help, registers: [registry] });
    this.#name = name;
    this.#help = help;
    this.#readAll = readAll;
  }

  /** The registry calls this on a scrape. */
  getForPromString() {
    const values: { metricName: string; labels: Record<string, string>; value: number }[] = [];
    for (const [platform, { bounds, counts, sum }] of this.#readAll()) {
      const labels: Record<string, string> = platform ? { platform } : {};
      let total = 0;
      for (const [i, count] of counts.entries()) {
        total += count;
        const le = bounds[i] === undefined ? "+Inf" : String(bounds[i]);
        values.push({ metricName: `${this.#name}_bucket`, labels: { ...labels, le }, value: total });
      }
      values.push({ metricName: `${this.#name}_sum`, labels, value: sum });
      values.push({ metricName: `${this.#name}_count`, labels, value: total });
    }
    return Promise.resolve({ name: this.#name, help: this.#help, type: "histogram", values });
  }
}
