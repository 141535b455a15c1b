// Any HTTP endpoint: one request per conversion, with a JSON body that a template may define.

import { hash } from "node:crypto";
import type { Conversion, Reading } from "../../kernel/event.ts";
import { conversionJson } from "../shared/conversionJson.ts";
import type { ConnectionSettings, Platform, PlatformResponse } from "../platform.ts";
import { at, parseJson } from "../shared/json.ts";
import { accepted, readStatus, rejected } from "../shared/response.ts";
import { readSecrets, signatureHeaderNames, signatureHeaders, signingSetting } from "../shared/signature.ts";
import { fillTemplate, templateFault } from "./template.ts";

const methods = ["POST", "PUT", "PATCH"] as const;
type Method = (typeof methods)[number];

export const webhook = {
  id: "webhook",
  name: "Webhook",
  description: "Sends each conversion to your own HTTPS endpoint.",
  docs: null,
  customerAddress: true,
  settings: [
    {
      name: "url",
      label: "URL",
      help: "The HTTPS URL that receives each conversion. It must be reachable from the internet.",
      required: true,
      address: true,
      check: (value) => (URL.canParse(value) && /^https?:/i.test(value) ? null : "must be an http(s) address"),
    },
    {
      name: "method",
      label: "Method",
      help: "POST, PUT or PATCH.",
      default: "POST",
      check: (value) => (methods.includes(value as Method) ? null : "must be POST, PUT or PATCH"),
    },
    {
      name: "headers",
      label: "Headers",
      help: 'A JSON object of header names and values, for example {"Authorization": "Bearer …"}.',
      secret: true,
      check: (value) => (readHeaders(value) ? null : "must be a JSON object of header names and text values"),
    },
    signingSetting,
    {
      name: "template",
      label: "Body template",
      help:
        "The JSON body, with fields of the conversion in double braces: " +
        '{"order": "{{orderId}}", "total": "{{value}}"}. Without a template the whole conversion is sent.',
      multiline: true,
      check: templateFault,
    },
    {
      name: "success",
      label: "Success rule",
      help: "The responses that mean accepted: statuses (2xx, 200-204, 409) and conditions on the JSON body (ok=true).",
      default: "2xx",
      check: (value) => (readRule(value) ? null : "must be a list like 2xx, 200-204 or status=ok"),
    },
  ],
  // A hash, because the URL may hold a token.
  account: (settings) => hash("sha256", settings.url ?? ""),
  batch: 1,
  lanes: 32,
  toRequest([conversion], settings, now) {
    const { platformEventId } = conversion as Conversion;
    const described = conversionJson(conversion as Conversion);
    const { template, signing_secret: secret } = settings;
    const body = template ? fillTemplate(template, described) : JSON.stringify(described);
    return {
      method: (settings.method ?? "POST") as Method,
      url: settings.url ?? "",
      headers: {
        "content-type": "application/json",
        // Marks test events, because the endpoint has no test mode.
        ...(conversion?.mode === "test" ? { "x-cc-test": "true" } : {}),
        ...(settings.headers ? readHeaders(settings.headers) : {}),
        ...(secret ? signatureHeaders(readSecrets(secret), platformEventId, body, now) : {}),
      },
      body,
    };
  },
  readResponse: (response, _conversions, settings, now) => [readOne(response, settings, now)],
  verify: () => ({
    by: "nothing",
    reason: "your endpoint would take any call for a conversion; send it a test event",
  }),
} satisfies Platform;

/** The HTTP client sets the first of these headers, and every request that sets them too would fail. The others are the signature. */
const reservedHeaders = new Set<string>([
  "content-length",
  "transfer-encoding",
  "keep-alive",
  "upgrade",
  "expect",
  ...signatureHeaderNames,
]);

/** Returns headers with lower-case names; null when the text is not a JSON object of legal headers. */
function readHeaders(text: string): Record<string, string> | null {
  const parsed = parseJson(text);
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return null;
  const headers = Object.entries(parsed).map(([name, value]) => [name.toLowerCase(), value] as const);
  const legal = headers.every(
    ([name, value]) =>
      /^[!#$%&'*+.^_`|~0-9a-z-]+$/.test(name) &&
      !reservedHeaders.has(name) &&
      typeof value === "string" &&
      /^[\t\x20-\x7e\x80-\xff]*$/.test(value),
  );
  return legal ? Object.fromEntries(headers) : null;
}

type Rule = { statuses: [number, number][]; conditions: [path: string, value: string][] };

/** Reads `2xx, 409, 200-204, data.ok=true`: a success has any of the statuses and meets all of the conditions. */
function readRule(text: string): Rule | null {
  const rule: Rule = { statuses: [], conditions: [] };
  for (const part of text.split(",").map((one) => one.trim())) {
    const family = /^([1-5])xx$/.exec(part);
    const range = /^([1-5]\d\d)(?:-([1-5]\d\d))?$/.exec(part);
    const condition = /^([\w.]+)=(.+)$/.exec(part);
    if (family) rule.statuses.push([Number(family[1]) * 100, Number(family[1]) * 100 + 99]);
    else if (range) rule.statuses.push([Number(range[1]), Number(range[2] ?? range[1])]);
    else if (condition) rule.conditions.push([condition[1] as string, condition[2] as string]);
    else return null;
  }
  if (rule.statuses.some(([from, to]) => from > to)) return null;
  if (rule.statuses.length === 0) rule.statuses.push([200, 299]);
  return rule;
}

function readOne(response: PlatformResponse, settings: ConnectionSettings, now: number): Reading {
  const rule = readRule(settings.success ?? "2xx") as Rule;
  if (!rule.statuses.some(([from, to]) => response.status >= from && response.status <= to)) {
    const reading = readStatus(response, now);
    // A 2xx that the rule does not name is a rejection.
    return reading.kind === "accepted" ? rejected(`HTTP ${response.status} is not in the success rule`) : reading;
  }
  const body = rule.conditions.length ? parseJson(response.body) : null;
  const failed = rule.conditions.find(([path, value]) => String(at(body, ...path.split("."))) !== value);
  return failed ? rejected(`the answer does not have ${failed[0]}=${failed[1]}`) : accepted;
}
