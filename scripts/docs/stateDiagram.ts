// Draws the states of a delivery from the model in test/deliveryModel: a line for every change of state that some order of
// its steps leads to.

import { deliveryStates, type DeliveryState } from "../../src/kernel/event.ts";
import { explorations, graphOf } from "../../test/deliveryModel/explorations.ts";
import type { Steps } from "../../test/deliveryModel/explore.ts";
import type { World } from "../../test/deliveryModel/model.ts";

/** Returns the Mermaid block of the states. */
function stateDiagram(): string {
  const name = "one delivery, shared database";
  const { begun, table }: { begun: readonly World[]; table: Steps } = explorations[name];
  const { worlds, edges } = graphOf(name);
  const stateOf = (world: World | undefined) => world?.deliveries[0]?.state as DeliveryState;
  const causes = new Map<string, Set<string>>();
  for (const [step, { cause }] of Object.entries(table)) {
    if (cause === undefined) continue;
    for (const edge of edges) {
      if (edge.name !== step) continue;
      const [before, after] = [worlds[edge.from], worlds[edge.to]];
      const change = `${stateOf(before)} --> ${stateOf(after)}`;
      if (causes.get(change)?.has(cause)) continue;
      // A settlement that another node's came before changes nothing.
      if (JSON.stringify(before?.deliveries) === JSON.stringify(after?.deliveries)) continue;
      causes.set(change, (causes.get(change) ?? new Set()).add(cause));
    }
  }
  const order = (change: string) =>
    change
      .split(" --> ")
      .map((state) => deliveryStates.indexOf(state as DeliveryState))
      .join(" ");
  const changes = [...causes].toSorted(([one], [other]) => (order(one) < order(other) ? -1 : 1));
  return [
    "stateDiagram-v2",
    "  direction LR",
    ...new Set(begun.map((world) => `  [*] --> ${stateOf(world)}`)),
    ...changes.map(([change, found]) => `  ${change}: ${listOf([...found])}`),
  ].join("\n");
}

/** Puts the drawing into a page that has one of states. */
export const withStateDiagram = (markdown: string) =>
  markdown.replace(/```mermaid\nstateDiagram-v2\n[^]*?\n```/, () => `\`\`\`mermaid\n${stateDiagram()}\n\`\`\``);

const listOf = (words: readonly string[]) =>
  words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
