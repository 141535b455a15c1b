// The course of a figure, small and without labels: the figure itself stands next to it.

const width = 100;
const height = 28;

export function Sparkline({ values }: { values: readonly number[] }) {
  const max = Math.max(...values);
  if (values.length < 2 || !(max > 0)) return <span className="cc-spark" />;
  const x = (i: number) => (i / (values.length - 1)) * width;
  const y = (value: number) => 2 + (height - 4) * (1 - value / max);
  const line = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  return (
    <svg className="cc-spark" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden>
      <polygon points={`0,${height} ${line} ${width},${height}`} />
      <polyline points={line} vectorEffect="non-scaling-stroke" />
    </svg>
  );
}
