import { useSession } from "../../../common/api/session.ts";

/** Returns the address on the relay's own host, which always works. Hosts of the site that lead here work too. */
export function useInboundAddress(): string {
  return `${useSession().data?.installation.url ?? location.origin}/__cc/inbound`;
}

/** Returns a command that sends a first event. */
export function inboundCurl(address: string, key: string): string {
  const body = JSON.stringify({
    email: "ada@example.com",
    event: "purchase",
    value: 49.9,
    currency: "EUR",
    orderId: "A-1001",
  });
  return `curl ${address} \\\n  -H 'X-CC-Api-Key: ${key}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}
