// The public list of crawlers (crawler-user-agents), cleaned for use as proof. It is read on first use. The package also
// carries 2,000 example strings; scripts/bundle.ts leaves them out, so that they do not stay in memory.

import { createRequire } from "node:module";
import { nameAround } from "./words.ts";

/**
 * Patterns that are wrong about people: platform builds and suffixes of in-app browsers, phone models, programs that people
 * read pages in. A missed bot costs one row in a report, a removed buyer costs the advertiser a conversion.
 */
const denied = new Set([
  // The Android 15 build of OPPO and OnePlus, and Meta's in-app browser.
  "AP3A\\.240617\\.008",
  "MetaIAB Facebook",
  // Editors with a browser in them.
  "Code\\/1\\.",
  "Trae\\/",
  // Parts of model names and of versions.
  "Sonic",
  "Butterfly",
  "Fever",
  "Expanse",
  "008\\/",
  "RED\\/",
  "BW\\/",
  "Dlc\\/",
  "Make\\/",
  "Time\\/",
  "Golfe\\/",
  "Grover\\/",
  // Browsers and apps of people.
  "Fluid",
  "Viber",
  "Sogou",
  "WhatsApp",
  "Daum\\/",
  "Valve\\/Steam",
  "NextCloud",
  "Notion\\/",
  "Tumblr\\/",
  "Asana\\/",
  "Bluesky\\/",
  "PayPal\\/",
  "Stripe\\/",
  "GoPay",
  "Overcast\\/",
  "PocketCasts\\/",
  "Instapaper\\/",
  "Grammarly\\/",
  "HubSpot",
  "MailChimp",
  "Klaviyo\\/",
  "Trustly\\/",
  "IFTTT\\/",
  "CapitalOneShopping",
  "ExodusMovement",
  "SearchExpress",
  "PlayStore-Google",
  "FeedFlow",
  "Operator\\/",
]);

const require = createRequire(import.meta.url);
let joined: RegExp | null = null;

function build(): RegExp {
  // Under `require` the package's entry is the JSON file itself.
  const list = require("crawler-user-agents") as { pattern: string }[];
  const patterns = list.map(({ pattern }) => pattern).filter((pattern) => !denied.has(pattern));
  return new RegExp(patterns.join("|"));
}

/** The name by which the public list knows this text, or null. */
export function findListedBot(text: string): string | null {
  joined ??= build();
  const found = joined.exec(text);
  return found && nameAround(text, found);
}
