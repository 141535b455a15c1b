// Creates one-time links. The token is in the URL fragment, which browsers never send, so it appears in no server's log.

import { hash } from "node:crypto";
import { randomBase62 } from "../kernel/ids.ts";

const pages = { "set-up": "setup", invitation: "invitation", reset: "reset" } as const;

export type LinkToken = { token: string; hash: string };

export function createLinkToken(): LinkToken {
  const token = randomBase62(32);
  return { token, hash: hashLinkToken(token) };
}

export const hashLinkToken = (token: string) => hash("sha256", token);

export const linkTo = (origin: string, page: keyof typeof pages, token: string) => `${origin}/dashboard/${pages[page]}#${token}`;
