// Reports signs of automation; the relay judges them. None of them identifies a person.

import { agent } from "./page.ts";

/** The number of key presses, clicks and touches that no script made. */
let inputs = 0;

export function countInput({ isTrusted }: Event): void {
  inputs += +isTrusted;
}

/** src/collect/payload.ts reads the values in this order. */
export const readBrowser = () => [
  agent.webdriver,
  agent.platform,
  agent.maxTouchPoints,
  // Only Chromium has this property.
  "userAgentData" in agent,
];

/** Describes how a form was submitted. */
export const describeSubmit = (scope: ParentNode, event: Event) => [
  // Milliseconds since the page was loaded.
  event.timeStamp,
  inputs,
  !event.isTrusted,
  // How the page was used, as the second part of the tag saw it.
  (window as unknown as { cc: { use?: (scope: ParentNode) => unknown } }).cc.use?.(scope),
];
