// German for the sign-in page and the overview. A German browser loads it before it draws anything, so it is short.

import { common } from "./common.ts";
import { frame } from "./frame.ts";
import { overview } from "./overview.ts";
import { deliveries } from "./server/deliveries.ts";
import { platforms } from "./server/platforms.ts";
import { signIn } from "./signIn.ts";

export const translation = { common, frame, overview, signIn };

export const serverTexts = { ...deliveries, ...platforms };
