/** Replaces a part of a module's text, which must occur exactly once: else the change would say something else than it seems to. */
export function replaceOnce(text: string, find: string, replace: string, file: string): string {
  const parts = text.split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`);
  return parts.join(replace);
}
