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
  // An automation tool that does not set `webdriver`.
  "Cypress" in window,
  agent.platform,
  agent.maxTouchPoints,
  // Only Chromium has this property.
  "userAgentData" in agent,
];

/** Describes how a form was submitted. Reports whether a trap field is filled in, never its content. */
export const describeSubmit = (scope: ParentNode, event: Event) => [
  // Milliseconds since the page was loaded.
  event.timeStamp,
  inputs,
  !event.isTrusted,
  [...scope.querySelectorAll<HTMLInputElement>("[data-cc-trap],[data-cc-trap] *")].some((field) =>
    field.type === "checkbox" ? field.checked : field.value,
  ),
];
