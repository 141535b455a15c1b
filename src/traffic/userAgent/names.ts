// The names that are told apart from other bots because the customer should see them as what they are. Ad reviewers and
// preloaders arrive with click ids, so that a public list that lacks one of them would cost the advertiser money.

type Named = { kind: "ad reviewer" | "AI agent" | "headless browser"; pattern: RegExp; detail: string };

const adReviewer = (pattern: RegExp, detail: string): Named => ({ kind: "ad reviewer", pattern, detail });
const agent = (pattern: RegExp, detail: string): Named => ({ kind: "AI agent", pattern, detail });
const headless = (pattern: RegExp, detail: string): Named => ({ kind: "headless browser", pattern, detail });

const named: readonly Named[] = [
  adReviewer(/AdsBot-Google|Google-Display-Ads-Bot/i, "Google Ads"),
  adReviewer(
    /Google-Ads-|Google-?Adwords|GoogleAdSense|Mediapartners|Google-HotelAds|Google-Publisher/i,
    "Google Ads",
  ),
  adReviewer(/google_partner_monitoring|DoubleClick[ -]?Bot|DCM-?Bot/i, "Google Ads"),
  adReviewer(/meta-externalads|facebookcatalog|facebook-?ads-?bot/i, "Meta Ads"),
  adReviewer(/TikTok-?Ads-?Bot|thirdLandingPageFeInfra|BytedanceAdsBot/i, "TikTok Ads"),
  adReviewer(/adidxbot|BingAdsBot|MicrosoftAds/i, "Microsoft Advertising"),
  adReviewer(/SnapchatAds|SnapAdsBot/i, "Snapchat Ads"),
  // With the slash and the plus it is the crawler that checks pins and ads; the in-app browser says "[Pinterest/iOS]".
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

// One pass decides for the many strings that name none of these.
const anyName = new RegExp(named.map(({ pattern }) => `(?:${pattern.source})`).join("|"), "i");

export function findNamed(text: string): { kind: Named["kind"]; detail: string } | null {
  if (!anyName.test(text)) return null;
  const found = named.find(({ pattern }) => pattern.test(text));
  return found ? { kind: found.kind, detail: found.detail } : null;
}
