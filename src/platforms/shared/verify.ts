// The usual ways to verify a connection before its first conversion. Each platform chooses one with its `verify`.

import { say } from "../../kernel/messages/message.ts";
import type { PlatformRequest, Verification } from "../platform.ts";
import { isSuccess, parseBody } from "./response.ts";

/** For platforms whose test mode validates an event and counts nothing. */
export const verifyByTestEvent = (): Verification => ({ by: "test event" });

/** For platforms where every call that is checked also counts. */
export const verifyByNothing = (platform: string) => (): Verification => ({
  by: "nothing",
  reason: say("verified_by_first", { platform }),
});

/** For platforms that answer every call alike, whatever it contains. */
export const verifyNever = (platform: string, where: string) => (): Verification => ({
  by: "nothing",
  reason: say("never_verified", { platform, where }),
});

/** A read is the verification when `isThere` finds in its body what conversions are sent to. */
export function readVerification(
  request: PlatformRequest,
  isThere: (body: unknown) => boolean,
  texts: { otherwise: string; unchecked?: string },
): Verification {
  return {
    by: "call",
    request,
    isVerification: (response) => isSuccess(response.status) && isThere(parseBody(response)),
    ...texts,
  };
}
