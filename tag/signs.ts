// Signs of automation, as they are: the relay judges. Nothing here tells one person from another.

import { agent } from "./page.ts";

/** Keys and clicks (touches are clicks too) that a person made, not a script. */
let inputs = 0;

export function countInput({ isTrusted }: Event): void {
  inputs += +isTrusted;
}

/** In this order, see src/collect/payload.ts. */
export const browser = () => [
  agent.webdriver,
  // A tool that drives browsers from inside the page, without that flag.
  "Cypress" in window,
  agent.platform,
  agent.maxTouchPoints,
  // Only Chromium has it, whatever the user agent says.
  "userAgentData" in agent,
];

/** How a form was handed in. Of the trap only whether it holds something: it may be somebody's own words. */
export const submitted = (scope: ParentNode, event: Event) => [
  // From the start of the page.
  event.timeStamp,
  inputs,
  !event.isTrusted,
  [...scope.querySelectorAll<HTMLInputElement>("[data-cc-trap],[data-cc-trap] *")].some((field) =>
    field.type === "checkbox" ? field.checked : field.value,
  ),
];
