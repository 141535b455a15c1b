// The bots that are known by name: our own table, and the public list of crawlers (crawler-user-agents) without the entries
// that match people. The list is read on first use. scripts/bundle.ts leaves its 2,000 example strings out.

import { createRequire } from "node:module";
import { nameAround } from "./botWords.ts";

/**
 * Patterns of the public list that match people: in-app browsers, phone models, programs that show pages. A missed bot costs
 * one row in a report, a removed buyer costs the advertiser a conversion.
 */
const removedPatterns = new Set([
  // The Android 15 build of OPPO and OnePlus, and Meta's in-app browser.
  "AP3A\\.240617\\.008",
  "MetaIAB Facebook",
  // Editors with a built-in browser.
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
let listedBots: RegExp | null = null;

function buildListPattern(): RegExp {
  // Under `require` the package's entry is the JSON file itself.
  const list = require("crawler-user-agents") as { pattern: string }[];
  const patterns = list.map(({ pattern }) => pattern).filter((pattern) => !removedPatterns.has(pattern));
  return new RegExp(patterns.join("|"));
}

/** Returns the bot's name as it is written in the text, or null. */
export function findListedBot(text: string): string | null {
  listedBots ??= buildListPattern();
  const found = listedBots.exec(text);
  return found && nameAround(text, found);
}

type NamedBot = { kind: "ad reviewer" | "AI agent" | "headless browser"; pattern: RegExp; detail: string };

const adReviewer = (pattern: RegExp, detail: string): NamedBot => ({ kind: "ad reviewer", pattern, detail });
const agent = (pattern: RegExp, detail: string): NamedBot => ({ kind: "AI agent", pattern, detail });
const headless = (pattern: RegExp, detail: string): NamedBot => ({
  kind: "headless browser",
  pattern,
  detail,
});

/** Bots that customers see by their kind. Ad reviewers and preloaders arrive with click ids, so none of them may be missed. */
const namedBots: readonly NamedBot[] = [
  adReviewer(/AdsBot-Google|Google-Display-Ads-Bot/i, "Google Ads"),
  adReviewer(/Google-Ads-|Google-?Adwords|GoogleAdSense|Mediapartners|Google-HotelAds|Google-Publisher/i, "Google Ads"),
  adReviewer(/google_partner_monitoring|DoubleClick[ -]?Bot|DCM-?Bot/i, "Google Ads"),
  adReviewer(/meta-externalads|facebookcatalog|facebook-?ads-?bot/i, "Meta Ads"),
  adReviewer(/TikTok-?Ads-?Bot|thirdLandingPageFeInfra|BytedanceAdsBot/i, "TikTok Ads"),
  adReviewer(/adidxbot|BingAdsBot|MicrosoftAds/i, "Microsoft Advertising"),
  adReviewer(/SnapchatAds|SnapAdsBot/i, "Snapchat Ads"),
  // The crawler sends "Pinterest/0.2 (+http…", the in-app browser "[Pinterest/iOS]".
  adReviewer(/Pinterest-?bot|Pinterest\/0\.\d \(\+/i, "Pinterest Ads"),
  adReviewer(/LinkedIn-?Ads-?Bot/i, "LinkedIn Ads"),
  adReviewer(/Twitter-?Ads-?Bot|XAdsBot/i, "X Ads"),
  adReviewer(/Reddit-?Ads?-?Bot/i, "Reddit Ads"),
  adReviewer(/AmazonAdBot|Amazon-?Ad-?System|Amazon-?Ads?-?Bot/i, "Amazon Ads"),
  adReviewer(/Yandex(?:Direct|AdNet)|YaDirectFetcher/i, "Yandex Direct"),
  adReviewer(/Baiduspider-(?:ads|cpro)/i, "Baidu"),
  adReviewer(/CriteoBot|TaboolaBot|OutbrainBot|TTD-Content|AppLovinBot/i, "ad network"),
  adReviewer(/\bias[_-](?:crawler|wombles|va)|Grapeshot|peer39|proximic|DoubleVerify/i, "ad verification"),
  agent(/ChatGPT-User|ChatGPT[- ]?Agent|\bOperator\/\d/, "ChatGPT"),
  agent(/Claude-User|Claude-Code/i, "Claude"),
  agent(/Perplexity-?User/i, "Perplexity"),
  agent(/MistralAI-User/i, "Mistral"),
  agent(/Google-?Agent|Gemini-Deep-Research|Google-NotebookLM|Google-Gemini-CLI/i, "Gemini"),
  agent(/Manus-User/i, "Manus"),
  agent(/\bDevin\/\d|devin\.ai/i, "Devin"),
  agent(/NovaAct|Amzn-User|Bedrock-AgentCore|AmazonBuyForMe/i, "Amazon agent"),
  agent(/DuckAssist/i, "DuckDuckGo"),
  agent(/meta-externalfetcher/i, "Meta AI"),
  agent(/\b(?!Inoreader|Unknown)[A-Z]\w{2,20}(?:AI|GPT|LLM)?-User\/\d/, "AI agent"),
  headless(/HeadlessChrom|Headless(?:Edg|Shell|Firefox)|\bheadless\b/i, "headless Chrome"),
  headless(/PhantomJS|SlimerJS|CasperJS|\bsplash\b/i, "PhantomJS or alike"),
  headless(/Playwright|Puppeteer|Selenium|WebDriver|Cypress\/|Nightmare(?:JS)?\//i, "browser automation"),
  headless(/HtmlUnit|\bjsdom\b|happy-?dom|\bZombie\.js/i, "browser without a screen"),
];

// One pass is enough for the many strings without such a name.
const anyNamedBot = new RegExp(namedBots.map(({ pattern }) => `(?:${pattern.source})`).join("|"), "i");

export function findNamedBot(text: string): { kind: NamedBot["kind"]; detail: string } | null {
  if (!anyNamedBot.test(text)) return null;
  const found = namedBots.find(({ pattern }) => pattern.test(text));
  return found ? { kind: found.kind, detail: found.detail } : null;
}
