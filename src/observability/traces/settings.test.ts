import { describe, expect, test } from "vitest";
import { ConfigFaults, readConfig } from "../../installation/config.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://localhost:4318" };
const read = (env: Record<string, string>) => readConfig({ ...env }).traces;

function faultsOf(env: Record<string, string>): string {
  try {
    readConfig({ ...endpoint, ...env });
  } catch (error) {
    if (error instanceof ConfigFaults) return error.message;
    throw error;
  }
  throw new Error("no fault");
}

describe("the settings of traces", () => {
  test("without an endpoint no traces are made, whatever else is set", () => {
    expect(read({})).toBeNull();
    expect(read({ OTEL_SERVICE_NAME: "x", OTEL_TRACES_SAMPLER: "always_on" })).toBeNull();
  });

  test("the endpoint alone is enough", () => {
    expect(read(endpoint)).toEqual({
      url: "http://localhost:4318/v1/traces",
      headers: {},
      serviceName: "cleancast",
      sampler: { ratio: 1, isParentBased: true },
      passesOn: false,
    });
  });

  test("all of them are read as OpenTelemetry describes them", () => {
    expect(
      read({
        OTEL_EXPORTER_OTLP_ENDPOINT: "https://otel.example.com/in/",
        OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20abc, x-tenant = one",
        OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
        OTEL_SERVICE_NAME: "relay-eu",
        OTEL_TRACES_SAMPLER: "traceidratio",
        OTEL_TRACES_SAMPLER_ARG: "0.25",
        CLEANCAST_TRACE_WEBHOOKS: "on",
      }),
    ).toEqual({
      url: "https://otel.example.com/in/v1/traces",
      headers: { authorization: "Bearer abc", "x-tenant": "one" },
      serviceName: "relay-eu",
      sampler: { ratio: 0.25, isParentBased: false },
      passesOn: true,
    });
    expect(read({ ...endpoint, OTEL_TRACES_SAMPLER: "parentbased_always_off" })?.sampler).toEqual({
      ratio: 0,
      isParentBased: true,
    });
  });

  test.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" }, "OTEL_EXPORTER_OTLP_ENDPOINT"],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, "OTEL_EXPORTER_OTLP_PROTOCOL"],
    [{ OTEL_EXPORTER_OTLP_HEADERS: "api-key: s3cret" }, "OTEL_EXPORTER_OTLP_HEADERS"],
    [{ OTEL_EXPORTER_OTLP_HEADERS: "api-key=%zz" }, "OTEL_EXPORTER_OTLP_HEADERS"],
    [{ OTEL_TRACES_SAMPLER: "jaeger_remote" }, "OTEL_TRACES_SAMPLER"],
    [{ OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" }, "OTEL_TRACES_SAMPLER_ARG"],
  ])("%o is refused, and no key is quoted", (env, name) => {
    const text = faultsOf(env);
    expect(text).toContain(name);
    expect(text).not.toContain("s3cret");
  });

  test("traces cannot be passed on where none are made", () => {
    expect(() => readConfig({ CLEANCAST_TRACE_WEBHOOKS: "on" })).toThrow("OTEL_EXPORTER_OTLP_ENDPOINT is missing");
  });
});
