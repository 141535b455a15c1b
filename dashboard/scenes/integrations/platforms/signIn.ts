// A sign-in at a platform leaves the page and returns with its id in the URL.

import { useApi } from "../../../common/api/query.ts";
import type { Platform } from "../connections.tsx";
import type { Changes } from "./editor.ts";
import { integrationsText } from "../../../messages/integrations.ts";

/** The settings that a sign-in fills. */
export const expirySetting = "expires_at";
export const signInFills = ["access_token", "refresh_token", expirySetting];

export type SignInStep = { is: "none" | "waiting" | "done"; error: null } | { is: "failed"; error: string };

export function useSignInStep(site: string, signIn: string): SignInStep {
  const { data, error } = useApi("GET /sites/:site/sign-ins/:signIn", { params: { site, signIn } }, { enabled: signIn !== "" });
  if (signIn === "") return { is: "none", error: null };
  if (error) return { is: "failed", error: error.message };
  if (!data) return { is: "waiting", error: null };
  if (data.step === "done") return { is: "done", error: null };
  if (data.step === "failed" || data.step === "expired")
    return {
      is: "failed",
      error: data.error ?? integrationsText.signIn.expired,
    };
  return { is: "failed", error: integrationsText.signIn.incomplete };
}

type SavedInput = { connection: string | null; changes: Changes };
const storageKey = (signIn: string) => `cc-sign-in-${signIn}`;

/** Keeps the input, except secrets and addresses, in this browser tab until the user is back. */
export function saveInput(signIn: string, platform: Platform, connection: string | null, changes: Changes): void {
  const open = Object.entries(changes).filter(
    ([name]) => !platform.settings.some((one) => one.name === name && (one.secret || one.address)),
  );
  const saved: SavedInput = { connection, changes: Object.fromEntries(open) };
  sessionStorage.setItem(storageKey(signIn), JSON.stringify(saved));
}

export function readInput(signIn: string): SavedInput | null {
  const text = sessionStorage.getItem(storageKey(signIn));
  return text ? (JSON.parse(text) as SavedInput) : null;
}

export const deleteInput = (signIn: string) => sessionStorage.removeItem(storageKey(signIn));
