// Finds emails that visitors submit. The document's capture phase sees submits first. Focus events reveal forms in shadow
// roots; clicks and Enter cover fields without a form. Only email fields are ever read.

import { looksLikeEmail } from "../src/identity/email.ts";
import { listen, page, safely } from "./page.ts";
import { countInput, describeSubmit } from "./signals.ts";

type Field = HTMLInputElement;

export function watchForms(onEmail: (email: string, submit: unknown[]) => unknown): void {
  const reportEmail = (scope: ParentNode | null, event: Event) => {
    const email = scope && findEmail(scope);
    if (email) onEmail(email, describeSubmit(scope, event));
  };
  // Adding the same listener again has no effect.
  const onSubmit = (event: Event) => safely(() => reportEmail(event.target as HTMLFormElement, event));
  const watch = (root: Node) => root.addEventListener("submit", onSubmit, true);
  watch(page);
  // A submit event does not leave its shadow root; the focus event before it does.
  listen(page, "focusin", (event) => watch((event.composedPath()[0] as Element).getRootNode()));

  listen(page, "click", (event) => {
    countInput(event);
    const button = event
      .composedPath()
      .find(
        (target) =>
          target instanceof Element && target.matches("button,[type=button],[type=submit],[role=button]"),
      ) as HTMLButtonElement | undefined;
    if (button) reportEmail(findScopeWithoutSubmit(button), event);
  });
  listen(page, "keydown", (event) => {
    countInput(event);
    const field = event.composedPath()[0] as Field;
    if ((event as KeyboardEvent).key === "Enter" && field.matches("input"))
      reportEmail(findScopeWithoutSubmit(field), event);
  });
}

/** Returns what a button or field submits without a submit event: its form, or the nearest ancestor with an email. */
function findScopeWithoutSubmit(element: HTMLButtonElement | Field): ParentNode | null {
  const form = element.form;
  // A form with a submit button fires its own submit event.
  if (form) return form.querySelector("button:not([type=button]),[type=submit],[type=image]") ? null : form;
  let scope: ParentNode | null = element.parentNode;
  for (let steps = 6; scope && steps--; scope = scope.parentNode) {
    if (scope.querySelector("form")) return null;
    if (findEmail(scope)) return scope;
  }
  return null;
}

function findEmail(scope: ParentNode): string | undefined {
  const fields = (scope as HTMLFormElement).elements ?? scope.querySelectorAll("input");
  for (const field of fields as Iterable<Element> as Iterable<Field>) {
    const isEmail = /^(email|text,.*e-?mail)/i.test(
      [field.type, field.name, field.id, field.autocomplete].join(),
    );
    if (isEmail && !isIgnored(field) && looksLikeEmail(field.value)) return field.value;
  }
  return undefined;
}

/** data-cc-ignore and data-cc-trap also apply inside shadow roots. */
function isIgnored(element?: Element): boolean {
  return (
    !!element &&
    (!!element.closest("[data-cc-ignore],[data-cc-trap]") ||
      isIgnored((element.getRootNode() as ShadowRoot).host))
  );
}
