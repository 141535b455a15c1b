// Hours that nobody has made yet, the running one above all, counted when somebody asks. An answer is kept for a while that
// grows with what it cost, and those who ask meanwhile share it.

import type { Figure } from "../store/statistics/statistics.ts";
import type { Store } from "../store/store.ts";
import { countHour } from "./roll.ts";

const minKeptMs = 5000;
const keptTimes = 20;
const maxKept = 500;

type Answer = { until: number; figures: Promise<Figure[]> };

export function recentHours(
  store: Pick<Store, "statistics">,
  now: () => number,
): (siteId: string, hour: number) => Promise<Figure[]> {
  const answers = new Map<string, Answer>();

  return (siteId, hour) => {
    const key = `${siteId} ${hour}`;
    const known = answers.get(key);
    if (known && known.until > now()) return known.figures;
    const startedAt = now();
    const answer: Answer = {
      until: Number.POSITIVE_INFINITY,
      figures: countHour(store, siteId, hour).then(
        ({ figures }) => {
          answer.until = now() + Math.max(minKeptMs, keptTimes * (now() - startedAt));
          return figures;
        },
        (error: unknown) => {
          answers.delete(key);
          throw error;
        },
      ),
    };
    answers.delete(key);
    const [oldest] = answers.keys();
    if (answers.size >= maxKept && oldest !== undefined) answers.delete(oldest);
    answers.set(key, answer);
    return answer.figures;
  };
}
