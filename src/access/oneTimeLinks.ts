// Tickets of links that work once. The ticket stands in the fragment, which browsers keep to themselves: it is in no log
// of a server or a proxy.

import { hash } from "node:crypto";
import { randomBase62 } from "../kernel/ids.ts";

const pages = { "set-up": "setup", invitation: "invitation", reset: "reset" } as const;

export type Ticket = { ticket: string; hash: string };

export function newTicket(): Ticket {
  const ticket = randomBase62(32);
  return { ticket, hash: hashTicket(ticket) };
}

export const hashTicket = (ticket: string) => hash("sha256", ticket);

export const linkTo = (origin: string, page: keyof typeof pages, ticket: string) =>
  `${origin}/dashboard/${pages[page]}#${ticket}`;
