// A relay with CLEANCAST_BACKUP_FOLDER makes backups by itself, encrypts them, deletes old ones and runs the hook. The newest one
// can be restored.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { freshDatabase, freshFolder } from "../support/databases.ts";
import { rows } from "../support/installation.ts";
import { call, engines, eventually, newInstallation, type Installation } from "../support/relay.ts";
import { findProgram } from "../support/servers/programs.ts";

const backupName = () => `cleancast-${new Date().toISOString().replace(/[-:]|\.\d+/g, "")}.backup`;

const key = "ab".repeat(32);

const rclone = findProgram("rclone");

/**
 * Makes a folder that is the bucket of the documented hook, and the variables that lead there. Without rclone on this machine, a
 * program that copies replaces it.
 */
function newBucket(path: string) {
  const bucket = freshFolder();
  const copies = join(bucket, "my-bucket/cleancast");
  mkdirSync(copies, { recursive: true });
  const program = rclone ?? join(freshFolder(), "rclone");
  if (rclone === undefined) {
    const script = `#!/bin/sh\n[ "$1" = check ] && [ -f "$3/$5" ] && exit 0\n[ "$1" = copy ] && cp "$2"/cleancast-*.backup "$3"\n`;
    writeFileSync(program, script, { mode: 0o700 });
    console.log("rclone is not installed here: a program that copies replaces it.");
  }
  const env: Record<string, string> = {
    PATH: [dirname(program), path].join(delimiter),
    HOME: bucket,
    ...(rclone === undefined
      ? { BACKUP_REMOTE: copies }
      : { RCLONE_CONFIG_OFFSITE_TYPE: "alias", RCLONE_CONFIG_OFFSITE_REMOTE: bucket }),
  };
  return { copies, env };
}

