// Reads a CSV file as a spreadsheet does.

/** Splits a file into cells: a quote counts only where it begins one. */
export function cellsOf(csv: string, separator: string): string[] {
  const cells: string[] = [];
  let cell = "";
  let isQuoted = false;
  for (let at = 0; at < csv.length; at++) {
    const sign = csv[at] as string;
    if (sign === '"' && isQuoted && csv[at + 1] === '"') cell += csv[++at];
    else if (sign === '"' && (isQuoted || cell === "")) isQuoted = !isQuoted;
    else if (!isQuoted && (sign === separator || sign === "\n" || sign === "\r")) {
      cells.push(cell);
      cell = "";
    } else cell += sign;
  }
  return [...cells, cell];
}

/** True if a spreadsheet would calculate the cell. An amount below zero is a number. */
export const isFormula = (cell: string) => /^\s*[=+\-@＝＋－＠]/.test(cell) && !/^-?\d+(?:\.\d+)?$/.test(cell);
