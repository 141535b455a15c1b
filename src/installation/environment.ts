// Reads single variables of the environment, each with its default, and collects the faults and the descriptions of all.

import { findNearest } from "../kernel/text.ts";

const ownPrefix = "CLEANCAST_";

/** Settings without the prefix that hold secrets, or lead to them. */
const withSecrets = new Set(["DATABASE_URL", "TLS_KEY_FILE", "PGPASSWORD", "PGPASSFILE", "OTEL_EXPORTER_OTLP_HEADERS"]);

/** The documented examples use these names for other programs: senders of events, and the proxy of the Compose files. */
const ofOtherPrograms = new Set(["INBOUND", "KEY", "NAME", "NAMES", "NODES"].map((name) => ownPrefix + name));

/** Kubernetes sets such variables in every pod next to a Service whose name begins with cleancast. */
const ofKubernetes = /_SERVICE_(?:HOST|PORT(?:_\w+)?)$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)?$/;

/** Settings without the prefix. A misspelled one would go unnoticed: the relay would start with an empty database, or without TLS. */
const costly = ["DATABASE_URL", "TLS_CERT_FILE", "TLS_KEY_FILE"];
const minCostly = "DATABASE".length;

/** A variable that looks like a setting and is none. `nearest` is the setting that was probably meant. */
export type UnknownVariable = { name: string; nearest: string | null };

/** A setting as the reference describes it. Without a default it is off, or required by another setting. */
export type Setting = { type: string; default: string | null };

export class Environment {
  readonly faults: string[] = [];
  readonly known = new Map<string, Setting>();
  readonly #variables: Record<string, string | undefined>;

  constructor(variables: Record<string, string | undefined>) {
    this.#variables = variables;
  }

  text(name: string): string | undefined;
  text(name: string, fallback: string): string;
  text(name: string, fallback?: string): string | undefined {
    return this.#read(name, "text", fallback ?? null) ?? fallback;
  }

  /** Blank counts as not set. */
  #read(name: string, type: string, fallback: string | null): string | undefined {
    this.known.set(name, { type, default: fallback });
    return this.#variables[name]?.trim() || undefined;
  }

  /** Returns the variables that are no settings of the relay, for a program of the operator. */
  others(): Record<string, string | undefined> {
    const entries = Object.entries(this.#variables);
    return Object.fromEntries(entries.filter(([name]) => !name.startsWith(ownPrefix) && !withSecrets.has(name)));
  }

  /** Lists the variables that look like settings and were not read. Call it when all settings are read. */
  listUnknown(): UnknownVariable[] {
    const isOther = (name: string) => ofOtherPrograms.has(name) || ofKubernetes.test(name);
    return Object.keys(this.#variables)
      .filter((name) => !this.known.has(name) && !isOther(name))
      .toSorted()
      .flatMap((name) => {
        if (name.startsWith(ownPrefix)) return { name, nearest: findNearest(name, this.known.keys(), ownPrefix.length) };
        const nearest = this.#findCostly(name);
        return nearest === null ? [] : { name, nearest };
      });
  }

  /** The setting that is missing where another name is much like it. Short names are those of many programs. */
  #findCostly(name: string): string | null {
    if (name.length < minCostly) return null;
    const nearest = findNearest(name, costly, name.length - 6);
    return nearest === null || this.#variables[nearest]?.trim() ? null : nearest;
  }

  number(name: string, fallback: number, min: number, max: number, kind = "number"): number {
    const text = this.#read(name, `${kind} from ${min} to ${max}`, String(fallback));
    if (text === undefined) return fallback;
    const value = Number(text);
    if (Number.isFinite(value) && value >= min && value <= max) return value;
    this.faults.push(`${name} is "${text}"; set it to a number from ${min} to ${max}.`);
    return fallback;
  }

  integer(name: string, fallback: number, min: number, max: number): number {
    const value = this.number(name, fallback, min, max, "whole number");
    if (!Number.isInteger(value)) this.faults.push(`${name} is "${value}"; set it to a whole number.`);
    return value;
  }

  milliseconds(name: string, fallbackSeconds: number, min: number, max: number): number {
    return this.number(name, fallbackSeconds, min, max, "seconds") * 1000;
  }

  flag(name: string, fallback: boolean): boolean {
    const text = this.#read(name, "on or off", fallback ? "on" : "off")?.toLowerCase();
    if (text === undefined) return fallback;
    if (["true", "1", "on", "yes"].includes(text)) return true;
    if (["false", "0", "off", "no"].includes(text)) return false;
    this.faults.push(`${name} is "${text}"; set it to true or false.`);
    return fallback;
  }

  /** Delays in seconds, separated by commas; returned in milliseconds. */
  schedule(name: string, fallbackSeconds: readonly number[]): number[] {
    const text = this.#read(name, "seconds, with commas between them", fallbackSeconds.join(","));
    if (text === undefined) return fallbackSeconds.map((one) => one * 1000);
    const values = text.split(",").map((one) => Number(one.trim() || Number.NaN));
    if (values.every((one) => Number.isFinite(one) && one > 0)) return values.map((one) => one * 1000);
    this.faults.push(`${name} is "${text}"; set it to seconds separated by commas, like 10,60,300.`);
    return [];
  }
}
