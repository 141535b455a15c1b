// Bounds what the calls of one site can take from others: how many are answered at a time, and what their bodies and answers hold in
// memory. Calls that concern no single site are counted by their caller, and those that need no sign-in by network.

import type { IncomingMessage, ServerResponse } from "node:http";
import { actorKey, type Actor } from "../access/actor.ts";
import { readBytes } from "../http/body.ts";
import { clientAddress, networkOf, type TransportRules } from "../http/transport.ts";
import { createLimit, threadShare } from "../kernel/concurrency.ts";
import { say } from "../kernel/messages/message.ts";
import { Denied, Refusal } from "../kernel/refusal.ts";

/** A browser asks for as many at a time. Changes may wait for platforms, and keep nobody from reading meanwhile. */
const [maxReads, maxChanges] = [6, 4];
const maxWaiting = 200;

export type Held = { add: (bytes: number) => boolean; give: () => void };
/** Counts what is held for each key, and says if there is room for more. */
type Load = { ofBody(key: string): Held };

export type Admission = ReturnType<typeof createAdmission>;

/** `members` counts what signed-in callers hold, and `strangers` what others do. */
export function createAdmission(loads: Readonly<Record<"members" | "strangers", Load>>) {
  const reads = createLimit({ maxOfKey: maxReads });
  const changes = createLimit({ maxOfKey: maxChanges });
  return {
    /** What is held for a call is given back when its answer has been sent, or its connection is closed. */
    hold(whose: keyof typeof loads, key: string, response: ServerResponse): Held {
      const { add, give } = loads[whose].ofBody(key);
      response.once("finish", give).once("close", give);
      return { add: (bytes) => !response.destroyed && add(bytes), give };
    },

    /** Answers a call when it is its turn. */
    async answer<T>(key: string, isRead: boolean, work: () => Promise<T>): Promise<T> {
      const limit = isRead ? reads : changes;
      if (limit.waiting(key) >= maxWaiting) throw tooMany();
      return limit.run(key, async () => {
        await threadShare.rest(key);
        return work();
      });
    },
  };
}

/** Whose calls are counted together. */
export const keyOf = (request: IncomingMessage, { trusted }: TransportRules, actor: Actor | null, site: { id: string } | null) =>
  site?.id ?? (actor ? actorKey(actor) : networkOf(clientAddress(request, trusted)));

/** Reads a body, as far as there is room for it. */
export async function readHeld(request: IncomingMessage, maxBytes: number, held: Held, tooLarge: string): Promise<Buffer> {
  const bytes = await readBytes(request, maxBytes, held.add);
  if (bytes === "too large") throw new Refusal("", tooLarge);
  if (bytes === "no room") throw tooMany();
  if (bytes === "cut") throw new Refusal("", say("body_incomplete"));
  return bytes;
}

export const tooMany = () => new Denied("too_many", say("too_many_requests"), 1);
