// The checklist of a new site. It disappears once all steps are done; its code is loaded only before that.

import { lazy, Suspense } from "react";
import type { Answer } from "../../common/api/api.ts";
import { useApi } from "../../common/api/query.ts";
import { withTexts } from "../../messages/catalogue/catalogue.ts";

const FirstSteps = lazy(withTexts(() => import("./FirstSteps.tsx")));

const areDone = (answer: Answer<"GET /sites/:site/checklist"> | undefined) => answer?.steps.every(({ done }) => done) ?? false;

export function Checklist({ site }: { site: string }) {
  const { data } = useApi(
    "GET /sites/:site/checklist",
    { params: { site } },
    { everyMs: (answer) => (areDone(answer) ? false : 15_000) },
  );
  if (!data || areDone(data)) return null;
  return (
    <Suspense fallback={null}>
      <FirstSteps site={site} steps={data.steps} />
    </Suspense>
  );
}
