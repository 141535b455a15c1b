// German for the sign-in page and the overview. A German browser loads it before it draws anything, so it is short.

import type { ServerTexts } from "../server.ts";
import { common } from "./common.ts";
import { frame } from "./frame.ts";
import { overview } from "./overview.ts";
import { reasonMessages, reasons } from "./server/reasons.ts";
import { signIn } from "./signIn.ts";

export const translation = { common, frame, overview, signIn };

export const serverTexts: ServerTexts = { messages: reasonMessages, words: reasons };
