// Removes what says something about a person from the answers of tools: an assistant, and the company that runs it, need none
// of it to explain a delivery.

import { eraseMasks, maskAddresses } from "../kernel/maskAddresses.ts";

/** Fields that hold people's hashes, ids or addresses, or who started something. Requests to platforms hold all of them. */
const hidden = new Set(["emailSha256", "browserIds", "address", "request", "startedBy", "createdBy", "actor"]);

const hash = /\b[0-9a-f]{64}\b/gi;
const ipv4 = /\b(?:\d{1,3}\.){3}\d{1,3}\b/g;
const ipv6 = /(?<![\w:])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{0,4}(?::[0-9a-f]{1,4})*(?![\w:])/gi;

const maskText = (text: string) =>
  eraseMasks(maskAddresses(text)).replaceAll(hash, "(hash)").replaceAll(ipv6, "(address)").replaceAll(ipv4, "(address)");

/** Of click ids with their values, only the names are left, and when they were seen. */
export function withoutPersonalData(value: unknown): unknown {
  if (typeof value === "string") return maskText(value);
  if (Array.isArray(value)) return value.map(withoutPersonalData);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !hidden.has(name))
      .map(([name, part]) => [maskText(name), name === "clickIds" ? withoutValues(part) : withoutPersonalData(part)]),
  );
}

function withoutValues(clickIds: unknown): unknown {
  if (typeof clickIds !== "object" || clickIds === null || Array.isArray(clickIds)) return clickIds;
  return Object.fromEntries(
    Object.entries(clickIds).map(([name, seen]) => [name, { seenAt: (seen as { seenAt?: number }).seenAt ?? null }]),
  );
}
