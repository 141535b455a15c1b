#!/usr/bin/env node
// Plain JavaScript, so that an old Node can still say what is wrong.

const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
  console.error(
    `Cleancast needs Node 24; this is Node ${process.versions.node}. ` +
      "Run it with 'npm start' or 'npx cleancast': after 'npm ci' they bring their own.",
  );
  process.exit(1);
}
// Settings may stand in a file .env beside the command; what the environment says already, wins.
try {
  process.loadEnvFile();
} catch {
  // There is none.
}
await import("../src/cli.ts");
