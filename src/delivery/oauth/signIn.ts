// Signs users in at a platform with OAuth, in three steps that only one browser can take:
//
//   requested    a user who may manage the site got a link that works once
//   authorizing  the browser that opened the link has a cookie; it was redirected to the platform with a state and a challenge
//   done         that browser came back with a code, which was exchanged for tokens; a new connection reads them from here
//
// Only hashes of the secrets are stored. A step that is repeated, late, or made from another browser fails. A sign-in that
// was requested in the dashboard belongs to that user: no other user can read it, use it, or open its link.

import { createHash, timingSafeEqual } from "node:crypto";
import { hourMs, minuteMs } from "../../kernel/time.ts";
import { randomBase62, shortId } from "../../kernel/ids.ts";
import { english, say } from "../../kernel/messages/message.ts";
import { Missing, Refusal, type By } from "../../kernel/refusal.ts";
import { platformOf, platforms } from "../../platforms/index.ts";
import { auditLine } from "../../sites/manage.ts";
import type { OAuthApp, PlatformSignIn } from "../../store/sites/platformSignIns.ts";
import type { Store } from "../../store/store.ts";
import type { Sender } from "../send.ts";
import { authorizationUrl, createVerifier, exchangeCode, hasOAuth, type PlatformWithOAuth, type TokenSet } from "./oauth2.ts";

type Requested = { step: "requested"; linkHash: string };
type Authorizing = { step: "authorizing"; cookieHash: string; stateHash: string; verifier: string };
type Exchanging = { step: "exchanging" };
type Done = { step: "done"; tokens: TokenSet };
type Failed = { step: "failed"; error: string };
/** The id of the user who requested it in the dashboard and is redirected there; null on the command line. */
type Requester = { requestedBy: string | null };
type SignInRecord = (Requested | Authorizing | Exchanging | Done | Failed) & Requester;

export type SignInOptions = {
  store: Pick<Store, "platformSignIns">;
  sender: Sender;
  /** The address that platforms redirect to. */
  redirectUri: string;
  /** Platform id → origin to use instead of the platform's own; see CLEANCAST_PLATFORM_ORIGINS. */
  origins: Readonly<Record<string, string>>;
  now: () => number;
};

const tenMinutesMs = 10 * minuteMs;
const invalidLink = say("sign_in_link_ended");

export const listSignInPlatforms = () => platforms.filter(hasOAuth);

export function signInPlatform(id: string): PlatformWithOAuth {
  const platform = platformOf(id);
  if (hasOAuth(platform)) return platform;
  const known = listSignInPlatforms().map((one) => one.id);
  throw new Refusal("platform", say("no_platform_sign_in", { platform: platform?.name ?? id, known: known.join(", ") }));
}

type Context = { store: Pick<Store, "platformSignIns" | "audit"> };

/** Saves the installation's registration at a platform, without which users cannot sign in there. */
export async function setOAuthApp({ store }: Context, app: OAuthApp, by: By): Promise<void> {
  const { id: platform } = signInPlatform(app.platform);
  await store.platformSignIns.saveApp(app, by.now);
  await store.audit.add(auditLine("", "oauth app set", { platform }, by));
}

export async function removeOAuthApp({ store }: Context, platform: string, by: By): Promise<void> {
  if (!(await store.platformSignIns.removeApp(platform))) throw new Refusal("platform", say("no_oauth_app", { platform }));
  await store.audit.add(auditLine("", "oauth app removed", { platform }, by));
}

const hashSecret = (secret: string) => createHash("sha256").update(secret).digest("base64url");

function matchesHash(secret: string, hash: string): boolean {
  const [given, stored] = [Buffer.from(hashSecret(secret)), Buffer.from(hash)];
  return given.length === stored.length && timingSafeEqual(given, stored);
}

/** `site.id.secret` names a sign-in and proves the right to its next step: as the token of a link, and as OAuth state. */
function readStepToken(text: string): { siteId: string; id: string; secret: string } | null {
  const [, siteId, id, secret] = /^([0-9A-Za-z]+)\.([0-9A-Za-z]+)\.([0-9A-Za-z]+)$/.exec(text) ?? [];
  return siteId && id && secret ? { siteId, id, secret } : null;
}

/** Creates the one-time link that begins a sign-in. */
export async function createSignInLink(
  { store, now }: Pick<SignInOptions, "store" | "now">,
  siteId: string,
  platformId: string,
  requestedBy: string | null,
): Promise<{ id: string; linkToken: string; expiresAt: number }> {
  const platform = signInPlatform(platformId);
  const app = await store.platformSignIns.findApp(platformId);
  if (app === null || app === "unreadable") {
    const fault = say(app ? "oauth_app_unreadable" : "oauth_app_missing", { platform: platform.name });
    throw new Refusal(
      "platform",
      say("oauth_app_needed", { fault }),
      `${english(fault)}: cleancast oauth app set ${platformId} client_id=… client_secret=@file`,
    );
  }
  const id = shortId();
  const secret = randomBase62(32);
  const expiresAt = now() + tenMinutesMs;
  const record: SignInRecord = { step: "requested", linkHash: hashSecret(secret), requestedBy };
  await store.platformSignIns.begin({ siteId, id, platform: platformId, expiresAt, record });
  return { id, linkToken: `${siteId}.${id}.${secret}`, expiresAt };
}

