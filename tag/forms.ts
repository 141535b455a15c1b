// Emails that visitors hand in. The submit event is heard on the document before anybody else; what it does not reach
// (shadow roots, buttons without a form) is heard through focus and clicks. Only an email field is ever read.

import { looksLikeEmail } from "../src/identity/email.ts";
import { listen, page, quietly } from "./page.ts";
import { countInput, submitted } from "./signs.ts";

type Field = HTMLInputElement;

export function watchForms(found: (email: string, submit: unknown[]) => unknown): void {
  const handIn = (scope: ParentNode | null, event: Event) => {
    const email = scope && emailIn(scope);
    if (email) found(email, submitted(scope, event));
  };
  // Heard once however often it is asked for: the same listener counts once.
  const onSubmit = (event: Event) => quietly(() => handIn(event.target as HTMLFormElement, event));
  const hear = (root: Node) => root.addEventListener("submit", onSubmit, true);
  hear(page);
  // A submit inside a shadow root stays inside; the focus that comes before it does not.
  listen(page, "focusin", (event) => hear((event.composedPath()[0] as Element).getRootNode()));

  listen(page, "click", (event) => {
    countInput(event);
    const button = event
      .composedPath()
      .find(
        (one) => one instanceof Element && one.matches("button,[type=button],[type=submit],[role=button]"),
      ) as HTMLButtonElement | undefined;
    if (button) handIn(formless(button), event);
  });
  listen(page, "keydown", (event) => {
    countInput(event);
    const field = event.composedPath()[0] as Field;
    if ((event as KeyboardEvent).key === "Enter" && field.matches("input")) handIn(formless(field), event);
  });
}

/** Where a button without a working form gets its data from: the nearest surrounding part that has an email field. */
function formless(element: HTMLButtonElement | Field): ParentNode | null {
  const form = element.form;
  // A form with a submit button speaks for itself.
  if (form) return form.querySelector("button:not([type=button]),[type=submit],[type=image]") ? null : form;
  let scope: ParentNode | null = element.parentNode;
  for (let steps = 6; scope && steps--; scope = scope.parentNode) {
    if (scope.querySelector("form")) return null;
    if (emailIn(scope)) return scope;
  }
  return null;
}

function emailIn(scope: ParentNode): string | undefined {
  const fields = (scope as HTMLFormElement).elements ?? scope.querySelectorAll("input");
  for (const field of fields as Iterable<Element> as Iterable<Field>) {
    const isEmail = /^(email|text,.*e-?mail)/i.test(
      [field.type, field.name, field.id, field.autocomplete].join(),
    );
    if (isEmail && !isIgnored(field) && looksLikeEmail(field.value)) return field.value;
  }
  return undefined;
}

/** Marks hold through the borders of shadow roots. */
function isIgnored(element?: Element): boolean {
  return (
    !!element &&
    (!!element.closest("[data-cc-ignore],[data-cc-trap]") ||
      isIgnored((element.getRootNode() as ShadowRoot).host))
  );
}
