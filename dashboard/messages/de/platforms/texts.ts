// The German texts of platforms. They are many, and loaded only with the pages of platforms.

import type { ServerTexts } from "../../server.ts";
import { credentials } from "./credentials.ts";
import { fields } from "./fields.ts";
import { notSent } from "./notSent.ts";
import { sends } from "./sends.ts";
import { settings } from "./settings.ts";

export const platformTexts: ServerTexts = { ...settings, ...credentials, ...sends, ...notSent, ...fields };