/** A browser opened the link: it gets a cookie and is redirected to the platform. */
export async function startAuthorization(
  options: SignInOptions,
  linkToken: string,
  /** The user who is signed in to the dashboard in this browser. */
  userId: string | null,
): Promise<{ id: string; location: string; cookie: string } | { error: string }> {
  const { store, redirectUri, origins, now } = options;
  const link = readStepToken(linkToken);
  if (!link) return { error: invalidLink };
  const cookie = randomBase62(32);
  const state = `${link.siteId}.${link.id}.${randomBase62(32)}`;
  const verifier = createVerifier();
  const authorizing = {
    step: "authorizing",
    cookieHash: hashSecret(cookie),
    stateHash: hashSecret(state),
    verifier,
  } as const;
  const signIn = await store.platformSignIns.step<SignInRecord>(link.siteId, link.id, ({ record, expiresAt }) => {
    const requested = record as SignInRecord;
    const isValid = requested.step === "requested" && expiresAt > now() && matchesHash(link.secret, requested.linkHash);
    const { requestedBy } = requested;
    return isValid && (requestedBy === null || requestedBy === userId)
      ? { record: { ...authorizing, requestedBy }, expiresAt: now() + tenMinutesMs }
      : null;
  });
  const app = signIn && (await store.platformSignIns.findApp(signIn.platform));
  if (!signIn || !app || app === "unreadable") return { error: invalidLink };
  const platform = signInPlatform(signIn.platform);
  const address = new URL(await authorizationUrl(platform, app, { redirectUri, state, verifier }));
  const override = origins[platform.id];
  const location = override ? `${new URL(override).origin}${address.pathname}${address.search}` : address.href;
  return { id: signIn.id, location, cookie };
}

export type Finished = { platform: PlatformWithOAuth; siteId: string; id: string } & Requester;

/** The browser came back from the platform: its code is exchanged for tokens. */
export async function finishAuthorization(
  { store, sender, redirectUri, now }: SignInOptions,
  parameters: URLSearchParams,
  /** Reads the browser's cookie of a sign-in. */
  cookieOf: (id: string) => string | undefined,
): Promise<(Finished & { error: string | null }) | { error: string }> {
  const state = parameters.get("state") ?? "";
  const token = readStepToken(state);
  const cookie = token && cookieOf(token.id);
  if (!token || !cookie) return { error: invalidLink };
  let authorized: (Authorizing & Requester) | undefined;
  const { siteId, id } = token;
  const taken = await store.platformSignIns.step<SignInRecord>(siteId, id, ({ record, expiresAt }) => {
    const current = record as SignInRecord;
    if (current.step !== "authorizing" || expiresAt <= now()) return null;
    if (!matchesHash(state, current.stateHash) || !matchesHash(cookie, current.cookieHash)) return null;
    authorized = current;
    return { record: { step: "exchanging", requestedBy: current.requestedBy }, expiresAt };
  });
  const app = taken && (await store.platformSignIns.findApp(taken.platform));
  if (!taken || !authorized || !app || app === "unreadable") return { error: invalidLink };
  const platform = signInPlatform(taken.platform);
  const answer = { parameters, state, redirectUri, verifier: authorized.verifier };
  const tokens = await exchangeCode({ platform, app, sender, now: now() }, answer).catch((error: unknown) => ({
    fault: "refused" as const,
    error: say("sign_in_answer_unusable", { error: error instanceof Error ? error.name : "unknown" }),
  }));
  const { requestedBy } = authorized;
  const record: SignInRecord =
    "fault" in tokens ? { step: "failed", error: tokens.error, requestedBy } : { step: "done", tokens, requestedBy };
  await store.platformSignIns.step(siteId, id, () => ({ record, expiresAt: now() + hourMs }));
  const error = "fault" in tokens ? say("sign_in_refused", { platform: platform.name, reason: tokens.error }) : null;
  return { platform, siteId, id, requestedBy, error };
}

/** Finds a sign-in of this user; null when there is none or it is another user's. */
export async function findSignIn(
  store: Pick<Store, "platformSignIns">,
  { siteId, id, requestedBy }: { siteId: string; id: string } & Requester,
): Promise<PlatformSignIn<SignInRecord> | null> {
  const signIn = (await store.platformSignIns.find(siteId, id)) as PlatformSignIn<SignInRecord> | null;
  return signIn && signIn.record.requestedBy === requestedBy ? signIn : null;
}

/** Reads the tokens of a finished sign-in, for a connection of the same site and platform. */
export async function readSignInTokens(
  store: Pick<Store, "platformSignIns">,
  wanted: { siteId: string; platform: string; id: string } & Requester,
  now: number,
): Promise<TokenSet> {
  const { id } = wanted;
  const signIn = await findSignIn(store, wanted);
  if (!signIn || signIn.platform !== wanted.platform || signIn.expiresAt <= now) {
    const sentence = say("no_sign_in_here", { id, platform: wanted.platform });
    const hint = `Begin one: cleancast sign-in ${wanted.siteId} ${wanted.platform}`;
    throw new Missing("sign_in", say("no_sign_in", { sentence }), `${english(sentence)} ${hint}`);
  }
  const { record } = signIn;
  if (record.step === "done") return record.tokens;
  throw new Refusal(
    "sign_in",
    record.step === "failed" ? say("sign_in_failed", { id, reason: record.error }) : say("sign_in_unfinished", { id }),
  );
}
