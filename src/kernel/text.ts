/** "1 note", "2 notes"; `many` for irregular plurals and for verbs: "1 delivery waits", "2 deliveries wait". */
export const countOf = (count: number, one: string, many = `${one}s`) =>
  `${count} ${count === 1 ? one : many}`;

export const escapeHtml = (text: string) =>
  text.replaceAll(/[&<>"']/g, (sign) => `&#${sign.codePointAt(0)};`);
