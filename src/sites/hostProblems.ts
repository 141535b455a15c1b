// Describes the problems that a check of a host can find, and what to do about them.

export type FindingCode =
  | "not found"
  | "lookup failed"
  | "private address"
  | "no connection"
  | "too slow"
  | "certificate"
  | "not us"
  | "other installation"
  | "host header"
  | "not secure";

type Problem = { what: string; whatToDo: string };

/** `relay` is the relay's own name; null where it has none. */
export function problemOf(
  host: string,
  { finding, seen }: { finding: string | null; seen: string | null },
  relay: string | null,
): Problem | null {
  if (finding === null) return null;
  const point = relay
    ? `Let a CNAME of ${host} lead to ${relay}, or pass /__cc/ of ${host} on to this relay.`
    : `Pass /__cc/ of ${host} on to this relay. (CLEANCAST_URL is not set, so the DNS alone cannot show that it leads here.)`;
  switch (finding as FindingCode) {
    case "not found": {
      const alias = relay ? `Let a CNAME of ${host} lead to ${relay}, or give it` : "Give it";
      return {
        what: `${host} is not in the DNS.`,
        whatToDo: `${alias} the address of the server that passes /__cc/ on to this relay. New records can take an hour.`,
      };
    }
    case "lookup failed":
      return {
        what: `The DNS could not be asked about ${host}.`,
        whatToDo: "The check is repeated automatically. If it keeps failing, check this machine's DNS.",
      };
    case "private address":
      return {
        what: `${host} leads to a private address, and is not called.`,
        whatToDo: `Point it to a public address. Inside your own network: CLEANCAST_ALLOW_PRIVATE allows it, CLEANCAST_DNS sets another DNS server.`,
      };
    case "no connection":
      return {
        what: `${host} leads to ${seen ?? "a server"} and no server answers there on HTTPS.`,
        whatToDo: point,
      };
    case "too slow":
      return {
        what: `${host} did not answer in time.`,
        whatToDo: "Check its firewall and its server: port 443 must be open to the internet.",
      };
    case "certificate":
      return {
        what: `${host} has no valid certificate${seen ? `: ${seen}` : " for its name"}.`,
        whatToDo: "Browsers refuse it too. Get a certificate for this name on the server that terminates its HTTPS.",
      };
    case "not us":
      return {
        what: `${host} answers, but not from here: ${seen ?? "another server"}.`,
        whatToDo: point,
      };
    case "other installation":
      return {
        what: `Another Cleancast answers on ${host}, or a node with another encryption key.`,
        whatToDo: `${point} All nodes of one installation need the same encryption key.`,
      };
    case "host header":
      return {
        what: `Requests to ${host} arrive here as ${seen || "a request without a name"}.`,
        whatToDo: "Let the proxy pass the name on: in nginx proxy_set_header Host $host.",
      };
    case "not secure":
      return {
        what: `Requests to ${host} arrive here as if they were not encrypted.`,
        whatToDo:
          "Let the proxy send X-Forwarded-Proto, and name its address in CLEANCAST_TRUST_PROXY where it runs on another machine.",
      };
    default:
      return { what: `The last check of ${host} failed.`, whatToDo: "Check it again." };
  }
}
