// The words by which programs sign themselves.

const anyOf = (...words: string[]) => new RegExp(words.join("|"), "i");

/** A name that ends as such names end, or Google's way to name its own: proof, wherever it stands outside a phone's model. */
export const signedAsBot = anyOf(
  "(?:^|[^a-z])(?!cubot|botech)[\\w.!+-]{0,40}?(?<!cu)(?:bots?|b0t|crawlers?|crawling|spiders?|spyder|scrapers?|scrapy)(?![a-z])",
  "\\w[\\w-]{0,30}-Google\\b",
  "\\bGoogle-(?!TV)[A-Z]\\w{2,30}",
);

const subjects = "link|url|site|page|web|http|proxy|rank|seo|feed|rss|domain|server|cookie|broken|dead";
const deeds =
  "check|valid|verif|scan|walk|monitor|watch|audit|index|analy|inspect|test|preview|extract|grab|collect|dump|copi|copy|" +
  "strip|suck|thumb|shot|map";
const libraries =
  "curl|wget|libwww|lwp|urllib|httpx?|httpclient|http-client|okhttp|axios|node-fetch|undici|python|perl|ruby|java|php|" +
  "golang|go-http|guzzle|winhttp|wininet|aiohttp|mechanize|jakarta|cfnetwork|powershell|restsharp|postmanruntime|insomnia|" +
  "faraday|typhoeus|reqwest|colly|jsoup";

/** What people's browsers do not do. Not proof: an app may be called like this. */
export const worksLikeBot = anyOf(
  "crawl|spider|scrap(?:e|ing|y)|slurp|harvest|archiv|heritrix|nutch|robot|fetch|sniff|prob(?:e|ing)\\b",
  `(?<!\\w)(?:${subjects})[-_ ]?(?:${deeds})`,
  `\\b(?:${libraries})\\b`,
  // Watching whether a page is there, how fast it is and how it looks.
  "(?<!cam)scan(?:ner|ning)?(?![a-z])|monitor|checker|validat|verif(?:y|ier|ication)|preview|thumbnail|screenshot|snapshot",
  "favicon|uptime|synthetic|lighthouse|page-?speed|gtmetrix|webpagetest|\\bptst\\b|pingdom|\\bping\\b|healthcheck|status ?cake",
  "gomez|keynote|catchpoint|appdynamics|alertsite|webmetrics|dynatrace|wkhtml|cutycapt|webkit2png|browsershots|pdfcrowd",
  "\\b(?:test|testing|tester|automation|automated|benchmark|loadtest|browserstack|saucelabs)\\b",
  // Taking it away.
  "(?<!app)indexer|extract(?:or|ion)|collector|download(?:er)?\\b|grabber|parser|resolver|detector|discovery\\b|analy[sz]er",
  "auditor|inspector|optimizer|survey|research|measurement|transcoder|translat(?:or|e)\\b|prefetch|prerender",
  "render(?:er|ing)\\b|image-?proxy|mail-?proxy|\\bproxy\\b|\\bvia \\S+\\.\\w",
  // Reading it for somebody else.
  "feed(?:er|ly|bin|fetch|burner|parser|reader|ster|demon)|\\brss\\b|subscribers?\\b|podcast|sitemap|\\bseo\\b|backlink",
  "plagiari|copyright|brandwatch|\\bms-?office\\b|microsoft (?:outlook|office|excel|word)\\b",
  "[a-z]-?agent\\b|\\bagent[-/]|\\bai[-_ ]?(?:agent|search|assistant|crawl)|gpt|llm\\b|openai|anthropic",
  // Looking for a way in.
  "vulnerab|security ?(?:scan|header|test|research)|pentest|nessus|nikto|nmap|zgrab|masscan|qualys|acunetix|openvas|sqlmap",
  "nuclei|burp|censys|shodan|detectify",
);

/** An address to complain to. */
export const contact = anyOf(
  "https?:/|\\bwww\\.[a-z0-9-]+\\.|\\+[a-z0-9-]+\\.[a-z]{2,}|mailto:|\\babuse\\b",
  // Ecosia's browser says "android@126.0".
  "(?<![\\w.-])(?!android@|ios@)[a-z][\\w.+-]{0,63}(?:@| ?[[({]at[\\])}] ?)[a-z][a-z0-9-]{1,63}[.[( ]",
);

/** A host name as a signature: "GotSiteMonitor.com", "scope3.com". Reversed names are apps: "com.google.android". */
export const hostName = new RegExp(
  "(?<![\\w.@-])(?!(?:com|net|org|io|jp|de|ru|cn|co|kr)\\.)[A-Za-z][A-Za-z0-9-]{1,40}\\." +
    "(?:com|net|org|io|co|ai|de|fr|ru|me|app|dev|info|eu|uk|cz|nl|cloud|tech|party|gy|ly|se|ch|it|es|pl|jp|biz|us|ca|" +
    "at|be|dk|fi|no|xyz|site|online)(?![\\w-])",
);

/** The phones that test tools and crawlers pretend to be; a person's browser on one adds no signature. */
export const emulated =
  /Nexus (?:5X?|6P?|7|10) Build|Moto G \(4\)|moto g power \(20\d\d\)|Galaxy Nexus Build\/IMM76B|Pixel 2(?: XL)? Build\/OPD|SM-G900P Build\/LRX21T/i;

/** The whole name that a match is a part of: "ProxyCheck" in "ProxyChecker/2.0" gives "ProxyChecker". */
export function nameAround(text: string, { 0: match, index }: RegExpExecArray): string {
  const before = /[\w.-]*$/.exec(text.slice(Math.max(0, index - 40), index))?.[0] ?? "";
  const after = /^[\w.-]*/.exec(text.slice(index + match.length, index + match.length + 40))?.[0] ?? "";
  return before + match + (/\w$/.test(match) ? after : "");
}
