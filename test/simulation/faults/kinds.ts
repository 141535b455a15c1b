// The faults that a seed may have. Each begins at a moment, and ends by itself or when the faults stop.

import { SqliteError, type DatabaseFile } from "../database/file.ts";
import type { Cluster } from "../database/cluster.ts";
import type { Internet } from "../network/internet.ts";
import type { Outages } from "../network/platforms.ts";
import type { SimulatedConnection } from "../relay/base.ts";
import type { Station } from "../relay/fleet.ts";
import { faultsByPlace } from "../runtime/occurrences.ts";
import type { Scenario } from "../scenario.ts";
import type { Random } from "../runtime/random.ts";
import type { World } from "../runtime/world.ts";

/** What faults can reach. `file` or `cluster` is there, depending on the engine. */
export type FaultContext = {
  world: World;
  random: Random;
  stations: readonly Station[];
  file: DatabaseFile | null;
  cluster: Cluster | null;
  internet: Internet;
  connections: readonly SimulatedConnection[];
  outages: Outages;
  clocks: Scenario["clocks"];
  disk: { flushMs: () => number; nextError: Error | null; hasFailed: boolean };
  /** True when the faults have stopped. */
  isOver: () => boolean;
};

type Engine = "sqlite" | "postgres";
type Kind = { name: string; engines: readonly Engine[]; begin: (context: FaultContext) => void };

const both: readonly Engine[] = ["sqlite", "postgres"];

const hourMs = 3_600_000;

/** Runs `end` after a while, or not at all when the faults have stopped: then everything is healed anyway. */
function endAfter({ world, isOver }: FaultContext, ms: number, end: () => void): void {
  world.after(ms, "fault ends", () => {
    if (!isOver()) end();
  });
}

