// Summarizes a run of the store's tests: the files that hold, and the tests that do not.

export type Report = {
  testResults: {
    name: string;
    status: string;
    message: string;
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[];
  }[];
};

type Verdict = "holds" | "FAILS" | "NOT RUN";

/** A file holds only if at least one of its tests ran and none failed. */
function verdictOf({ status, assertionResults }: Report["testResults"][number]): Verdict {
  const has = (wanted: string) => assertionResults.some((one) => one.status === wanted);
  if (has("failed")) return "FAILS";
  if (!has("passed")) return "NOT RUN";
  return status === "failed" ? "FAILS" : "holds";
}

export function summary({ testResults }: Report, folder: string): { text: string; holds: boolean } {
  // Tests of the embedded database were left out by their name.
  const tested = testResults.filter(
    ({ status, assertionResults }) =>
      status === "failed" || assertionResults.some(({ fullName }) => !fullName.includes("sqlite")),
  );
  const lines = tested.map((file) => {
    const failed = file.assertionResults.filter((one) => one.status === "failed");
    const passed = file.assertionResults.filter((one) => one.status === "passed").length;
    const skipped = file.assertionResults.filter(
      ({ status, fullName }) => status !== "passed" && status !== "failed" && !fullName.includes("sqlite"),
    ).length;
    const head = `${verdictOf(file).padEnd(7)}  ${file.name.slice(folder.length + 1)}: ${passed} of ${passed + failed.length + skipped}`;
    const why = failed.map((one) => `           ${one.fullName}\n             ${one.failureMessages[0]?.split("\n")[0] ?? ""}`);
    if (file.message && failed.length === 0) why.push(`           ${file.message.split("\n")[0]}`);
    return [head, ...why].join("\n");
  });
  return {
    text: lines.toSorted().join("\n"),
    holds: tested.length > 0 && tested.every((file) => verdictOf(file) === "holds"),
  };
}
