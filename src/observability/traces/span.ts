// A span as the relay keeps it, and as OpenTelemetry's protocol writes it in JSON (OTLP 1.x).

type SpanKind = "internal" | "server" | "client";

export type Span = {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  kind: SpanKind;
  /** Milliseconds since 1970. */
  startedAt: number;
  endedAt: number;
  attributes: Readonly<Record<string, string | number>>;
  isError: boolean;
};

const kinds = { internal: 1, server: 2, client: 3 } as const;
const errorStatus = 2;

/** Nanoseconds as a decimal text: a number of JSON could not hold them. */
function nanoseconds(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, "0")}`;
}

const attributesOf = (attributes: Span["attributes"]) =>
  Object.entries(attributes).map(([key, value]) => ({
    key,
    value: typeof value === "string" ? { stringValue: value } : { intValue: String(Math.round(value)) },
  }));

const describeSpan = (span: Span) => ({
  traceId: span.traceId,
  spanId: span.spanId,
  ...(span.parentSpanId !== null && { parentSpanId: span.parentSpanId }),
  name: span.name,
  kind: kinds[span.kind],
  startTimeUnixNano: nanoseconds(span.startedAt),
  endTimeUnixNano: nanoseconds(Math.max(span.startedAt, span.endedAt)),
  attributes: attributesOf(span.attributes),
  status: span.isError ? { code: errorStatus } : {},
});

type Resource = { serviceName: string; version: string; instance: string };

/** The body of a request to `/v1/traces`. */
export function exportBody(spans: readonly Span[], { serviceName, version, instance }: Resource): string {
  const resource = { "service.name": serviceName, "service.version": version, "service.instance.id": instance };
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributesOf(resource) },
        scopeSpans: [{ scope: { name: "cleancast", version }, spans: spans.map(describeSpan) }],
      },
    ],
  });
}
