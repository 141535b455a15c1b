// Checks the data folder, the files with secrets, and the certificate.

import { X509Certificate } from "node:crypto";
import { accessSync, constants, readdirSync, readFileSync, statSync, type Stats } from "node:fs";
import { join } from "node:path";
import { countOf } from "../kernel/text.ts";
import { dayMs } from "../kernel/time.ts";
import { bytesText, error, ok, soonMs, warning, type Findings, type DoctorContext } from "./finding.ts";

const maxWalBytes = 512e6;

export function* checkFiles({ config }: DoctorContext): Findings {
  const { dataFolder } = config;
  const folder = statOf(dataFolder);
  if (folder && isWritable(dataFolder)) yield ok(`data folder ${dataFolder} is writable`);
  else if (folder)
    yield error(`data folder ${dataFolder} is not writable`, "Give its owner write permission, or set CLEANCAST_DATA.");
  if (folder && isOpenToOthers(folder)) yield warning(`other users can read the data folder`, `chmod 700 ${dataFolder}`);
  for (const name of ["encryption.key", "cleancast.db", "cleancast.db-wal"]) {
    const file = statOf(join(dataFolder, name));
    if (file && isOpenToOthers(file)) yield error(`${name} is readable by other users`, `chmod 600 ${join(dataFolder, name)}`);
  }
  const foreign = folder ? listForeignFiles(dataFolder, folder) : [];
  if (folder && foreign.length)
    yield error(
      `${foreign.join(", ")} in the data folder belong${foreign.length === 1 ? "s" : ""} to another user than the folder`,
      `A command was run as another user, perhaps root. Run chown -R ${folder.uid}:${folder.gid} ${dataFolder}, and run commands as that user.`,
    );
  const wal = statOf(join(dataFolder, "cleancast.db-wal"));
  if (wal && wal.size > maxWalBytes)
    yield warning(
      `cleancast.db-wal has grown to ${bytesText(wal.size)}`,
      "Another program keeps the database open for reading, such as a copy or a database tool. End it.",
    );
  yield* checkEnvironmentFile();
  yield* checkTlsKey(config.tls);
}

/** A file .env in the working folder is read at every start, and may hold the key and a password. */
function* checkEnvironmentFile(): Findings {
  const file = statOf(".env");
  if (!file || !isOpenToOthers(file)) return;
  const secrets =
    /^\s*(?:export\s+)?(CLEANCAST_ENCRYPTION_KEY|DATABASE_URL|CLEANCAST_SMTP_URL|CLEANCAST_METRICS_TOKEN|CLEANCAST_BACKUP_(?:KEY|PASSPHRASE))=/m;
  const found = secrets.exec(readFileSync(".env", "utf8"))?.[1];
  if (found) yield error(`.env holds ${found} and is readable by other users`, "chmod 600 .env");
}

function* checkTlsKey(tls: { keyFile: string } | null): Findings {
  const file = tls && statOf(tls.keyFile);
  // A group may read it, as with certbot.
  if (!file || (file.mode & 0o007) === 0) return;
  yield error(`TLS_KEY_FILE is readable by all users`, `chmod o-rwx ${tls.keyFile}`);
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

const isOpenToOthers = (file: Stats) => (file.mode & 0o077) !== 0;

function listForeignFiles(folder: string, { uid }: Stats): string[] {
  return readdirSync(folder).filter((name) => {
    const file = statOf(join(folder, name));
    return file !== null && file.uid !== uid;
  });
}

/** Checks the certificate that the relay serves itself. */
export function* checkCertificate({ config, now }: DoctorContext): Findings {
  if (!config.tls) return;
  const { certFile } = config.tls;
  let expiresAt: number;
  try {
    expiresAt = Date.parse(new X509Certificate(readFileSync(certFile)).validTo);
  } catch {
    yield error(`${certFile} is not a certificate`, "TLS_CERT_FILE must be a PEM file that includes the chain.");
    return;
  }
  const days = Math.floor((expiresAt - now) / dayMs);
  const time = countOf(days, "day");
  const name = `the certificate in ${certFile}`;
  if (days < 0) yield error(`${name} has expired`, "Renew it.");
  else if (expiresAt - now < soonMs) yield warning(`${name} expires in ${time}`, lateRenewal);
  else yield ok(`${name} is valid for ${time}`);
}

export const lateRenewal = "Check why it was not renewed: renewal a month before the expiry is usual.";
