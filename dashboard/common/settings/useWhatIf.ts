// Asks what changed settings would have done with stored events, part by part, and adds the parts up.

import { useEffect, useRef, useState } from "react";
import { addDifferences, maxWhatIfExamples, noDifferences, type Differences } from "../../../src/contract/whatIf/differences.ts";
import { ApiError, call, type Answer, type Input } from "../api/api.ts";

const route = "POST /sites/:site/what-if";
type Part = Answer<typeof route>;
export type Question = Omit<Input<typeof route>["body"], "cursor">;

export type WhatIfAnswer = Pick<Part, "examples" | "notes" | "progress" | "isComplete"> & { differences: Differences };

export function useWhatIf(site: string) {
  const [answer, setAnswer] = useState<WhatIfAnswer | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const [state, setState] = useState<"idle" | "running" | "stopped" | "done">("idle");
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);

  async function run(question: Question): Promise<void> {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    setState("running");
    setError(null);
    setAnswer(null);
    let sum: WhatIfAnswer | null = null;
    try {
      for (let cursor: string | null | undefined; cursor !== null;) {
        const body: Input<typeof route>["body"] = { ...question, ...(cursor === undefined ? {} : { cursor }) };
        const part: Part = await call(route, { params: { site }, body }, own.signal);
        if (own.signal.aborted) return;
        sum = withPart(sum, part);
        setAnswer(sum);
        cursor = part.next;
      }
      setState("done");
    } catch (failure) {
      if (own.signal.aborted) return;
      setState("idle");
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    }
  }

  return {
    answer,
    error,
    state,
    run,
    stop: () => {
      running.current?.abort();
      setState("stopped");
    },
  };
}

function withPart(sum: WhatIfAnswer | null, part: Part): WhatIfAnswer {
  const differences = noDifferences();
  if (sum) addDifferences(differences, sum.differences);
  addDifferences(differences, part.differences);
  const examples = [...(sum?.examples ?? []), ...part.examples].slice(0, maxWhatIfExamples);
  return { ...part, differences, examples };
}
