// The scale of a chart: round steps, and a top that no bar exceeds.

const maxTicks = 5;

/** Returns the ticks from 0 to the first round number that is not below `max`. Counts have no fractions. */
export function ticksFor(max: number, { isWhole }: { isWhole: boolean }): number[] {
  const least = isWhole ? 1 : 0.01;
  const step = roundStep(Math.max(max, least) / (maxTicks - 1), least);
  const count = Math.max(1, Math.ceil(max / step - 1e-9));
  // A product such as 3 * 0.1 has noise that a label would show.
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

/** Returns the first of 1, 2, 2.5, 5 and 10 times a power of ten that is not below `raw`. */
function roundStep(raw: number, least: number): number {
  const power = 10 ** Math.floor(Math.log10(raw));
  const factors = power > least ? [1, 2, 2.5, 5, 10] : [1, 2, 5, 10];
  const factor = factors.find((one) => one * power >= raw * (1 - 1e-9)) ?? 10;
  return Math.max(least, factor * power);
}

/** Returns how many steps lie between two labels, so that each has `minWidth` pixels. */
export function labelEvery(count: number, width: number, minWidth: number): number {
  const fitting = Math.max(1, Math.floor(width / minWidth));
  return Math.max(1, Math.ceil(count / fitting));
}
