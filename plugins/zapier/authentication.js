"use strict";

const { post } = require("./relay.js");

const authentication = {
  type: "custom",
  fields: [
    {
      key: "url",
      label: "Address of the relay",
      type: "string",
      required: true,
      placeholder: "https://shop.example.com",
    },
    {
      key: "key",
      label: "Inbound key",
      // Zapier does not show it again, and removes it from its logs.
      type: "password",
      required: true,
      helpText: "It begins with `cc_`. Make one for Zapier alone.",
    },
  ],
  // The relay checks the key and accepts an empty batch, so the test leaves no event.
  test: (z, bundle) => post(z, bundle, "/batch", { events: [] }),
  connectionLabel: "{{url}}",
};

module.exports = { authentication };
