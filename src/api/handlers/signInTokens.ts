// Settings that a request brings for a connection, with the tokens of a sign-in among them.

import type { Actor } from "../../access/actor.ts";
import type { TokenSet } from "../../delivery/oauth/oauth2.ts";
import { readSignInTokens } from "../../delivery/oauth/signIn.ts";
import type { Wanted } from "../../sites/connect.ts";
import type { Site } from "../../sites/directory.ts";
import { Denied, Missing, Refusal } from "../../kernel/refusal.ts";
import type { ApiParts } from "../context.ts";

type Changes = { settings: Record<string, string>; events?: string[] | null | undefined };
type Found = TokenSet | Record<string, never>;

/** The tokens of a sign-in that this very person began. */
export async function tokensFor(
  { store, now }: Pick<ApiParts, "store" | "now">,
  actor: Actor | null,
  site: Site,
  platform: string,
  signIn: string | undefined,
): Promise<Found> {
  if (signIn === undefined) return {};
  if (actor?.kind !== "user")
    throw new Denied(
      "forbidden",
      "A sign-in belongs to the person who made it; an API key cannot use it.",
      undefined,
      "signIn",
    );
  const wanted = { siteId: site.id, platform, id: signIn, requestedBy: actor.id };
  return readSignInTokens(store, wanted, now()).catch((error: unknown) => {
    if (error instanceof Missing) throw new Missing("signIn", error.message);
    throw error instanceof Refusal ? new Refusal("signIn", error.message) : error;
  });
}

/** The tokens of a sign-in stand in place of any that were sent along. */
export function wantedOf({ settings, events }: Changes, tokens: Found): Wanted {
  if (events?.length === 0)
    throw new Refusal("events", "Choose at least one event; null stands for all of them.");
  return { settings: { ...settings, ...tokens }, events };
}
