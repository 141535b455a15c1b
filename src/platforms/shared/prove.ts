// The usual ways to prove a connection before its first conversion. Each platform chooses one with its `prove`.

import { say } from "../../kernel/messages/message.ts";
import type { PlatformRequest, Proof } from "../platform.ts";
import { isSuccess, parseBody } from "./response.ts";

/** For platforms whose test mode validates an event and counts nothing. */
export const proveByTestEvent = (): Proof => ({ by: "test event" });

/** For platforms where every call that is checked also counts. */
export const proveByNothing = (platform: string) => (): Proof => ({
  by: "nothing",
  reason: say("proven_by_first", { platform }),
});

/** For platforms that answer every call alike, whatever it contains. */
export const proveNever = (platform: string, where: string) => (): Proof => ({
  by: "nothing",
  reason: say("never_proven", { platform, where }),
});

/** A read is the proof when `isThere` finds in its body what conversions are sent to. */
export function readProof(
  request: PlatformRequest,
  isThere: (body: unknown) => boolean,
  texts: { otherwise: string; unchecked?: string },
): Proof {
  return {
    by: "call",
    request,
    isProof: (response) => isSuccess(response.status) && isThere(parseBody(response)),
    ...texts,
  };
}
