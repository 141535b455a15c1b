// Signing in at a platform, in three steps that only one browser can take:
//
//   asked     somebody who may manage the site got a link that works once
//   agreeing  the browser that opened the link holds a cookie; it was sent to the platform with a state and a challenge
//   done      that same browser came back with a code, which was exchanged for tokens; a connection takes them from here
//
// Of the secrets only hashes are kept. A step that comes twice, late, or from another browser finds nothing. One that was
// asked for in the dashboard belongs to the user who asked: nobody else sees it, takes it, or opens its link.

import { createHash, timingSafeEqual } from "node:crypto";
import { randomBase62, shortId } from "../../kernel/ids.ts";
import { platformOf } from "../../platforms/index.ts";
import { Missing, Refusal } from "../../kernel/refusal.ts";
import type { PlatformSignIn } from "../../store/sites/platformSignIns.ts";
import type { Store } from "../../store/store.ts";
import {
  agreementUrl,
  hasOAuth,
  newVerifier,
  tokensForCode,
  type PlatformWithOAuth,
  type Tokens,
} from "./oauth2.ts";
import type { Sender } from "../send.ts";

type Asked = { step: "asked"; link: string };
type Agreeing = { step: "agreeing"; browser: string; state: string; verifier: string };
type Exchanging = { step: "exchanging" };
type Done = { step: "done"; tokens: Tokens };
type Failed = { step: "failed"; error: string };
/** The id of the user who asked in the dashboard, and is sent back there; null on the command line. */
type Asker = { asker: string | null };
export type SignInRecord = (Asked | Agreeing | Exchanging | Done | Failed) & Asker;

export type SignInOptions = {
  store: Pick<Store, "platformSignIns">;
  sender: Sender;
  /** Where platforms send people back to. */
  redirectUri: string;
  /** Where a platform is really reached; see CLEANCAST_PLATFORM_ORIGINS. */
  origins: Readonly<Record<string, string>>;
  now: () => number;
};

const tenMinutes = 10 * 60_000;
const anHour = 60 * 60_000;
const lost = "This link is not valid any more. Begin the sign-in again.";

const hashOf = (secret: string) => createHash("sha256").update(secret).digest("base64url");

function isSame(secret: string, hash: string): boolean {
  const [given, kept] = [Buffer.from(hashOf(secret)), Buffer.from(hash)];
  return given.length === kept.length && timingSafeEqual(given, kept);
}

/** `site.id.secret`: names the sign-in, and proves that one may take its next step. */
function readTicket(text: string): { siteId: string; id: string; secret: string } | null {
  const [, siteId, id, secret] = /^([0-9A-Za-z]+)\.([0-9A-Za-z]+)\.([0-9A-Za-z]+)$/.exec(text) ?? [];
  return siteId && id && secret ? { siteId, id, secret } : null;
}

function signInPlatform(id: string): PlatformWithOAuth {
  const platform = platformOf(id);
  if (!hasOAuth(platform))
    throw new Refusal("platform", `${platform?.name ?? id} has no sign-in; connect it with a token.`);
  return platform;
}

/** Makes the link that begins a sign-in. */
export async function askSignIn(
  { store, now }: Pick<SignInOptions, "store" | "now">,
  siteId: string,
  platformId: string,
  asker: string | null,
): Promise<{ id: string; ticket: string; expiresAt: number }> {
  const platform = signInPlatform(platformId);
  if (!(await store.platformSignIns.findApp(platformId))) {
    throw new Refusal(
      "platform",
      `No OAuth app is set for ${platform.name}. An owner sets it in Settings, OAuth apps.`,
      `No OAuth app is set for ${platform.name}: cleancast oauth app set ${platformId} client_id=… client_secret=@file`,
    );
  }
  const id = shortId();
  const secret = randomBase62(32);
  const expiresAt = now() + tenMinutes;
  const record: SignInRecord = { step: "asked", link: hashOf(secret), asker };
  await store.platformSignIns.begin({ siteId, id, platform: platformId, expiresAt, record });
  return { id, ticket: `${siteId}.${id}.${secret}`, expiresAt };
}

