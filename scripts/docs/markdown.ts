// Writes the Markdown of generated pages.

export const page = (parts: readonly string[]) => `${parts.filter(Boolean).join("\n\n")}\n`;
export const code = (language: string, text: string) => `\`\`\`${language}\n${text}\n\`\`\``;
const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("\n", " ");
export const table = (head: readonly string[], rows: readonly (readonly string[])[]) =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");
