// Finds emails that visitors submit. The document's capture phase sees submits first. Focus events reveal forms in shadow
// roots; clicks and Enter cover fields without a form. Only email fields are ever read.

import { looksLikeEmail } from "../src/identity/email.ts";
import { mayIdentify } from "./consent.ts";
import { listen, loadSecondPart, page, safely } from "./page.ts";
import { countInput, describeSubmit } from "./signals.ts";

type Field = HTMLInputElement;

export function watchForms(onEmail: (email: string, submit: unknown[]) => unknown): void {
  const reportEmail = (scope: ParentNode | undefined, event: Event) => {
    const email = scope && findEmail(scope);
    if (email) onEmail(email, describeSubmit(scope, event));
  };
  // Adding the same listener again has no effect.
  const onSubmit = (event: Event) => safely(() => reportEmail(event.target as HTMLFormElement, event));
  const watch = (root: Node) => root.addEventListener("submit", onSubmit, true);
  watch(page);
  // A submit event does not leave its shadow root; the focus event before it does.
  listen(page, "focusin", (event) => {
    const field = event.composedPath()[0] as Field;
    watch(field.getRootNode());
    if (isEmailField(field) && mayIdentify()) loadSecondPart();
  });

  listen(page, "click", (event) => {
    countInput(event);
    const button = event
      .composedPath()
      .find((target) => (target as Partial<Element>).matches?.("button,[type=button],[type=submit],[role=button]")) as
      | HTMLButtonElement
      | undefined;
    if (button) reportEmail(findScopeWithoutSubmit(button), event);
  });
  listen(page, "keydown", (event) => {
    countInput(event);
    const field = event.composedPath()[0] as Field;
    if ((event as KeyboardEvent).key === "Enter" && field.matches("input")) reportEmail(findScopeWithoutSubmit(field), event);
  });
}

/** Returns what a button or field submits without a submit event: its form, or the nearest ancestor with an email. */
function findScopeWithoutSubmit(element: HTMLButtonElement | Field): ParentNode | undefined {
  const form = element.form;
  // A form with a submit button fires its own submit event.
  if (form) return form.querySelector("button:not([type=button]),[type=submit],[type=image]") ? undefined : form;
  let scope: ParentNode | null = element.parentNode;
  for (let steps = 6; scope && steps-- && !scope.querySelector("form"); scope = scope.parentNode)
    if (findEmail(scope)) return scope;
  return undefined;
}

const isEmailField = (field: Field) =>
  /^(email|text,.*e-?mail)/i.test([field.type, field.name, field.id, field.autocomplete].join()) && !isIgnored(field);

const findEmail = (scope: ParentNode): string | undefined =>
  ([...((scope as HTMLFormElement).elements ?? scope.querySelectorAll("input"))] as Field[]).find(
    (field) => isEmailField(field) && looksLikeEmail(field.value),
  )?.value;

/** data-cc-ignore and data-cc-trap also apply inside shadow roots. */
const isIgnored = (element?: Element): unknown =>
  element && (element.closest("[data-cc-ignore],[data-cc-trap]") || isIgnored((element.getRootNode() as ShadowRoot).host));
