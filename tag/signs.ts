// Signs of automation, as they are: the relay judges. Nothing here tells one person from another.

import { agent } from "./page.ts";

/** Keys and clicks (touches are clicks too) that a person made, not a script. */
let inputs = 0;

export function countInput({ isTrusted }: Event): void {
  inputs += +isTrusted;
}

/** By tools that still run in browsers of today. */
const leftBehind = ["Cypress", "__nightmare"];

/** In this order, see src/collect/payload.ts. */
export const browser = () => [
  agent.webdriver,
  leftBehind.filter((name) => name in window).join(),
  agent.platform,
  agent.maxTouchPoints,
  // A page that is zoomed out is larger than its window too; then a pixel is smaller.
  outerWidth && innerWidth > outerWidth && devicePixelRatio >= 1,
];

/** How a form was handed in. */
export const submitted = (scope: ParentNode, event: Event) => [
  // From the start of the page.
  event.timeStamp,
  inputs,
  !event.isTrusted,
  scope.querySelector<HTMLInputElement>("[data-cc-trap]")?.value,
];