const kinds = [
  {
    name: "crash",
    engines: both,
    begin({ random, stations, world }) {
      const station = random.pick(stations);
      const { process } = station;
      if (!process?.isAlive) return;
      const effects = 1 + random.below(random.pick([15, 80]));
      process.death = { atEffect: process.effects + effects, isAfter: random.chance(0.5) };
      // Sometimes nothing starts it again before its lease ends.
      if (random.chance(0.3)) station.downUntil = world.now + random.between(500, 4500);
    },
  },
  {
    name: "restart",
    engines: both,
    begin: ({ random, stations }) => random.pick(stations).stop(),
  },
  {
    name: "pause",
    engines: both,
    begin({ random, stations }) {
      const { process } = random.pick(stations);
      if (!process?.isAlive) return;
      const beyondLeaseMs = random.between(3000, 6000);
      const ms = random.pick([random.between(50, 800), random.between(800, 2500), beyondLeaseMs]);
      // In the middle of its work with the database, or of a call to a platform, or at any moment.
      const by = random.pick(["statement", "statement", "call", "call", null] as const);
      if (by === null) return process.suspend(ms);
      const effects = 1 + random.below(by === "call" ? 100 : 40);
      const atEffect = process.effects + effects;
      process.suspension = { atEffect, by, ms: by === "call" ? beyondLeaseMs : ms };
    },
  },
  {
    name: "clock jump",
    engines: both,
    begin({ random, stations }) {
      const { machine } = random.pick(stations);
      machine.setClock(Math.round(random.between(-5000, 5000)));
    },
  },
  {
    name: "wrong clock",
    engines: both,
    begin(context) {
      const { random, stations, clocks } = context;
      const station = random.pick(stations);
      const hours = clocks === "behind" ? -random.between(2, 4) : random.between(0.5, 3) * random.pick([1, 1, -1]);
      station.machine.setClock(Math.round(hours * hourMs));
      // In some seeds it is corrected only when the faults stop.
      if (random.chance(0.7)) endAfter(context, random.between(100, 1500), () => station.correctClock());
    },
  },
  {
    name: "platform outage",
    engines: both,
    begin(context) {
      const { random, connections, outages } = context;
      const { id } = random.pick(connections);
      outages.set(id, { fault: random.pick(faultsByPlace["platform outage"]), isNoticed: false });
      endAfter(context, random.between(300, 2500), () => outages.delete(id));
    },
  },
  {
    name: "no way to platforms",
    engines: both,
    begin(context) {
      const { random, stations, internet } = context;
      const { machine } = random.pick(stations);
      const usual = internet.connect;
      const broken = random.pick(["ECONNREFUSED", "ENOTFOUND", "UND_ERR_CONNECT_TIMEOUT"]);
      internet.connect = (process) => (process.machine === machine ? { ms: 5, broken } : usual(process));
      endAfter(context, random.between(100, 1500), () => (internet.connect = usual));
    },
  },
  {
    name: "power cut",
    engines: ["sqlite"],
    begin({ random, stations, file, world }) {
      const [station] = stations;
      if (!station || !file) return;
      station.kill();
      const lost = random.below(file.unflushed + 1);
      world.log(station.machine.name, `loses power, and ${lost} of ${file.unflushed} commits`);
      world.occurred.add("embedded database", "power cut");
      world.occurred.add("embedded database", "commit lost in a power cut", lost);
      file.cutPower(lost);
    },
  },
  {
    name: "full disk",
    engines: ["sqlite"],
    begin(context) {
      const { random, file } = context;
      if (!file) return;
      file.failure = new SqliteError(random.pick([13, 10]), "the disk fails");
      // A single write fails, or all for a while.
      file.passing = random.chance(0.5) ? random.below(6) : null;
      endAfter(context, random.between(50, 1500), () => (file.failure = null));
    },
  },
  {
    name: "failed flush",
    engines: ["sqlite"],
    begin(context) {
      const { random, disk, stations } = context;
      disk.hasFailed = true;
      disk.nextError = Object.assign(new Error("EIO: i/o error, fdatasync"), { code: "EIO" });
      // The relay refuses writes until a restart, and says so.
      endAfter(context, random.between(300, 1500), () => stations[0]?.kill());
    },
  },
  {
    name: "slow disk",
    engines: ["sqlite"],
    begin(context) {
      const { random, disk, world } = context;
      const usual = disk.flushMs;
      disk.flushMs = () => {
        world.occurred.add("embedded database", "slow flush");
        return random.between(30, random.pick([200, 1000]));
      };
      endAfter(context, random.between(300, 1500), () => (disk.flushMs = usual));
    },
  },
  {
    name: "slow commits",
    engines: ["postgres"],
    begin(context) {
      const { random, cluster, world } = context;
      if (!cluster) return;
      const { commitMs } = cluster.faults;
      cluster.faults.commitMs = () => {
        if (random.chance(0.5)) return commitMs();
        world.occurred.add("PostgreSQL", "slow commit");
        return random.between(30, 2000);
      };
      endAfter(context, random.between(300, 2000), () => (cluster.faults.commitMs = commitMs));
    },
  },
  {
    name: "lost commits",
    engines: ["postgres"],
    begin(context) {
      const { random, cluster } = context;
      if (!cluster) return;
      const rate = random.pick([0.1, 0.4]);
      cluster.faults.commitFault = () => (random.chance(rate) ? random.pick(["before", "after"] as const) : null);
      endAfter(context, random.between(300, 2000), () => (cluster.faults.commitFault = () => null));
    },
  },
  {
    name: "failing statements",
    engines: ["postgres"],
    begin(context) {
      const { random, cluster } = context;
      if (!cluster) return;
      const code = random.pick(["40001", "40P01", "57P01", "53300"]);
      cluster.faults.statementFault = () => (random.chance(0.1) ? code : null);
      endAfter(context, random.between(150, 1200), () => (cluster.faults.statementFault = () => null));
    },
  },
  {
    name: "slow network to the database",
    engines: ["postgres"],
    begin(context) {
      const { random, cluster, stations, world } = context;
      if (!cluster) return;
      const { machine } = random.pick(stations);
      const usual = cluster.faults.latencyMs;
      const worst = random.pick([60, 800, 4000]);
      cluster.faults.latencyMs = (process) => {
        if (process.machine !== machine || !random.chance(0.3)) return usual(process);
        world.occurred.add("network", "slow message to or from the database");
        return random.between(1, worst);
      };
      endAfter(context, random.between(300, 2000), () => (cluster.faults.latencyMs = usual));
    },
  },
  {
    name: "broken connections",
    engines: ["postgres"],
    begin({ random, cluster, world }) {
      world.log("network", "connections to the database break");
      for (const session of Array.from(cluster?.primary?.sessions ?? []))
        if (random.chance(0.7)) {
          world.occurred.add("PostgreSQL", "broken connection");
          session.loseServer(false);
        }
    },
  },
  {
    name: "database restart",
    engines: ["postgres"],
    begin(context) {
      const { random, cluster, world } = context;
      if (!cluster?.primary) return;
      world.occurred.add("PostgreSQL", "restart");
      cluster.fail(false);
      endAfter(context, random.between(50, 1500), () => cluster.restart());
    },
  },
  {
    name: "standby away",
    engines: ["postgres"],
    begin(context) {
      const { random, cluster, world } = context;
      if (!cluster) return;
      world.log("database", "loses its standby");
      world.occurred.add("PostgreSQL", "standby away");
      cluster.isStandbyAway = true;
      const ms = random.pick([random.between(300, 2500), random.between(16_000, 18_000)]);
      endAfter(context, ms, () => cluster.returnStandby());
    },
  },
  {
    name: "failover",
    engines: ["postgres"],
    begin(context) {
      const { random, cluster } = context;
      if (!cluster?.primary) return;
      cluster.fail(random.chance(0.4));
      endAfter(context, random.between(100, 2000), () => cluster.promote());
      endAfter(context, random.between(2000, 3000), () => cluster.rejoin());
    },
  },
] as const satisfies readonly Kind[];

export type FaultKind = (typeof kinds)[number]["name"];

export const faultKinds: readonly (Kind & { name: FaultKind })[] = kinds;

export function beginFault(kind: FaultKind, context: FaultContext): void {
  context.world.log("fault", kind);
  faultKinds.find(({ name }) => name === kind)?.begin(context);
}