describe.each(engines)("scheduled backups on %s", (engine) => {
  const folder = join(freshFolder(), "backups");
  const copies = freshFolder();
  let home: Installation;
  let exported: string;

  const backups = () => (existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".backup")) : []);

  beforeAll(async () => {
    const hook = join(freshFolder(), "hook");
    writeFileSync(hook, `#!/bin/sh\nenv > "${copies}/environment"\ncp "$BACKUP_FILE" "${copies}/"\n`);
    chmodSync(hook, 0o700);
    home = await newInstallation(engine, {
      CLEANCAST_BACKUP_FOLDER: folder,
      CLEANCAST_BACKUP_KEY: key,
      CLEANCAST_BACKUP_HOOK: hook,
      CLEANCAST_BACKUP_KEEP: "2",
      AWS_PROFILE: "backups",
    });
    await home.addSite("shop.example.com");
    // The first backup is due at once, because there is none.
    const relay = await home.start();
    await eventually("the relay has made a backup, and the hook has copied it", () =>
      readdirSync(copies).some((name) => name.endsWith(".backup")),
    );
    await eventually("the metrics show the backup", async () => {
      exported = (await call(relay.url, { method: "GET", path: "/metrics" })).text;
      return /^cleancast_backup_timestamp_seconds \d+/m.test(exported);
    });
    expect(await relay.stop()).toBe(0);
  });

  test("the relay makes the backup that is due, encrypted and complete", async () => {
    const [name = ""] = backups();
    expect(backups()).toHaveLength(1);
    expect(readdirSync(folder).filter((other) => other.endsWith(".part"))).toEqual([]);
    expect(readFileSync(join(folder, name)).subarray(0, 8).toString()).toBe("ccbackup");
    expect(readFileSync(join(copies, name)).equals(readFileSync(join(folder, name)))).toBe(true);
    expect(exported).toMatch(/^cleancast_backup_overdue_seconds 0$/m);
    expect(exported).toMatch(/^cleancast_database_bytes [1-9]\d{4,}$/m);
    for (const disk of ["data", "backups"])
      expect(exported).toMatch(new RegExp(`^cleancast_disk_free_bytes\\{folder="${disk}"\\} [1-9]\\d+`, "m"));
    expect(exported).toMatch(/^cleancast_backup_failed\{step="backup"\} 0$/m);
  });

  test("the hook gets variables of the operator, and none of the relay's settings", () => {
    const environment = readFileSync(join(copies, "environment"), "utf8");
    expect(environment).toMatch(/^AWS_PROFILE=backups$/m);
    expect(environment).toMatch(new RegExp(`^BACKUP_FILE=${folder}/cleancast-\\d{8}T\\d{6}Z\\.backup$`, "m"));
    expect(environment).not.toMatch(/CLEANCAST_|DATABASE_URL/);
    expect(environment).not.toContain(key);
  });

  test("a drill restores the newest backup into a temporary database, and leaves nothing behind", async () => {
    const before = readdirSync(home.env.CLEANCAST_DATA ?? "").toSorted();
    const drill = await home.run("restore-drill");
    expect(drill).toMatchObject({ ok: true, wrong: [], file: join(folder, backups().at(-1) ?? "") });
    expect(drill.rows).toBeGreaterThan(5);
    const after = readdirSync(home.env.CLEANCAST_DATA ?? "").filter((name) => name !== "drill.lock");
    expect(after.toSorted()).toEqual(before.filter((name) => name !== "drill.lock"));
  });

  test("a drill can use an empty PostgreSQL database, which is empty again afterwards", async () => {
    const url = await freshDatabase();
    expect(await home.run("restore-drill", "--database", url)).toMatchObject({ ok: true, wrong: [] });
    const target = home.with({ DATABASE_URL: url });
    const tables = `SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()`;
    expect(await rows(Object.assign(target, { engine: "postgres" }), tables)).toEqual([]);
    if (engine !== "postgres") return;
    const own = await home.fails("restore-drill", "--database", home.env.DATABASE_URL ?? "");
    expect(own.error).toContain("is the database of this installation");
  });

  test("a drill reports a wrong key, a missing key, and a truncated file", async () => {
    const file = join(folder, backups().at(-1) ?? "");
    const wrong = await home.with({ CLEANCAST_BACKUP_KEY: "cd".repeat(32) }).fails("restore-drill");
    expect(wrong.error).toContain("is encrypted with another key than that of CLEANCAST_BACKUP_KEY");
    const none = await home.with({ CLEANCAST_BACKUP_KEY: "" }).fails("restore-drill", file);
    expect(none.error).toContain("is encrypted with a key; set CLEANCAST_BACKUP_KEY");
    const cut = join(freshFolder(), "cut");
    const whole = readFileSync(file);
    writeFileSync(cut, whole.subarray(0, Math.floor(whole.length * 0.9)));
    expect((await home.fails("restore-drill", cut)).error).toMatch(/damaged or cut off/);
  });

  test("a backup that is killed midway leaves no backup, and the next one deletes what it left", async () => {
    const other = freshFolder();
    const listed = (end: string) => readdirSync(other).filter((name) => name.endsWith(end));
    // Deriving the key from a passphrase takes long enough to kill the backup before its end.
    const slow = home.with({
      CLEANCAST_BACKUP_FOLDER: other,
      CLEANCAST_BACKUP_KEY: "",
      CLEANCAST_BACKUP_PASSPHRASE: "correct horse battery",
      CLEANCAST_BACKUP_HOOK: "",
    });
    const { child, ended } = slow.launch("backup");
    const watching = watch(other, () => listed(".part").length > 0 && child.kill("SIGKILL"));
    await ended;
    watching.close();
    expect(child.signalCode).toBe("SIGKILL");
    expect([listed(".part").length, listed(".backup").length]).toEqual([1, 0]);
    await slow.run("backup");
    expect([listed(".part").length, listed(".backup").length]).toEqual([0, 1]);
    expect(await slow.run("restore-drill")).toMatchObject({ ok: true });
  });

  test("an encrypted backup is restored with its key into another installation", async () => {
    const elsewhere = (await newInstallation("sqlite")).with({ CLEANCAST_BACKUP_KEY: key });
    const secret = home.env.CLEANCAST_ENCRYPTION_KEY;
    const own = secret ?? readFileSync(join(home.env.CLEANCAST_DATA ?? "", "encryption.key"), "utf8");
    writeFileSync(join(elsewhere.env.CLEANCAST_DATA ?? "", "encryption.key"), own, { mode: 0o600 });
    const file = join(folder, backups().at(-1) ?? "");
    expect(await elsewhere.run("restore", file)).toMatchObject({ ok: true, header: { engine } });
    expect(await rows(elsewhere, "SELECT host FROM hosts")).toContainEqual({ host: "shop.example.com" });
  });

  test("the command makes a backup into the folder, keeps as many as are configured, and reports a failed hook", async () => {
    for (const day of ["01", "02", "03"]) writeFileSync(join(folder, `cleancast-202601${day}T030000Z.backup`), "old");
    const failing = join(freshFolder(), "hook");
    writeFileSync(failing, "#!/bin/sh\necho no bucket\nexit 4\n");
    chmodSync(failing, 0o700);
    const made = await home.with({ CLEANCAST_BACKUP_HOOK: failing }).run("backup");
    expect(made).toMatchObject({ encrypted: true, opens: true, hook: { ok: false, output: "no bucket" } });
    expect(made.hook.reason).toContain("exit code 4");
    expect(made.deleted).toHaveLength(3);
    expect(backups()).toHaveLength(2);
    const findings = (await home.run("doctor", "--offline")).findings as { level: string; what: string }[];
    expect(findings).toContainEqual(
      expect.objectContaining({
        level: "warning",
        what: expect.stringContaining("hook after the last backup failed"),
      }),
    );
    const bucket = newBucket(home.env.PATH ?? "");
    const offsite = home.with({
      CLEANCAST_BACKUP_HOOK: fileURLToPath(new URL("../../docs/examples/backup-hook.sh", import.meta.url)),
      ...bucket.env,
    });
    rmSync(join(folder, backups()[0] ?? ""));
    await eventually("the clock shows another second", () => backupName() !== backups().at(-1));
    expect(await offsite.run("backup")).toMatchObject({ hook: { ok: true } });
    expect(readdirSync(bucket.copies).toSorted()).toEqual(backups().toSorted());
    const name = backups().at(-1) ?? "";
    const fetched = rclone === undefined ? bucket.copies : freshFolder();
    if (rclone !== undefined)
      execFileSync(rclone, ["copy", `offsite:my-bucket/cleancast/${name}`, "."], {
        cwd: fetched,
        env: bucket.env,
        stdio: "ignore",
      });
    expect(await home.run("restore-drill", join(fetched, name))).toMatchObject({ ok: true });
    const recovered = (await home.run("doctor", "--offline")).findings as { what: string }[];
    expect(recovered.filter(({ what }) => what.includes("hook"))).toEqual([]);
    rmSync(folder, { recursive: true });
    writeFileSync(folder, "a file is in the way");
    expect((await home.fails("backup")).error).toMatch(/^CLEANCAST_BACKUP_FOLDER is .*, which cannot be written \(E/);
    const again = (await home.run("doctor", "--offline")).findings as { level: string; what: string }[];
    expect(again).toContainEqual(
      expect.objectContaining({ level: "error", what: expect.stringContaining("the last backup failed") }),
    );
  });
});
