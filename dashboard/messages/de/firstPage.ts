// German for the overview. A German browser loads it before it draws anything, so it is short.

import type { ServerTexts } from "../server.ts";
import { common } from "./common.ts";
import { frame } from "./frame.ts";
import { overview } from "./overview.ts";
import { reasonMessages, reasons } from "./server/reasons.ts";

export const translation = { common, frame, overview };

export const serverTexts: ServerTexts = { messages: reasonMessages, words: reasons };
