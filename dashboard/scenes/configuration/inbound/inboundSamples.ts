// Programs that send a first event. They need nothing but their language.

import { useSession } from "../../../common/api/session.ts";

/** Returns the address on the relay's own host, which always works. Hosts of the site that lead here work too. */
export function useInboundAddress(): string {
  return `${useSession().data?.installation.url ?? location.origin}/__cc/inbound`;
}

/** The event that all programs send. */
export const sampleEvent = {
  email: "ada@example.com",
  event: "purchase",
  value: 49.9,
  currency: "EUR",
  orderId: "A-1001",
};

type Sample = (address: string, key: string) => string;

const lines = (parts: readonly string[]) => parts.join("\n");
const entries = (toLine: (name: string, value: string) => string) =>
  Object.entries(sampleEvent).map(([name, value]) => toLine(name, JSON.stringify(value)));

const curl: Sample = (address, key) =>
  `curl ${address} \\\n  -H 'X-CC-Api-Key: ${key}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${JSON.stringify(sampleEvent)}'`;

const node: Sample = (address, key) =>
  lines([
    `const answer = await fetch("${address}", {`,
    `  method: "POST",`,
    `  headers: { "X-CC-Api-Key": "${key}", "Content-Type": "application/json" },`,
    `  body: JSON.stringify({`,
    ...entries((name, value) => `    ${name}: ${value},`),
    `  }),`,
    `});`,
    `console.log(answer.status, await answer.text());`,
  ]);

const python: Sample = (address, key) =>
  lines([
    `import json, urllib.request`,
    ``,
    `event = {`,
    ...entries((name, value) => `    "${name}": ${value},`),
    `}`,
    `request = urllib.request.Request(`,
    `    "${address}",`,
    `    data=json.dumps(event).encode(),`,
    `    headers={"X-CC-Api-Key": "${key}", "Content-Type": "application/json"},`,
    `)`,
    `with urllib.request.urlopen(request) as answer:`,
    `    print(answer.status, answer.read().decode())`,
  ]);

const php: Sample = (address, key) =>
  lines([
    `<?php`,
    `$event = [`,
    ...entries((name, value) => `    '${name}' => ${value.replaceAll('"', "'")},`),
    `];`,
    `$context = stream_context_create(['http' => [`,
    `    'method' => 'POST',`,
    `    'header' => ['X-CC-Api-Key: ${key}', 'Content-Type: application/json'],`,
    `    'content' => json_encode($event),`,
    `    'ignore_errors' => true,`,
    `]]);`,
    `echo file_get_contents('${address}', false, $context);`,
  ]);

/** By the name that their tab has. */
export const inboundSamples = { curl, "Node.js": node, Python: python, PHP: php } as const satisfies Record<string, Sample>;
