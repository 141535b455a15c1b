// The machines of a Citus cluster. The statements of a site go over connections that serve its machine alone, so a machine that is
// silent holds up its own sites and no others. Where DATABASE_URL lists the machine itself, they go to it directly and cost the
// coordinator nothing; else they go through the coordinator.
//
// The connections of a machine that is silent are closed, and its statements fail at once until a probe is answered.

import { readDialectFlags } from "./dialect.ts";
import { PostgresError } from "./errors.ts";
import { createConnections, type Connections } from "./pool.ts";
import type { Placement, PlacementRequest } from "./placement.ts";
import { isSameTimeline, type WritableServer } from "./probe.ts";
import { watchSilence } from "./silence.ts";

/** The machine of a site does not answer, or the coordinator cannot reach it. Other sites are not affected. */
export class MachineDown extends PostgresError {
  constructor(cause?: unknown, machine = "machine of the database that has this site") {
    super("08006", `the ${machine} does not answer`, cause);
  }
}

type MachineOptions = {
  readPlacement: (request: PlacementRequest) => Promise<Placement>;
  /** True when the machine behind `server` answers for a site in time. */
  answersFor: (server: string, siteId: string | null, timeoutMs: number) => Promise<boolean>;
  connections: number;
  sessionName: string;
  /** The present coordinator; null while there is none. */
  coordinator: () => string | null;
  /** Milliseconds on a monotonic clock. */
  elapsed: () => number;
  random: () => number;
};

const readEveryMs = 10_000;
/** How often listed machines are probed while there is no trouble. */
const probeServersMs = 60_000;
/** After an unknown site, or one that has no way to its machine, at most this often. */
const minReadMs = 1000;
const maxUnknown = 10_000;
/** Longer than the pause between two tries of a statement. */
const missedMs = 10_000;
const probeTimeoutMs = 1000;
/** A machine that refused a connection is reached through the coordinator for this long. */
const detourMs = 5000;

/** The settings of a session on a machine. */
function settingsFor(server: string): string {
  const settings = [
    // A look reads the shards of a machine one after the other: to open a connection for each costs more than the look.
    "SET citus.max_adaptive_executor_pool_size = 1",
    // A machine writes to several shards of its own in the session itself, and not over connections to itself.
    "SET citus.multi_shard_modify_mode = 'sequential'",
  ];
  // Citus keeps the plans of prepared statements on the machine's own shards. From 13.2.1 on it adds one at every run and finds none
  // again, so that the session grows without end (https://github.com/citusdata/citus/pull/8824); before, it takes the plan of one
  // shard for rows of several (https://github.com/citusdata/citus/issues/8330). Where each run is planned, it keeps none.
  if (!readDialectFlags(server).citusPlanCache) settings.push("SET plan_cache_mode = 'force_custom_plan'");
  return settings.join("; ");
}

export type Machine = {
  /**
   * Notes a statement, of a site or of none; throws MachineDown while the machine is silent. Returns what to call when the statement
   * has ended.
   */
  enter(siteId: string | null): (hasAnswered: boolean) => void;
  /** Connections to the machine itself; null while it has to be reached through the coordinator. */
  direct(): Connections | null;
  through(coordinator: Connections): Connections;
  /** The machine refused a connection, or another server answers there. */
  avoid(): void;
  isSilent(): boolean;
  /** Whether the last statement found the machine, or could not. */
  setFound(isFound: boolean): void;
};

export type Machines = ReturnType<typeof createMachines>;

