// The data folder and the files with secrets: who may write, and who may read.

import { accessSync, constants, readdirSync, readFileSync, statSync, type Stats } from "node:fs";
import { join } from "node:path";
import { bytesText, error, ok, warning, type Finding, type DoctorContext } from "./finding.ts";

const largestWalBytes = 512e6;

export function checkFiles({ config }: DoctorContext): Finding[] {
  const { dataFolder } = config;
  const findings: Finding[] = [
    isWritable(dataFolder)
      ? ok(`data folder ${dataFolder} is writable`)
      : error(
          `data folder ${dataFolder} is not writable`,
          "Give its owner write permission, or set CLEANCAST_DATA.",
        ),
  ];
  const folder = statOf(dataFolder);
  if (folder && isOpen(folder))
    findings.push(warning(`others can look into the data folder`, `chmod 700 ${dataFolder}`));
  for (const name of ["encryption.key", "cleancast.db", "cleancast.db-wal"]) {
    const file = statOf(join(dataFolder, name));
    if (file && isOpen(file))
      findings.push(error(`${name} is readable by others`, `chmod 600 ${join(dataFolder, name)}`));
  }
  const strange = folder ? ofAnotherOwner(dataFolder, folder) : [];
  if (folder && strange.length)
    findings.push(
      error(
        `${strange.join(", ")} in the data folder belong${strange.length === 1 ? "s" : ""} to another user than the folder`,
        `A command was run as another user (root?). chown -R ${folder.uid}:${folder.gid} ${dataFolder}, and run commands as that user.`,
      ),
    );
  const wal = statOf(join(dataFolder, "cleancast.db-wal"));
  if (wal && wal.size > largestWalBytes)
    findings.push(
      warning(
        `cleancast.db-wal has grown to ${bytesText(wal.size)}`,
        "Something keeps the database open for reading: a copy that is under way, or a tool that looks into it. End it.",
      ),
    );
  return [...findings, ...environmentFile(), ...tlsKey(config.tls)];
}

/** A file .env beside the command is read at every start, and may hold the key and a password. */
function environmentFile(): Finding[] {
  const file = statOf(".env");
  if (!file || (file.mode & 0o077) === 0) return [];
  const secrets =
    /^\s*(?:export\s+)?(CLEANCAST_ENCRYPTION_KEY|DATABASE_URL|CLEANCAST_SMTP_URL|CLEANCAST_METRICS_TOKEN)=/m;
  const found = secrets.exec(readFileSync(".env", "utf8"))?.[1];
  return found ? [error(`.env holds ${found} and is readable by others`, "chmod 600 .env")] : [];
}

function tlsKey(tls: { keyFile: string } | null): Finding[] {
  const file = tls && statOf(tls.keyFile);
  // A group may share it: certbot's does.
  if (!file || (file.mode & 0o007) === 0) return [];
  return [error(`TLS_KEY_FILE is readable by everybody`, `chmod o-rwx ${tls.keyFile}`)];
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

const isOpen = (file: Stats) => (file.mode & 0o077) !== 0;

function ofAnotherOwner(folder: string, { uid }: Stats): string[] {
  return readdirSync(folder).filter((name) => {
    const file = statOf(join(folder, name));
    return file !== null && file.uid !== uid;
  });
}
