// Copies a text. Browsers offer the clipboard to pages with HTTPS alone; elsewhere the text is selected and copied as by hand.

/** Returns false if the user has to press Ctrl+C; then the text is selected beside `near`. */
export async function copyText(text: string, near: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copySelected(text, near);
  }
}

function copySelected(text: string, near: HTMLElement): boolean {
  const field = document.createElement("textarea");
  field.value = text;
  field.readOnly = true;
  field.className = "cc-hidden";
  field.ariaLabel = text;
  // Inside of the dialog that may hold the focus.
  near.after(field);
  field.select();
  const isCopied = document.execCommand("copy");
  if (isCopied) {
    field.remove();
    near.focus();
  } else field.addEventListener("blur", () => field.remove());
  return isCopied;
}
