// Conditions that some bugs need. A seed with a focus meets them for sure, whatever the product's timing is; all else is drawn as in
// other seeds. `--focus NAME` runs seeds under one of them.

import type { Focus } from "./scenario.ts";

/** Far less than one request after the other: what is queued at a platform with a quota waits in its lanes. */
const smallQuota: Focus["limits"] = { lanes: 16, batch: 1, perSecond: 2 };

export const focuses = {
  /** Nodes die while they wait for platforms or for the database. */
  "dying nodes": {
    engine: "postgres",
    nodes: 2,
    faults: { crash: 6 },
    platformFaults: ["late", "silent"],
    purchases: 16,
    trafficMs: 4000,
  },
  /** A node dies with more open events than a takeover reads at once. */
  "large takeover": {
    nodes: 1,
    faults: { crash: 3 },
    platformFaults: ["silent"],
    limits: { lanes: 16, batch: 1, perSecond: 1000 },
    sites: 1,
    purchases: 200,
    trafficMs: 900,
  },
  /** Commits take effect, and their confirmation is lost. */
  "lost confirmations": { engine: "postgres", faults: { "lost commits": 4 }, purchases: 12 },
  /** Commits wait for a standby until the relay gives up. */
  "standby away": {
    engine: "postgres",
    isSynchronous: true,
    nodes: 1,
    faults: { "standby away": 1 },
    purchases: 12,
    trafficMs: 22_000,
  },
  /** Promotions lose the last commits of nodes that live on. */
  failovers: {
    engine: "postgres",
    isSynchronous: false,
    nodes: 2,
    faults: { failover: 3, crash: 2 },
    platformFaults: ["slow", "late"],
    purchases: 12,
    trafficMs: 3000,
  },
  /** Nodes start, and die, shortly before and after promotions. */
  "failovers and restarts": {
    engine: "postgres",
    isSynchronous: false,
    replicationMs: 2000,
    nodes: 2,
    faults: { failover: 4, restart: 5, crash: 6 },
    platformFaults: ["silent", "late"],
    purchases: 20,
    trafficMs: 3500,
  },
  "full disk": {
    engine: "sqlite",
    faults: { "full disk": 6 },
    platformFaults: ["slow", "failing"],
    purchases: 12,
    trafficMs: 3000,
  },
  "full disk and crashes": {
    engine: "sqlite",
    faults: { "full disk": 8, crash: 8, "power cut": 2 },
    platformFaults: ["late", "silent"],
    purchases: 30,
    trafficMs: 4000,
  },
  "slow disk": { engine: "sqlite", faults: { "slow disk": 4, "failed flush": 1, "power cut": 1 }, purchases: 12 },
  /** Reads fail, or take longer than the relay waits. */
  "unreadable people": {
    engine: "postgres",
    nodes: 1,
    faults: { "slow network to the database": 8, "failing statements": 6 },
    actions: { "refuse consent": 16 },
    purchases: 20,
    trafficMs: 3000,
  },
  /** Consent changes, and cannot be read, between the attempts of a delivery. */
  "unreadable retries": {
    engine: "postgres",
    nodes: 1,
    faults: { "slow network to the database": 14 },
    actions: { "refuse consent": 16, "grant consent": 10 },
    platformFaults: ["failing"],
    purchases: 40,
    trafficMs: 5000,
  },
  /** Consent changes between the attempts of a delivery. */
  "changing consent": {
    faults: {},
    actions: { "refuse consent": 8, "grant consent": 4 },
    platformFaults: ["failing"],
    purchases: 12,
    trafficMs: 3000,
  },
  /** Consent is withdrawn and people are erased while their deliveries wait in lanes. */
  "waiting in lanes": {
    nodes: 1,
    faults: {},
    limits: smallQuota,
    actions: { "refuse consent": 14, "grant consent": 5, erase: 5 },
    sites: 1,
    purchases: 24,
    trafficMs: 4500,
  },
  /** People are erased while their deliveries are retried. */
  erasures: {
    faults: {},
    actions: { erase: 8, replay: 3 },
    platformFaults: ["failing", "late", "slow"],
    purchases: 14,
    trafficMs: 2500,
  },
  /** Filtered events are released, also twice at a time, and their people refuse consent before. */
  releases: {
    faults: {},
    actions: { release: 12, "refuse consent": 12, "grant consent": 4, erase: 3 },
    robots: 0.6,
    purchases: 14,
    trafficMs: 2000,
  },
  /** Filtered events are released when their hours were counted: they came to a node whose clock is hours behind. */
  "counted releases": {
    engine: "postgres",
    nodes: 2,
    clocks: "behind",
    faults: { "wrong clock": 1 },
    actions: { release: 2 },
    robots: 0.6,
    purchases: 14,
    trafficMs: 5000,
  },
  /** Senders send the same order several times at once, to several nodes. */
  "equal orders": { faults: {}, orders: 3, robots: 0.3, purchases: 24, trafficMs: 900 },
  /** The same, in transactions that run again because the confirmation of their commits is lost. */
  "repeated equal orders": {
    engine: "postgres",
    nodes: 1,
    faults: { "lost commits": 6 },
    limits: { lanes: 16, batch: 50, perSecond: 1000 },
    orders: 8,
    robots: 0.4,
    sites: 1,
    purchases: 60,
    trafficMs: 300,
  },
  /** Connections are paused and lose their authorisation. */
  "paused connections": {
    faults: {},
    actions: { pause: 8 },
    platformFaults: ["unauthorised", "slow"],
    purchases: 12,
    trafficMs: 3000,
  },
  /** Statements fail while nodes work on what is due. */
  "unreliable database": {
    engine: "postgres",
    nodes: 1,
    faults: { "failing statements": 4, "slow network to the database": 4, "clock jump": 4, failover: 2 },
    platformFaults: ["failing"],
    purchases: 12,
    trafficMs: 5000,
  },
  "wrong clock": {
    engine: "sqlite",
    faults: { "wrong clock": 4 },
    platformFaults: ["failing"],
    purchases: 16,
    trafficMs: 6000,
  },
  /** The clocks of nodes that share a database are hours apart. */
  "wrong clocks": {
    engine: "postgres",
    nodes: 2,
    faults: { "wrong clock": 4 },
    platformFaults: ["failing"],
    purchases: 12,
    trafficMs: 4000,
  },
  /** The clock of a node is hours behind, and another node counts the hours that it adds events to. */
  "clocks behind": {
    engine: "postgres",
    nodes: 2,
    clocks: "behind",
    faults: { "wrong clock": 1 },
    purchases: 20,
    trafficMs: 4500,
  },
  /** Long enough for several periods of the outbound webhook. */
  periods: { trafficMs: 7000 },
  /** Machines are suspended for longer than a lease lasts. */
  "suspended nodes": {
    engine: "postgres",
    nodes: 3,
    faults: { pause: 8 },
    platformFaults: ["failing", "slow"],
    purchases: 24,
    trafficMs: 6000,
  },
  /** The same, and the messages of the only node are slow: it meets its own attempts again. */
  "suspended and slow": {
    engine: "postgres",
    nodes: 1,
    faults: { pause: 6, "slow network to the database": 6 },
    platformFaults: ["failing", "slow"],
    purchases: 16,
    trafficMs: 6000,
  },
  /** The renewals of leases are committed late. */
  "slow leases": {
    engine: "postgres",
    nodes: 2,
    faults: { "slow commits": 10 },
    platformFaults: ["slow"],
    purchases: 24,
    trafficMs: 5000,
  },
  /** Commits take longer than senders wait, and nodes stop before they know what became of them. */
  "slow commits and restarts": {
    engine: "postgres",
    nodes: 2,
    faults: { "slow commits": 10, restart: 6 },
    purchases: 24,
    trafficMs: 4000,
  },
  /** Promotions lose outcomes of events whose other outcomes are being written. */
  "slow failovers": {
    engine: "postgres",
    isSynchronous: false,
    replicationMs: 4000,
    nodes: 2,
    faults: { failover: 6, "slow commits": 14 },
    platformFaults: ["slow"],
    sites: 1,
    purchases: 24,
    trafficMs: 4000,
  },
  /** Nodes die while their commits wait for a standby. */
  "standby away from dying nodes": {
    engine: "postgres",
    isSynchronous: true,
    nodes: 2,
    faults: { "standby away": 2, crash: 10 },
    purchases: 50,
    trafficMs: 9000,
  },
  /** Machines are suspended between the calls that follow the rejection of a batch. */
  "suspended batches": {
    engine: "postgres",
    nodes: 2,
    faults: { pause: 12 },
    limits: { lanes: 1, batch: 50, perSecond: 1000 },
    poison: 0.3,
    platformFaults: ["slow"],
    sites: 1,
    purchases: 60,
    trafficMs: 6000,
  },
  /** Connections are resumed at one node while another one still parks events for them. */
  "resumed connections": { engine: "postgres", nodes: 3, faults: {}, actions: { pause: 10 }, purchases: 40, trafficMs: 3000 },
  /** A clock is hours ahead when a process counts the hours before it. */
  "wrong clock and restarts": {
    engine: "sqlite",
    faults: { "wrong clock": 3, restart: 3, crash: 2 },
    purchases: 40,
    trafficMs: 9000,
  },
  /** Webhooks of senders come to several nodes, again where their answer is lost, and to nodes that die before they answer. */
  sources: {
    engine: "postgres",
    nodes: 2,
    faults: { crash: 5, "lost commits": 3, "slow commits": 2 },
    sources: 0.8,
    senderLossRate: 0.2,
    orders: 8,
    orderless: 0.5,
    purchases: 24,
    trafficMs: 3000,
  },
  /** More is queued than the quota of a platform allows. */
  "small quota": { engine: "postgres", nodes: 1, faults: {}, limits: smallQuota, sites: 1, purchases: 20, trafficMs: 1500 },
  /** Platforms ask for a pause while retries wait for them. */
  "rate limits": {
    faults: {},
    platformFaults: ["limiting", "failing"],
    limits: { lanes: 2, batch: 1, perSecond: 1000 },
    purchases: 20,
    trafficMs: 6000,
  },
} as const satisfies Readonly<Record<string, Focus>>;

export type FocusName = keyof typeof focuses;
