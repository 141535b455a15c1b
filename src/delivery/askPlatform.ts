// Asks a platform something that is no delivery. A token that the platform rejects is renewed once. Nothing here changes the state
// of the connection, opens its circuit breaker or delays its deliveries.

import type { ConnectionSettings, Platform, PlatformRequest, PlatformResponse } from "../platforms/platform.ts";
import type { Connection } from "../sites/directory.ts";
import type { Tokens } from "./oauth/tokens.ts";
import type { Sender } from "./send.ts";

type AskOptions = {
  sender: Sender;
  tokens: Tokens;
  onDefect: (error: unknown, about: Record<string, unknown>) => void;
};

/** A failure, as delivery knows them. */
type Failure = { kind: "retry" | "unauthorized"; error: string };
type Step = { kind: string };
type Next = { kind: "next"; request: PlatformRequest };

type Question<Answer extends Step> = {
  /** Asked directly before the call: a token may have taken long. An answer in place of a request ends the question. */
  toRequest: (settings: ConnectionSettings) => PlatformRequest | Promise<PlatformRequest | Answer>;
  /** `next` makes another call. */
  read: (response: PlatformResponse, settings: ConnectionSettings) => Answer | Next;
};

/** Calls of one question: none needs more than two, and one more after the token was renewed. */
const maxCalls = 4;

export async function askPlatform<Answer extends Step>(
  { sender, tokens, onDefect }: AskOptions,
  connection: Connection,
  platform: Platform,
  { toRequest, read }: Question<Answer>,
): Promise<Answer | Failure> {
  let current = await tokens.fresh(connection);
  let request: PlatformRequest | null = null;
  for (let calls = 0, renewals = 0; calls < maxCalls; calls++) {
    if ("fault" in current) return { kind: "unauthorized", error: current.error };
    const { settings } = current;
    try {
      const made: PlatformRequest | Answer = request ?? (await toRequest(settings));
      if ("kind" in made) return made;
      const to = { platform: platform.id, customerAddress: platform.customerAddress === true };
      const sent = await sender.send(made, to);
      if (!sent.ok) return { kind: "retry", error: sent.error };
      const step = read(sent.response, settings);
      if (isNext(step)) {
        ({ request } = step);
        continue;
      }
      const canRenew = settings.refresh_token !== undefined && renewals++ === 0;
      if (step.kind !== "unauthorized" || !canRenew) return step;
    } catch (error) {
      // Platforms' functions are pure and should not throw.
      onDefect(error, { asked: platform.id });
      return { kind: "retry", error: "internal error of the relay" };
    }
    request = null;
    current = await tokens.fresh(current, settings.access_token);
  }
  return { kind: "retry", error: "the platform did not answer within the number of calls" };
}

const isNext = (step: Step): step is Next => step.kind === "next";
