"use strict";

// A private integration of Zapier, with one action. README.md says how to push it.

const manifest = require("./package.json");
const { authentication } = require("./authentication.js");
const { conversion } = require("./creates/conversion.js");

module.exports = {
  version: manifest.version,
  platformVersion: manifest.dependencies["zapier-platform-core"],
  authentication,
  creates: { [conversion.key]: conversion },
};
