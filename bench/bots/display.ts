// A screen without a monitor, with a window manager, and hands on its mouse and keyboard: xdotool makes events as devices do.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import type { PageNews, Place } from "./front.ts";
import { between, sleep } from "./visit.ts";

const execute = promisify(execFile);

export type Display = { name: string; stop(): void };

export async function startDisplay(number: number): Promise<Display> {
  const name = `:${number}`;
  const processes: ChildProcess[] = [];
  const start = (command: string, args: string[]) =>
    processes.push(spawn(command, args, { stdio: "ignore", env: { ...process.env, DISPLAY: name } }));
  start("Xvfb", [name, "-screen", "0", "1366x768x24", "-nolisten", "tcp"]);
  for (let tries = 0; !existsSync(`/tmp/.X11-unix/X${number}`) && tries < 100; tries++) await sleep(100);
  start("openbox", []);
  await sleep(500);
  return { name, stop: () => processes.toReversed().forEach((one) => one.kill()) };
}

/** The time that a hand holds a button or key, and waits between two, in milliseconds. */
export type Hand = { pressMs: [number, number]; holdMs: [number, number]; gapMs: [number, number] };

export const ordinary: Hand = { pressMs: [45, 140], holdMs: [45, 130], gapMs: [60, 240] };

const seconds = (ms: number) => ["sleep", (ms / 1000).toFixed(3)];
const keyNames: Record<string, string> = { "@": "at", ".": "period", "-": "minus", " ": "space", "+": "plus" };

export function handsOn(display: string, hand: Hand = ordinary) {
  const run = async (args: string[]) => {
    const { stdout } = await execute("xdotool", args, { env: { ...process.env, DISPLAY: display } });
    return stdout;
  };
  let at: Place = { x: 640 + Math.random() * 200, y: 300 + Math.random() * 100 };

  /** A slightly bent path, slower at its end. */
  const path = (to: Place): string[] => {
    const steps = Math.round(between(14, 34));
    const bend = { x: between(-60, 60), y: between(-40, 40) };
    const from = at;
    at = to;
    return Array.from({ length: steps }, (_, step) => {
      const share = 1 - (1 - (step + 1) / steps) ** 2;
      const bow = Math.sin(Math.PI * share);
      const x = Math.round(from.x + (to.x - from.x) * share + bend.x * bow);
      const y = Math.round(from.y + (to.y - from.y) * share + bend.y * bow);
      return ["mousemove", String(x), String(y), ...seconds(between(7, 18))];
    }).flat();
  };
  const pressButton = () => ["mousedown", "1", ...seconds(between(...hand.pressMs)), "mouseup", "1"];
  const pressKey = (name: string) => ["keydown", name, ...seconds(between(...hand.holdMs)), "keyup", name];

  return {
    run,
    /** Finds an element by its window: browsers that hide where they are, or scale their pixels, tell no place on the screen. */
    async find({ places, height, scale, isFirefox }: PageNews, name: string): Promise<Place> {
      const geometry = await run(["getactivewindow", "getwindowgeometry", "--shell"]);
      const of = (key: string) => Number(new RegExp(`^${key}=(-?\\d+)`, "m").exec(geometry)?.[1]);
      const { x, y } = places[name]?.inPage ?? { x: 0, y: 0 };
      // xdotool counts the frame of the window manager twice; Chromium draws its own.
      const frame = isFirefox ? { x: 1, y: 20 } : { x: 0, y: 0 };
      return {
        x: Math.round(of("X") - frame.x + x * scale),
        y: Math.round(of("Y") - frame.y + of("HEIGHT") - (height - y) * scale),
      };
    },
    async click(place: Place): Promise<void> {
      const to = { x: place.x + between(-6, 6), y: place.y + between(-4, 4) };
      await run([...path(to), ...seconds(between(60, 250)), ...pressButton()]);
    },
    async wander(): Promise<void> {
      await run(path({ x: between(200, 900), y: between(250, 600) }));
    },
    async scroll(clicks: number): Promise<void> {
      await run(Array.from({ length: clicks }, () => ["click", clicks > 0 ? "5" : "4", ...seconds(between(40, 160))]).flat());
    },
    async key(...names: string[]): Promise<void> {
      await run(names.flatMap((name) => [...pressKey(name), ...seconds(between(...hand.gapMs))]));
    },
    async combination(keys: string): Promise<void> {
      await run(["key", keys]);
    },
    async type(text: string): Promise<void> {
      await run(
        Array.from(text).flatMap((letter) => [...pressKey(keyNames[letter] ?? letter), ...seconds(between(...hand.gapMs))]),
      );
    },
    /** Types as programs for text expansion and passwords do. */
    async autoType(text: string): Promise<void> {
      await run(["type", "--delay", "3", text]);
    },
  };
}

export type Hands = ReturnType<typeof handsOn>;
