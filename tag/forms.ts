// Emails that visitors hand in. The submit event is heard on the document before anybody else; what it does not reach
// (shadow roots, buttons without a form) is heard through focus and clicks. Only an email field is ever read.

import { looksLikeEmail } from "../src/identity/email.ts";
import { listen, page } from "./page.ts";

type Field = HTMLInputElement;

export function watchForms(found: (email: string) => void): void {
  const handIn = (scope: ParentNode | null) => {
    const email = scope && emailIn(scope);
    if (email) found(email);
  };
  const onSubmit = (event: Event) => handIn(event.target as HTMLFormElement);
  listen(page, "submit", onSubmit);

  // A submit inside a shadow root stays inside; the focus that comes before it does not.
  const known = new WeakSet<Node>();
  listen(page, "focusin", (event) => {
    const root = (event.composedPath()[0] as Element).getRootNode();
    if (root === page || known.has(root)) return;
    known.add(root);
    listen(root, "submit", onSubmit);
  });

  listen(page, "click", (event) => {
    const button = event
      .composedPath()
      .find(
        (one) => one instanceof Element && one.matches("button,[type=button],[type=submit],[role=button]"),
      ) as HTMLButtonElement | undefined;
    if (button) handIn(formless(button));
  });
  listen(page, "keydown", (event) => {
    const field = event.composedPath()[0] as Field;
    if ((event as KeyboardEvent).key === "Enter" && field.matches("input")) handIn(formless(field));
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
  const fields =
    scope instanceof HTMLFormElement ? Array.from(scope.elements) : scope.querySelectorAll("input");
  for (const field of fields as Iterable<Field>) {
    const { type, name, id, autocomplete } = field;
    if (!(type === "email" || (type === "text" && /e-?mail/i.test(`${name} ${id} ${autocomplete}`))))
      continue;
    if (!isIgnored(field) && looksLikeEmail(field.value)) return field.value;
  }
  return undefined;
}

/** Marks hold through the borders of shadow roots. */
function isIgnored(element?: Element): boolean {
  return (
    !!element &&
    (!!element.closest("[data-cc-ignore]") || isIgnored((element.getRootNode() as ShadowRoot).host))
  );
}