/** A browser opened the link: it gets a cookie, and is sent to the platform. */
export async function beginAgreement(
  options: SignInOptions,
  ticketText: string,
  /** Who is signed in to the dashboard in this browser. */
  user: string | null,
): Promise<{ id: string; location: string; cookie: string } | { error: string }> {
  const { store, redirectUri, origins, now } = options;
  const ticket = readTicket(ticketText);
  if (!ticket) return { error: lost };
  const cookie = randomBase62(32);
  const state = `${ticket.siteId}.${ticket.id}.${randomBase62(32)}`;
  const verifier = newVerifier();
  const agreeing = { step: "agreeing", browser: hashOf(cookie), state: hashOf(state), verifier } as const;
  const signIn = await store.platformSignIns.step(ticket.siteId, ticket.id, ({ record, expiresAt }) => {
    const asked = record as SignInRecord;
    const isValid = asked.step === "asked" && expiresAt > now() && isSame(ticket.secret, asked.link);
    const asker = askerOf(asked);
    return isValid && (asker === null || asker === user)
      ? { record: { ...agreeing, asker }, expiresAt: now() + tenMinutes }
      : null;
  });
  const app = signIn && (await store.platformSignIns.findApp(signIn.platform));
  if (!signIn || !app) return { error: lost };
  const platform = signInPlatform(signIn.platform);
  const address = new URL(await agreementUrl(platform, app, { redirectUri, state, verifier }));
  const override = origins[platform.id];
  const location = override
    ? `${new URL(override).origin}${address.pathname}${address.search}`
    : address.href;
  return { id: signIn.id, location, cookie };
}

/** Records of an older version have none. */
const askerOf = ({ asker }: Partial<Asker>) => asker ?? null;

export type Finished = { platform: PlatformWithOAuth; siteId: string; id: string } & Asker;

/** The browser came back from the platform: its code becomes tokens. */
export async function finishAgreement(
  { store, sender, redirectUri, now }: SignInOptions,
  parameters: URLSearchParams,
  /** The cookie that the browser holds for a sign-in. */
  cookieOf: (id: string) => string | undefined,
): Promise<(Finished & { error: string | null }) | { error: string }> {
  const state = parameters.get("state") ?? "";
  const ticket = readTicket(state);
  const cookie = ticket && cookieOf(ticket.id);
  if (!ticket || !cookie) return { error: lost };
  let agreed: (Agreeing & Asker) | undefined;
  const { siteId, id } = ticket;
  const taken = await store.platformSignIns.step<SignInRecord>(siteId, id, ({ record, expiresAt }) => {
    const agreeing = record as SignInRecord;
    if (agreeing.step !== "agreeing" || expiresAt <= now()) return null;
    if (!isSame(state, agreeing.state) || !isSame(cookie, agreeing.browser)) return null;
    agreed = agreeing;
    return { record: { step: "exchanging", asker: askerOf(agreeing) }, expiresAt };
  });
  const app = taken && (await store.platformSignIns.findApp(taken.platform));
  if (!taken || !agreed || !app) return { error: lost };
  const platform = signInPlatform(taken.platform);
  const answer = { parameters, state, redirectUri, verifier: agreed.verifier };
  const tokens = await tokensForCode({ platform, app, sender, now: now() }, answer).catch(
    (error: unknown) => ({
      fault: "refused" as const,
      error: `the answer could not be used (${error instanceof Error ? error.name : "unknown"})`,
    }),
  );
  const asker = askerOf(agreed);
  const record: SignInRecord =
    "fault" in tokens ? { step: "failed", error: tokens.error, asker } : { step: "done", tokens, asker };
  await store.platformSignIns.step(siteId, id, () => ({ record, expiresAt: now() + anHour }));
  const error = "fault" in tokens ? `${platform.name} did not agree: ${tokens.error}` : null;
  return { platform, siteId, id, asker, error };
}

/** A sign-in of this asker; null where there is none, or it is somebody else's. */
export async function signInOf(
  store: Pick<Store, "platformSignIns">,
  { siteId, id, asker }: { siteId: string; id: string } & Asker,
): Promise<PlatformSignIn<SignInRecord> | null> {
  const signIn = (await store.platformSignIns.find(siteId, id)) as PlatformSignIn<SignInRecord> | null;
  return signIn && askerOf(signIn.record) === asker ? signIn : null;
}

/** The tokens of a sign-in that is done, for a connection of the same site and platform. */
export async function tokensOfSignIn(
  store: Pick<Store, "platformSignIns">,
  wanted: { siteId: string; platform: string; id: string } & Asker,
  now: number,
): Promise<Tokens> {
  const { id } = wanted;
  const signIn = await signInOf(store, wanted);
  if (!signIn || signIn.platform !== wanted.platform || signIn.expiresAt <= now) {
    const sentence = `There is no sign-in ${id} for ${wanted.platform} here.`;
    throw new Missing("sign_in", `${sentence} Begin one.`, `${sentence} Begin one: cleancast sign-in`);
  }
  const { record } = signIn;
  if (record.step === "done") return record.tokens;
  throw new Refusal(
    "sign_in",
    record.step === "failed"
      ? `The sign-in ${id} failed: ${record.error}`
      : `The sign-in ${id} is not finished yet.`,
  );
}
