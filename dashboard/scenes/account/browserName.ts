// Names a browser by its user agent.

import { accountText } from "../../messages/account.ts";

const browsers: [RegExp, string][] = [
  [/Edg\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS/, "Firefox"],
  [/Chrome\/|CriOS/, "Chrome"],
  [/Safari\//, "Safari"],
];
const systems: [RegExp, string][] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X/, "macOS"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** "Chrome on macOS": enough to recognise one's own devices. */
export function browserName(userAgent: string | null): string {
  if (!userAgent) return accountText.sessions.unknownBrowser;
  const find = (list: [RegExp, string][]) => list.find(([pattern]) => pattern.test(userAgent))?.[1];
  const browser = find(browsers) ?? userAgent.split(/[/ ]/, 1)[0] ?? accountText.sessions.unknownBrowser;
  const system = find(systems);
  return system ? accountText.sessions.browserOn(browser, system) : browser;
}
