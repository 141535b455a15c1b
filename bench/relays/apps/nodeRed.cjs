// Settings of Node-RED: no editor, and the hash function for the flow.

const { createHash } = require("node:crypto");

module.exports = {
  uiPort: Number(process.env.PORT),
  uiHost: "127.0.0.1",
  userDir: process.env.FOLDER,
  flowFile: "flows.json",
  credentialSecret: false,
  httpAdminRoot: false,
  diagnostics: { enabled: false },
  runtimeState: { enabled: false },
  telemetry: { enabled: false, updateNotification: false },
  logging: { console: { level: "info" } },
  functionGlobalContext: { createHash },
};
