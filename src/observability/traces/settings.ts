// Reads the settings of traces: OpenTelemetry's own variables, so that the relay is set up as every other program is.

/** The share of events that are traced, and whether the sender's decision precedes it. */
type Sampler = { ratio: number; isParentBased: boolean };

export type TraceSettings = {
  /** Where spans are posted. */
  url: string;
  headers: Readonly<Record<string, string>>;
  serviceName: string;
  sampler: Sampler;
  /** Passes `traceparent` on to the customers' own receivers. */
  passesOn: boolean;
};

type TraceTexts = {
  endpoint: string | undefined;
  headers: string | undefined;
  protocol: string | undefined;
  serviceName: string;
  sampler: string;
  argument: string | undefined;
  passesOn: boolean;
};

const samplerForm = /^(parentbased_)?(always_on|always_off|traceidratio)$/;

/** Null without an endpoint. */
export function readTraceSettings(texts: TraceTexts, faults: string[]): TraceSettings | null {
  const { endpoint, serviceName, passesOn } = texts;
  if (endpoint === undefined) {
    if (passesOn) faults.push("OTEL_EXPORTER_OTLP_ENDPOINT is missing; CLEANCAST_TRACE_WEBHOOKS needs it.");
    return null;
  }
  return {
    url: readUrl(endpoint, texts.protocol, faults),
    headers: readHeaders(texts.headers ?? "", faults),
    serviceName,
    sampler: readSampler(texts.sampler, texts.argument, faults),
    passesOn,
  };
}

function readUrl(endpoint: string, protocol: string | undefined, faults: string[]): string {
  // Every receiver of OTLP over HTTP takes JSON as well.
  if (protocol !== undefined && protocol !== "http/json" && protocol !== "http/protobuf")
    faults.push(`OTEL_EXPORTER_OTLP_PROTOCOL is "${protocol}"; the relay speaks http/json, mostly on port 4318.`);
  if (/^https?:\/\/[^/?#@]+[^?#]*$/.test(endpoint) && URL.canParse(endpoint)) return `${endpoint.replace(/\/+$/, "")}/v1/traces`;
  faults.push(`OTEL_EXPORTER_OTLP_ENDPOINT is not an address like http://localhost:4318.`);
  return "";
}

/** `name=value,other=value`, with percent-encoded values. The message does not repeat them: they hold keys. */
function readHeaders(text: string, faults: string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const entry of text.split(",").filter((one) => one.trim() !== "")) {
    const [, name = "", encoded = ""] = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*=(.*)$/.exec(entry) ?? [];
    const value = decode(encoded.trim());
    if (name === "" || value === null || !/^[\x20-\x7e]*$/.test(value)) {
      faults.push("OTEL_EXPORTER_OTLP_HEADERS has an entry that is not name=value; separate entries by commas.");
      return {};
    }
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function readSampler(name: string, argument: string | undefined, faults: string[]): Sampler {
  const [, parent, kind] = samplerForm.exec(name) ?? [];
  const share = Number(argument ?? "1");
  if (kind === undefined)
    faults.push(
      `OTEL_TRACES_SAMPLER is "${name}"; set it to always_on, always_off or traceidratio, or to one of these after parentbased_.`,
    );
  if (kind === "traceidratio" && !(argument?.trim() !== "" && share >= 0 && share <= 1))
    faults.push(`OTEL_TRACES_SAMPLER_ARG is "${argument}"; set it to a share from 0 to 1.`);
  const ratio = kind === "traceidratio" ? share : kind === "always_off" ? 0 : 1;
  return { ratio, isParentBased: parent !== undefined };
}
