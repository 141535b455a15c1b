// Sends the reports of the tag, without a browser.

import { call, type Answer, type Relay } from "./relay.ts";

export const personsAgent =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";

/** The headers of a person's Chrome on Windows. */
export const personsHeaders = {
  "User-Agent": personsAgent,
  "Accept-Language": "de-DE,de;q=0.9",
  "Content-Type": "text/plain;charset=UTF-8",
  Accept: "*/*",
  "Sec-Fetch-Site": "same-origin",
  "Sec-CH-UA": '"Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
  "Sec-CH-UA-Platform": '"Windows"',
  "Sec-CH-UA-Mobile": "?0",
};

/** The headers of a crawler that names itself. */
export const botHeaders = {
  "User-Agent": "Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)",
};

/** The tag's observations of a person's browser: webdriver, platform, touch points, Chromium. */
export const personsBrowser = [false, "Win32", 0, true];

export type ReportBody = Record<string, unknown>;

/** Sends a report of the tag on a page of `host`; it is a person's unless `headers` or `body` differ. */
export function report(
  relay: Pick<Relay, "url">,
  host: string,
  endpoint: "visit" | "identify" | "consent" | "use" | "link",
  body: ReportBody = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  const page = `https://${host}`;
  return call(relay.url, {
    path: `/__cc/${endpoint}`,
    headers: {
      Host: host,
      Origin: page,
      "X-Forwarded-Proto": "https",
      "X-Forwarded-For": "203.0.113.77",
      ...personsHeaders,
      ...headers,
    },
    body: JSON.stringify({ browser: personsBrowser, page: `${page}/`, ...body }),
  });
}

/** Returns the header that sends the visitor's cookie of an answer back. */
export function cookieOf(answer: Answer): Record<string, string> {
  const [cookie] = answer.headers["set-cookie"] ?? [];
  return cookie ? { Cookie: cookie.split(";", 1)[0] as string } : {};
}
