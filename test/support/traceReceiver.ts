// A strict receiver of traces: it takes what the protocol of OpenTelemetry allows in JSON, and notes everything else as a fault.
// Written from the protocol, not from the exporter.

import { z } from "zod";
import { startReceiver, type ReceivedRequest } from "./receiver.ts";

const attribute = z.strictObject({
  key: z.string().min(1),
  value: z.union([z.strictObject({ stringValue: z.string() }), z.strictObject({ intValue: z.string().regex(/^-?\d+$/) })]),
});
const attributes = z
  .array(attribute)
  .refine((all) => new Set(all.map(({ key }) => key)).size === all.length, "keys are unique")
  .transform((all) =>
    Object.fromEntries(
      all.map(({ key, value }) => [key, "stringValue" in value ? value.stringValue : Number(value.intValue)] as const),
    ),
  );
// JSON has ids in hex, unlike the protocol's usual base64, and 64-bit numbers as decimal texts.
const id = (bytes: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${2 * bytes}}$`));
const time = z.string().regex(/^\d{19}$/);
const span = z.strictObject({
  traceId: id(16),
  spanId: id(8),
  parentSpanId: id(8).optional(),
  name: z.string().min(1),
  kind: z.int().min(1).max(5),
  startTimeUnixNano: time,
  endTimeUnixNano: time,
  attributes,
  status: z.strictObject({ code: z.int().min(0).max(2).optional() }),
});
const body = z.strictObject({
  resourceSpans: z
    .array(
      z.strictObject({
        resource: z.strictObject({ attributes }),
        scopeSpans: z.array(
          z.strictObject({
            scope: z.strictObject({ name: z.string().min(1), version: z.string() }),
            spans: z.array(span).min(1),
          }),
        ),
      }),
    )
    .min(1),
});

export type ReceivedSpan = z.output<typeof span> & { resource: Record<string, string | number> };

const hourNs = 3_600_000_000_000n;

function faultsOf(one: ReceivedSpan): string[] {
  const [from, to] = [BigInt(one.startTimeUnixNano), BigInt(one.endTimeUnixNano)];
  const now = BigInt(Date.now()) * 1_000_000n;
  return [
    ...(to < from ? [`${one.name} ends before it begins`] : []),
    ...(from < now - hourNs || to > now + hourNs ? [`${one.name} is not of this hour`] : []),
    ...(one.parentSpanId === one.spanId ? [`${one.name} is its own parent`] : []),
  ];
}

export async function startTraceReceiver() {
  const receiver = await startReceiver();
  const spans: ReceivedSpan[] = [];
  const faults: string[] = [];

  function take({ method, path, headers, text }: ReceivedRequest): void {
    if (method !== "POST" || path !== "/v1/traces") faults.push(`${method} ${path}`);
    if (headers["content-type"] !== "application/json") faults.push(`content type ${headers["content-type"]}`);
    const read = body.safeParse(JSON.parse(text));
    if (!read.success) return void faults.push(read.error.message);
    for (const { resource, scopeSpans } of read.data.resourceSpans)
      for (const one of scopeSpans.flatMap((scope) => scope.spans)) {
        const received = { ...one, resource: resource.attributes };
        faults.push(...faultsOf(received));
        if (spans.some(({ traceId, spanId }) => traceId === one.traceId && spanId === one.spanId))
          faults.push(`${one.name} came twice`);
        spans.push(received);
      }
  }

  receiver.behave = (got, response) => {
    take(got);
    response.writeHead(200, { "content-type": "application/json" }).end('{"partialSuccess":{}}');
  };
  return { ...receiver, receiver, spans, faults, take };
}
