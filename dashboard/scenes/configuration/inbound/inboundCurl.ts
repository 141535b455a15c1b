import { useSession } from "../../../common/api/session.ts";

/** The relay's own URL always works; a verified host of the site works as well. */
export function useInboundAddress(): string {
  return `${useSession().data?.installation.url ?? location.origin}/__cc/inbound`;
}

/** A first event that can be pasted into a terminal. */
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