export function createMachines(options: MachineOptions) {
  const { elapsed } = options;
  const opened = new Map<string, OpenMachine>();
  const shards = new Map<string, string>();
  const unknown = new Set<string>();
  let machines: Placement["machines"] = new Map();
  let servers: NonNullable<Placement["servers"]> = new Map();
  /** The machines that were connected to directly at any time. */
  const wereListed = new Set<string>();
  let probedAt = -Infinity;
  let readAt = -Infinity;
  let reading: Promise<void> | null = null;
  let isClosed = false;

  /** A failure leaves the placement as it was. */
  function read(): Promise<void> {
    reading ??= readAnew()
      .catch(() => {})
      .finally(() => {
        readAt = elapsed();
        reading = null;
      });
    return reading;
  }

  async function readAnew(): Promise<void> {
    const asked = shards.size > 0 ? [...unknown] : null;
    // A machine that was down during a probe is reached through the coordinator. It is probed until it can do without one again.
    const isLost = [...new Set(machines.values())].some(isCutOff);
    const hasTrouble = isLost || [...opened.values()].some((one) => one.isSilent() || one.isAvoided());
    const isProbing = hasTrouble || elapsed() - probedAt > probeServersMs;
    const found = await options.readPlacement({ siteIds: asked, isProbing });
    if (isProbing) probedAt = elapsed();
    for (const [siteId, shard] of found.shards) shards.set(siteId, shard);
    for (const siteId of asked ?? []) unknown.delete(siteId);
    ({ machines } = found);
    // Without a coordinator there is no other way to a machine that was too slow for the probe.
    servers = new Map([...(options.coordinator() === null || !found.servers ? servers : []), ...(found.servers ?? [])]);
    for (const name of servers.keys()) wereListed.add(name);
    for (const [name, machine] of opened) machine.setServer(servers.get(name) ?? null);
  }

  /** The machine is listed, and its last probe was not answered. */
  const isCutOff = (name: string) => wereListed.has(name) && !servers.has(name);

  function machineNamed(name: string): OpenMachine {
    let machine = opened.get(name);
    if (!machine) {
      machine = createMachine(options);
      machine.setServer(servers.get(name) ?? null);
      opened.set(name, machine);
    }
    return machine;
  }

  /** The shard of a site and its machine. A shard that was split is on none. */
  function place(siteId: string): { shard: string; machine: string } | null {
    const shard = shards.get(siteId) ?? "";
    const machine = machines.get(shard);
    if (machine !== undefined) return { shard, machine };
    if (unknown.size < maxUnknown) unknown.add(siteId);
    return null;
  }

  return {
    read,

    /** Returns the machine of a site; null while it is not known. */
    of(siteId: string): Machine | null {
      const found = place(siteId);
      const ageMs = elapsed() - readAt;
      const isUrgent = !found || (options.coordinator() === null && isCutOff(found.machine));
      if (!isClosed && ageMs > (isUrgent ? minReadMs : readEveryMs)) void read();
      return found && machineNamed(found.machine);
    },

    /** A listed machine that answers: each has a copy of the configuration, and can read the rows of all sites. */
    any: (): Machine | null => [...servers.keys()].map(machineNamed).find((one) => !one.isDown()) ?? null,

    /**
     * Sites of one group may share transactions: those of a machine that is connected to directly, which commits them by itself;
     * else those of a shard.
     */
    commitGroup(siteId: string): string {
      const found = place(siteId);
      if (!found) return siteId;
      return servers.has(found.machine) ? found.machine : found.shard;
    },

    /** Divides sites by machine, and those of a machine into slices. Unknown sites are on none. */
    async divide(siteIds: Iterable<string>): Promise<Map<string, Map<string, string[]>>> {
      if (elapsed() - readAt > readEveryMs) await read();
      const placed = Array.from(siteIds, (id) => ({ id, shard: "", machine: "", ...place(id) }));
      const idsByShard = (some: typeof placed) =>
        new Map([...Map.groupBy(some, ({ shard }) => shard)].map(([shard, ofShard]) => [shard, ofShard.map(({ id }) => id)]));
      const byMachine = Map.groupBy(placed, ({ machine }) => machine);
      return new Map([...byMachine].map(([machine, some]) => [machine, idsByShard(some)]));
    },

    /** None where all are down: then nothing is served. */
    countDown(): number {
      const used = new Set(machines.values());
      const down = [...opened].filter(([name, one]) => used.has(name) && one.isDown()).length;
      return down < used.size ? down : 0;
    },

    async close(): Promise<void> {
      isClosed = true;
      await reading;
      await Promise.all([...opened.values()].map((one) => one.close()));
    },
  };
}

type OpenMachine = Machine & {
  /** Connects to the machine directly from now on; null to go through the coordinator. */
  setServer(server: WritableServer | null): void;
  /** It is silent, or a statement did not find it lately. */
  isDown(): boolean;
  /** It is reached through the coordinator although it is listed. */
  isAvoided(): boolean;
  close(): Promise<void>;
};

function createMachine(options: MachineOptions): OpenMachine {
  const { elapsed } = options;
  const ending = new Set<Promise<void>>();
  let listed: WritableServer | null = null;
  let avoidUntil = -Infinity;
  let current: Connections | null = null;
  /** A site of this machine, for probes. */
  let lastSite: string | null = null;
  let missedAt = -Infinity;

  const directServer = () => (elapsed() > avoidUntil || options.coordinator() === null ? listed : null);
  const silence = watchSilence({
    async answers() {
      const server = directServer()?.server ?? options.coordinator();
      // Without a coordinator nothing is known about the machine.
      return server === null ? null : options.answersFor(server, lastSite, probeTimeoutMs);
    },
    onSilent() {
      current?.destroy();
      retire();
    },
    elapsed,
    random: options.random,
  });

  function retire(): void {
    if (!current) return;
    const ended = current.end().finally(() => ending.delete(ended));
    ending.add(ended);
    current = null;
  }

  function open({ server, timeline }: Pick<Connections, "server" | "timeline">): Connections {
    if (current && !(current.server === server && isSameTimeline(current.timeline, timeline))) {
      // An answer of a server that was replaced no longer counts.
      if (current.server === server) current.destroy();
      retire();
    }
    return (current ??= createConnections(server, timeline, options.connections, options.sessionName, settingsFor(server)));
  }

  return {
    enter(siteId) {
      if (silence.isSilent()) throw new MachineDown();
      lastSite = siteId ?? lastSite;
      return silence.enter();
    },
    direct() {
      const server = directServer();
      return server && open({ server: server.server, timeline: server });
    },
    through: open,
    avoid() {
      avoidUntil = elapsed() + detourMs;
    },
    isSilent: () => silence.isSilent(),
    setFound: (isFound) => void (missedAt = isFound ? -Infinity : elapsed()),
    isDown: () => silence.isSilent() || elapsed() - missedAt < missedMs,
    isAvoided: () => avoidUntil > -Infinity,
    setServer(server) {
      listed = server;
      if (elapsed() > avoidUntil) avoidUntil = -Infinity;
    },
    async close() {
      silence.close();
      retire();
      await Promise.allSettled(ending);
    },
  };
}
