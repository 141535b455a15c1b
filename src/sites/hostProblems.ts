// Describes the problems that a check of a host can find, and what to do about them.

import { say } from "../kernel/messages/message.ts";

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
  const point = relay ? say("host_point_to", { host, relay }) : say("host_pass_on", { host });
  switch (finding as FindingCode) {
    case "not found": {
      return {
        what: say("host_not_found", { host }),
        whatToDo: relay ? say("host_add_alias", { host, relay }) : say("host_add_address"),
      };
    }
    case "lookup failed":
      return {
        what: say("host_lookup_failed", { host }),
        whatToDo: say("host_check_dns"),
      };
    case "private address":
      return {
        what: say("host_private", { host }),
        whatToDo: say("host_make_public"),
      };
    case "no connection":
      return {
        what: say("host_no_server", { host, seen: seen ?? "a server" }),
        whatToDo: point,
      };
    case "too slow":
      return {
        what: say("host_too_slow", { host }),
        whatToDo: say("host_check_firewall"),
      };
    case "certificate":
      return {
        what: seen ? say("host_certificate", { host, reason: seen }) : say("host_no_certificate", { host }),
        whatToDo: say("host_get_certificate"),
      };
    case "not us":
      return {
        what: say("host_not_us", { host, seen: seen ?? "another server" }),
        whatToDo: point,
      };
    case "other installation":
      return {
        what: say("host_other_installation", { host }),
        whatToDo: say("host_same_key", { point }),
      };
    case "host header":
      return {
        what: say("host_header", { host, seen: seen || "a request without a name" }),
        whatToDo: say("host_pass_name"),
      };
    case "not secure":
      return {
        what: say("host_not_secure", { host }),
        whatToDo: say("host_send_proto"),
      };
    default:
      return { what: say("host_check_failed", { host }), whatToDo: say("host_check_again") };
  }
}
