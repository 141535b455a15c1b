// The words and signatures of bots in user agents.

const anyOf = (...patterns: string[]) => new RegExp(patterns.join("|"), "i");

/** A name with a bot's ending, or one of Google's names. Proof, except inside a phone's model. */
export const botSignature = anyOf(
  "(?:^|[^a-z])(?!cubot|botech)[\\w.!+-]{0,40}?(?<!cu)(?:bots?|b0t|crawlers?|crawling|spiders?|spyder|scrapers?|scrapy)(?![a-z])",
  "\\w[\\w-]{0,30}-Google\\b",
  "\\bGoogle-(?!TV)[A-Z]\\w{2,30}",
);

const subjects = "link|url|site|page|web|http|proxy|rank|seo|feed|rss|domain|server|cookie|broken|dead";
const actions =
  "check|valid|verif|scan|walk|monitor|watch|audit|index|analy|inspect|test|preview|extract|grab|collect|dump|copi|copy|" +
  "strip|suck|thumb|shot|map";
const libraries =
  "curl|wget|libwww|lwp|urllib|httpx?|httpclient|http-client|okhttp|axios|node-fetch|undici|python|perl|ruby|java|php|" +
  "golang|go-http|guzzle|winhttp|wininet|aiohttp|mechanize|jakarta|cfnetwork|powershell|restsharp|postmanruntime|insomnia|" +
  "faraday|typhoeus|reqwest|colly|jsoup";

/** Activities of bots. Not proof: an app may have such a name. */
export const botActivity = anyOf(
  "crawl|spider|scrap(?:e|ing|y)|slurp|harvest|archiv|heritrix|nutch|robot|fetch|sniff|prob(?:e|ing)\\b",
  `(?<!\\w)(?:${subjects})[-_ ]?(?:${actions})`,
  `\\b(?:${libraries})\\b`,
  // Monitoring, performance tests, screenshots.
  "(?<!cam)scan(?:ner|ning)?(?![a-z])|monitor|checker|validat|verif(?:y|ier|ication)|preview|thumbnail|screenshot|snapshot",
  "favicon|uptime|synthetic|lighthouse|page-?speed|gtmetrix|webpagetest|\\bptst\\b|pingdom|\\bping\\b|healthcheck|status ?cake",
  "gomez|keynote|catchpoint|appdynamics|alertsite|webmetrics|dynatrace|wkhtml|cutycapt|webkit2png|browsershots|pdfcrowd",
  "\\b(?:test|testing|tester|automation|automated|benchmark|loadtest|browserstack|saucelabs)\\b",
  // Copying.
  "(?<!app)indexer|extract(?:or|ion)|collector|download(?:er)?\\b|grabber|parser|resolver|detector|discovery\\b|analy[sz]er",
  "auditor|inspector|optimizer|survey|research|measurement|transcoder|translat(?:or|e)\\b|prefetch|prerender",
  "render(?:er|ing)\\b|image-?proxy|mail-?proxy|\\bproxy\\b|\\bvia \\S+\\.\\w",
  // Feed readers and assistants.
  "feed(?:er|ly|bin|fetch|burner|parser|reader|ster|demon)|\\brss\\b|subscribers?\\b|podcast|sitemap|\\bseo\\b|backlink",
  "plagiari|copyright|brandwatch|\\bms-?office\\b|microsoft (?:outlook|office|excel|word)\\b",
  "[a-z]-?agent\\b|\\bagent[-/]|\\bai[-_ ]?(?:agent|search|assistant|crawl)|gpt|llm\\b|openai|anthropic",
  // Security scanners.
  "vulnerab|security ?(?:scan|header|test|research)|pentest|nessus|nikto|nmap|zgrab|masscan|qualys|acunetix|openvas|sqlmap",
  "nuclei|burp|censys|shodan|detectify",
);

/** A contact address. */
export const contactAddress = anyOf(
  "https?:/|\\bwww\\.[a-z0-9-]+\\.|\\+[a-z0-9-]+\\.[a-z]{2,}|mailto:|\\babuse\\b",
  // Ecosia's browser sends "android@126.0".
  "(?<![\\w.-])(?!android@|ios@)[a-z][\\w.+-]{0,63}(?:@| ?[[({]at[\\])}] ?)[a-z][a-z0-9-]{1,63}[.[( ]",
);

/** A host name as a signature: "GotSiteMonitor.com", "scope3.com". Reversed names are apps: "com.google.android". */
export const hostNameSignature = new RegExp(
  "(?<![\\w.@-])(?!(?:com|net|org|io|jp|de|ru|cn|co|kr)\\.)[A-Za-z][A-Za-z0-9-]{1,40}\\." +
    "(?:com|net|org|io|co|ai|de|fr|ru|me|app|dev|info|eu|uk|cz|nl|cloud|tech|party|gy|ly|se|ch|it|es|pl|jp|biz|us|ca|" +
    "at|be|dk|fi|no|xyz|site|online)(?![\\w-])",
);

/** Phones that test tools and crawlers emulate; an ordinary browser on one adds no signature. */
export const emulatedPhone =
  /Nexus (?:5X?|6P?|7|10) Build|Moto G \(4\)|moto g power \(20\d\d\)|Galaxy Nexus Build\/IMM76B|Pixel 2(?: XL)? Build\/OPD|SM-G900P Build\/LRX21T/i;

/** Returns the whole name around a match: "ProxyCheck" in "ProxyChecker/2.0" gives "ProxyChecker". */
export function nameAround(text: string, { 0: match, index }: RegExpExecArray): string {
  const before = /[\w.-]*$/.exec(text.slice(Math.max(0, index - 40), index))?.[0] ?? "";
  const after = /^[\w.-]*/.exec(text.slice(index + match.length, index + match.length + 40))?.[0] ?? "";
  return before + match + (/\w$/.test(match) ? after : "");
}
