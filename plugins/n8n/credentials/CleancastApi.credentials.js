"use strict";

/** @typedef {import("n8n-workflow").ICredentialType} ICredentialType */

/**
 * The address of a relay and an inbound key. n8n encrypts both, and tests them with the request below.
 *
 * @implements {ICredentialType}
 */
class CleancastApi {
  name = "cleancastApi";
  displayName = "Cleancast API";
  /** @type {import("n8n-workflow").INodeProperties[]} */
  properties = [
    {
      displayName: "Address",
      name: "url",
      type: "string",
      default: "",
      placeholder: "https://shop.example.com",
      required: true,
    },
    {
      displayName: "Inbound Key",
      name: "key",
      type: "string",
      typeOptions: { password: true },
      default: "",
      required: true,
    },
  ];
  /** @type {import("n8n-workflow").IAuthenticateGeneric} */
  authenticate = {
    type: "generic",
    properties: { headers: { "X-CC-Api-Key": "={{$credentials.key}}" } },
  };
  // The relay checks the key and accepts an empty batch, so the test leaves no event.
  /** @type {import("n8n-workflow").ICredentialTestRequest} */
  test = {
    request: {
      baseURL: "={{$credentials.url}}",
      url: "/__cc/inbound/batch",
      method: "POST",
      body: { events: [] },
      json: true,
    },
  };
}

module.exports = { CleancastApi };
