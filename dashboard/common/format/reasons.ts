// Plain text for the reasons of verdicts and filters. A reason is stored as "category:name (evidence)".

const names: Record<string, string> = {
  "user agent:named bot": "Known bot",
  "user agent:ad reviewer": "Ad reviewer",
  "user agent:AI agent": "AI assistant",
  "user agent:headless browser": "Headless browser",
  "user agent:not a browser": "Not a browser",
  "user agent:none": "No user agent",
  "user agent:looks like a bot": "Looks like a bot",
  "automation:webdriver": "Automated browser",
  "automation:automation tool": "Test automation",
  "automation:headless hints": "Headless browser",
  "headers:no language": "No language",
  "headers:no fetch metadata": "No fetch metadata",
  "headers:no client hints": "No client hints",
  "network:fake crawler": "Fake crawler",
  "network:hosting": "Hosting network",
  "network:many visits": "Many visits from one network",
  "network:flood": "Flood of visits from one network",
  "network:many emails": "Many emails from one network",
  "velocity:visitor in a hurry": "Too many pages per minute",
  "velocity:many emails of one visitor": "Many emails of one visitor",
  "click id:used by many": "Click id used by many visitors",
  "behaviour:too fast": "Too fast for a person",
  "behaviour:made by a script": "Form sent by a script",
  "behaviour:no interaction": "Form sent without typing",
  "tag:report without it": "Report without the tag",
  "trap:hidden field filled in": "Hidden field filled in",
  "contradiction:independent contradictions": "Contradictory browser details",
  "site rule:denied": "Denied by your rules",
  "blocked domain": "Blocked email domain",
  "disposable domain": "Disposable email",
  "blocked person": "Blocked person",
  "only bot visits": "Only bot visits",
};

const pattern = /^(.*?)(?: \((.*)\))?$/s;

/** Turns "user agent:named bot (AhrefsBot)" into "Known bot: AhrefsBot". A reason without a name here stays as it is. */
export function reasonText(reason: string): string {
  const [, code = reason, evidence] = pattern.exec(reason) ?? [];
  const withDetail = (name: string, detail: string | undefined) => (detail ? `${name}: ${detail}` : name);
  if (names[code]) return withDetail(names[code], evidence);
  const [category = "", ...rest] = reason.split(":");
  const detail = rest.join(":");
  if (category === "contradiction") return withDetail("Contradictory browser details", detail);
  if (names[category]) return withDetail(names[category], detail);
  const rule = /^site rule:denied (.*)$/s.exec(reason);
  if (rule) return withDetail("Denied by your rules", rule[1]);
  return reason.replace(/:\s*/, ": ");
}

export type FilterReason = { code: string; detail: string | null };

/** Returns a text like "Blocked email domain: spam.example". The detail of "only bot visits" is the reason of a verdict. */
export function filterReasonText({ code, detail }: FilterReason): string {
  const name = names[code] ?? code;
  if (detail === null) return name;
  return `${name}: ${code === "only bot visits" ? reasonText(detail) : detail}`;
}
