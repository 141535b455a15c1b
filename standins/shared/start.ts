// Starts all stand-ins or some of them, and gives tests a handle for each.

import type { Fault } from "./faults.ts";
import { standins, type StandinId } from "../index.ts";
import type { AcceptedEvent, Received } from "./record.ts";
import { serveStandin, type StandinServer } from "./server.ts";

type StartOptions = {
  only?: readonly StandinId[];
  /** The first of consecutive ports, in the order of the list; 0 uses free ports. */
  port?: number;
  now?: () => number;
  rateLimits?: boolean;
  /** Registered for every client; without any, every HTTPS or loopback URI is valid. */
  redirectUris?: readonly string[];
};

export type StandinHandle = {
  origin: string;
  /** The newest calls, oldest first. */
  received: Received[];
  /** Every accepted event, with its count. */
  readonly accepted: AcceptedEvent[];
  fault(script: Fault | readonly Fault[]): void;
  clearFaults(): void;
  /** Expires every access token; refresh tokens stay valid. */
  expireTokens(): void;
  /** Revokes every token, as if the customer had revoked all permissions. */
  revokeTokens(): void;
  /** Presses a button of the authorization page at this URL, and returns the redirect. */
  decide(authorizeUrl: string, decision: "allow" | "deny"): Promise<string>;
  reset(): void;
};

export type Standins = {
  origins: Record<string, string>;
  of(id: StandinId): StandinHandle;
  close(): Promise<void>;
};

export async function startStandins({
  only,
  port = 0,
  now = Date.now,
  rateLimits = true,
  redirectUris = [],
}: StartOptions = {}): Promise<Standins> {
  const handles = new Map<string, { server: StandinServer; handle: StandinHandle }>();
  const close = async () => {
    await Promise.all([...handles.values()].map(({ server }) => server.close()));
  };
  try {
    for (const [index, standin] of standins.entries()) {
      if (only && !only.includes(standin.id)) continue;
      const server = await serveStandin(standin, {
        port: port === 0 ? 0 : port + index,
        now,
        rateLimits,
        redirectUris,
      });
      handles.set(standin.id, { server, handle: toHandle(server) });
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    origins: Object.fromEntries([...handles].map(([id, { server }]) => [id, server.origin])),
    of(id) {
      const found = handles.get(id);
      if (!found) throw new Error(`The stand-in ${id} was not started.`);
      return found.handle;
    },
    close,
  };
}

function toHandle(server: StandinServer): StandinHandle {
  return {
    origin: server.origin,
    received: server.record.received,
    get accepted() {
      return server.record.accepted;
    },
    fault: (script) => server.faults.add(script),
    clearFaults: () => server.faults.clear(),
    expireTokens: () => server.tokens().expireAll(),
    revokeTokens: () => server.tokens().revokeAll(),
    async decide(authorizeUrl, decision) {
      const asked = new URL(authorizeUrl);
      const answer = await fetch(`${server.origin}${asked.pathname}`, {
        method: "POST",
        body: new URLSearchParams([...asked.searchParams, ["decision", decision]]),
        redirect: "manual",
      });
      const location = answer.headers.get("location");
      if (location === null) throw new Error(`The page did not redirect: ${answer.status} ${await answer.text()}`);
      return location;
    },
    reset: () => server.reset(),
  };
}
