// The progress of the sign-in in the URL.

import { useApi } from "../../../common/api/query.ts";

/** The settings that a sign-in fills. */
export const signInFills = ["access_token", "refresh_token", "expires_at"];

export type SignInStep = { is: "none" | "waiting" | "done"; error: null } | { is: "failed"; error: string };

export function useSignInStep(site: string, signIn: string): SignInStep {
  const { data, error } = useApi(
    "GET /sites/:site/sign-ins/:signIn",
    { params: { site, signIn } },
    { enabled: signIn !== "" },
  );
  if (signIn === "") return { is: "none", error: null };
  if (error) return { is: "failed", error: error.message };
  if (!data) return { is: "waiting", error: null };
  if (data.step === "done") return { is: "done", error: null };
  if (data.step === "failed" || data.step === "over")
    return {
      is: "failed",
      error: data.error ?? "The sign-in has expired or was already used. Sign in again.",
    };
  return { is: "failed", error: "The sign-in was not completed. Sign in again." };
}
