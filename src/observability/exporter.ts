// Prometheus' text from plain numbers: each metric says where its values are, and they are fetched when somebody asks.

import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Spread } from "./tally.ts";

/** The values of its labels, in their order, and the number. */
export type Sample = readonly [...labels: string[], value: number];

export function openExporter() {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

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
    // One without labels would say 0 where nothing is known.
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
    histogram: (
      name: string,
      help: string,
      spreads: () => Iterable<readonly [platform: string, Spread]>,
    ): void => void new Collected(name, help, spreads, registry),
    contentType: registry.contentType,
    read: () => registry.metrics(),
  };
}

/** A histogram that was filled elsewhere. */
class Collected extends Histogram {
  readonly #name: string;
  readonly #help: string;
  readonly #spreads: () => Iterable<readonly [string, Spread]>;

  constructor(
    name: string,
    help: string,
    spreads: () => Iterable<readonly [string, Spread]>,
    registry: Registry,
  ) {
    super({ name, help, registers: [registry] });
    this.#name = name;
    this.#help = help;
    this.#spreads = spreads;
  }

  /** What the registry asks for. An empty platform is none. */
  getForPromString() {
    const values: { metricName: string; labels: Record<string, string>; value: number }[] = [];
    for (const [platform, { bounds, counts, sum }] of this.#spreads()) {
      const labels: Record<string, string> = platform ? { platform } : {};
      let below = 0;
      for (const [i, count] of counts.entries()) {
        below += count;
        const le = bounds[i] === undefined ? "+Inf" : String(bounds[i]);
        values.push({ metricName: `${this.#name}_bucket`, labels: { ...labels, le }, value: below });
      }
      values.push({ metricName: `${this.#name}_sum`, labels, value: sum });
      values.push({ metricName: `${this.#name}_count`, labels, value: below });
    }
    return Promise.resolve({ name: this.#name, help: this.#help, type: "histogram", values });
  }
}
