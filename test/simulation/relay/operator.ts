// What people do while the relay runs: they change consent, pause connections, erase people, release and replay.

import { releaseEvent } from "../../../src/delivery/release.ts";
import { replay } from "../../../src/delivery/replay.ts";
import { erasePerson, setConsent } from "../../../src/identity/people.ts";
import { pause, resume } from "../../../src/sites/connect.ts";
import type { Rules } from "../checks/rules.ts";
import type { Random } from "../runtime/random.ts";
import type { World } from "../runtime/world.ts";
import { emailSha256Of, everyone, type SimulatedSite } from "./base.ts";
import type { RelayNode } from "./node.ts";

export const actionKinds = ["refuse consent", "grant consent", "pause", "erase", "release", "replay"] as const;
export type ActionKind = (typeof actionKinds)[number];

type OperatorOptions = {
  world: World;
  random: Random;
  rules: Rules;
  sites: readonly SimulatedSite[];
  findNode: () => RelayNode | null;
};

export class Operator {
  readonly #options: OperatorOptions;
  /** Actions under way. */
  open = 0;

  constructor(options: OperatorOptions) {
    this.#options = options;
  }

  act(kind: ActionKind): void {
    const { world, random, sites, findNode } = this.#options;
    const node = findNode();
    if (!node) return;
    const site = random.pick(sites);
    world.log("operator", kind);
    this.#run(node, () => this.#perform(kind, node, site));
  }

  /** Resumes connections that do not work, again and again; to be called when the faults have stopped. */
  keepResuming(): void {
    const { world, sites, findNode } = this.#options;
    const again = (ms: number) => world.after(ms, "operator looks", () => this.keepResuming());
    const node = findNode();
    if (!node) return void again(200);
    const { services, process } = node;
    const resumeAll = async () => {
      for (const { id: siteId, connections } of sites)
        for (const { id } of connections) {
          const connection = await services.directory.connectionNow(siteId, id);
          if (connection?.state === "active") continue;
          await resume(services, { siteId, id }, { actor: "operator", now: process.clock() });
        }
    };
    this.#run(
      node,
      resumeAll,
      () => again(300),
      () => again(1000),
    );
  }

  #run(
    { process }: RelayNode,
    work: () => Promise<unknown>,
    onFailure: () => void = () => {},
    onSuccess: () => void = () => {},
  ): void {
    const { world } = this.#options;
    this.open += 1;
    const end = () => void (this.open -= 1);
    // A process that dies answers nothing.
    const died = () => {
      end();
      onFailure();
    };
    process.onEnd.add(died);
    process.run(() => {
      work().then(
        () => {
          if (!process.onEnd.delete(died)) return;
          end();
          onSuccess();
        },
        (error: unknown) => {
          world.log("operator", `fails: ${String(error)}`);
          if (!process.onEnd.delete(died)) return;
          end();
          onFailure();
        },
      );
    });
  }

  async #perform(kind: ActionKind, { services, process }: RelayNode, site: SimulatedSite): Promise<void> {
    const { world, random, rules } = this.#options;
    const { store, directory } = services;
    const by = { actor: "operator", now: process.clock() };
    const person = emailSha256Of(random.pick(everyone));
    const request = { siteId: site.id, emailSha256: person, ...by };
    const known = directory.site(site.id);
    if (!known) return;
    switch (kind) {
      case "refuse consent": {
        const since = world.now;
        await setConsent(store, request, "denied");
        return rules.onRefused(site.id, person, since);
      }
      case "grant consent":
        rules.onGranting(site.id, person);
        await setConsent(store, request, "granted");
        return rules.onGranted(site.id, person);
      case "pause": {
        const { id } = random.pick(site.connections);
        const connection = { siteId: site.id, id };
        await pause(services, connection, by);
        return void world.after(random.between(50, 1500), "resume", () => {
          const node = this.#options.findNode();
          if (node) this.#run(node, () => resume(node.services, connection, { ...by, now: node.process.clock() }));
        });
      }
      case "erase": {
        const events = rules.eventsOf(site.id, person);
        await erasePerson(store, request);
        return rules.onErased(events);
      }
      case "release": {
        const filtered = [...rules.ledger.events.values()].filter((one) => one.siteId === site.id && one.status === "filtered");
        if (filtered.length === 0) return;
        const event = await store.events.get(site.id, random.pick(filtered).id);
        if (!event || event === "damaged" || event.status !== "filtered") return;
        rules.onReleasing(site.id, event.id);
        return void (await releaseEvent(services, known, event, by));
      }
      case "replay":
        rules.onReplay(site.id);
        return void (await replay(services, known, {}, { ...by, dryRun: false }));
    }
  }
}
