___TERMS_OF_SERVICE___

By creating or modifying this file you agree to Google Tag Manager's Community
Template Gallery Developer Terms of Service available at
https://developers.google.com/tag-manager/gallery-tos (or such other URL as
Google may provide), as modified from time to time.


___INFO___

{
  "type": "TAG",
  "id": "cvt_temp_public_id",
  "version": 1,
  "securityGroups": [],
  "displayName": "Cleancast conversion",
  "categories": ["CONVERSIONS", "ATTRIBUTION"],
  "brand": { "id": "brand_dummy", "displayName": "" },
  "description": "Posts conversions of a server container to a Cleancast relay.",
  "containerContexts": ["SERVER"]
}


___TEMPLATE_PARAMETERS___

[
  {
    "type": "TEXT",
    "name": "url",
    "displayName": "Address of the relay",
    "simpleValueType": true,
    "valueValidators": [
      { "type": "NON_EMPTY" },
      { "type": "REGEX", "args": ["^https://[^/@]+$"], "errorMessage": "Begin with https:// and give only the host." }
    ]
  },
  {
    "type": "TEXT",
    "name": "key",
    "displayName": "Inbound key",
    "help": "Everyone with access to the container can read it. Use a key of its own for Tag Manager.",
    "simpleValueType": true,
    "valueValidators": [
      { "type": "NON_EMPTY" },
      { "type": "REGEX", "args": ["^cc_\\w+$"], "errorMessage": "An inbound key begins with cc_." }
    ]
  },
  {
    "type": "CHECKBOX",
    "name": "needsConsent",
    "checkboxText": "Send only if ad_storage is granted",
    "simpleValueType": true,
    "defaultValue": true
  }
]


___SANDBOXED_JS_FOR_SERVER___

const getAllEventData = require('getAllEventData');
const JSON = require('JSON');
const logToConsole = require('logToConsole');
const makeNumber = require('makeNumber');
const makeString = require('makeString');
const sendHttpRequest = require('sendHttpRequest');

const event = getAllEventData();
const user = event.user_data || {};
const address = (user.address && user.address[0]) || user.address || {};

// x-ga-gcs is G1 and a digit each for ad_storage and analytics_storage.
const consent = event['x-ga-gcs'];
const isRefused = consent && makeString(consent).charAt(2) === '0';
const email = user.email_address || user.email || event.email;
const hashed = user.sha256_email_address;

if (isRefused && data.needsConsent) {
  data.gtmOnSuccess();
} else if (!email && !hashed) {
  logToConsole('Cleancast: the event has no user_data.email_address');
  data.gtmOnFailure();
} else {
  send(makeString(JSON.stringify(conversion())), 1);
}

function conversion() {
  const fields = { event: event.event_name };
  if (email) fields.email = email;
  else fields.hashed_email = hashed;
  if (event.value !== undefined) fields.value = makeNumber(event.value);
  if (event.currency) fields.currency = event.currency;
  if (event.transaction_id) fields.orderId = makeString(event.transaction_id);
  if (user.phone_number) fields.phone = user.phone_number;
  if (address.first_name) fields.firstName = address.first_name;
  if (address.last_name) fields.lastName = address.last_name;
  const items = (event.items || []).slice(0, 100).filter((item) => item.item_id).map(itemOf);
  if (items.length) fields.items = items;
  return fields;
}

function itemOf(item) {
  const fields = { id: makeString(item.item_id) };
  if (item.item_name) fields.name = item.item_name;
  if (item.item_category) fields.category = item.item_category;
  if (item.item_brand) fields.brand = item.item_brand;
  if (item.price !== undefined) fields.price = makeNumber(item.price);
  if (item.quantity !== undefined) fields.quantity = makeNumber(item.quantity);
  return fields;
}

// A container has no timer, so a temporary failure is repeated at once, twice. A repeat is never counted twice.
function send(body, attempt) {
  const headers = { 'X-CC-Api-Key': data.key, 'Content-Type': 'application/json' };
  const options = { method: 'POST', headers: headers, timeout: 15000 };
  sendHttpRequest(data.url + '/__cc/inbound', options, body).then(
    (answer) => finish(answer.statusCode, answer.body, body, attempt),
    () => finish(0, 'no answer', body, attempt)
  );
}

function finish(status, text, body, attempt) {
  const answer = status === 200 ? JSON.parse(text) : undefined;
  const isTemporary = status === 0 || status === 200 || status === 429 || status >= 500;
  // Only the relay answers ok: true; a proxy in between may also answer 200.
  if (answer && answer.ok === true) {
    data.gtmOnSuccess();
  } else if (isTemporary && attempt < 3) {
    send(body, attempt + 1);
  } else {
    logToConsole('Cleancast: ' + status);
    data.gtmOnFailure();
  }
}


___SERVER_PERMISSIONS___

[
  {
    "instance": {
      "key": { "publicId": "read_event_data", "versionId": "1" },
      "param": [{ "key": "eventDataAccess", "value": { "type": 1, "string": "any" } }]
    },
    "clientAnnotations": { "isEditedByUser": true },
    "isRequired": true
  },
  {
    "instance": {
      "key": { "publicId": "send_http", "versionId": "1" },
      "param": [
        { "key": "allowedUrls", "value": { "type": 1, "string": "specific" } },
        { "key": "urls", "value": { "type": 2, "listItem": [{ "type": 1, "string": "https://*/__cc/inbound" }] } }
      ]
    },
    "clientAnnotations": { "isEditedByUser": true },
    "isRequired": true
  },
  {
    "instance": {
      "key": { "publicId": "logging", "versionId": "1" },
      "param": [{ "key": "environments", "value": { "type": 1, "string": "debug" } }]
    },
    "clientAnnotations": { "isEditedByUser": true },
    "isRequired": true
  }
]


___TESTS___

scenarios:
- name: posts a purchase with its order id, value and items
  code: |-
    mock('sendHttpRequest', (url, options, body) => {
      assertThat(url).isEqualTo('https://shop.example.com/__cc/inbound');
      assertThat(options.headers['X-CC-Api-Key']).isEqualTo('cc_key');
      assertThat(JSON.parse(body)).isEqualTo({
        event: 'purchase', email: 'ada@example.com', value: 49.9, currency: 'EUR', orderId: 'A-1',
        items: [{ id: 'SKU-1', price: 24.95, quantity: 2 }]
      });
      return answer(200, '{"ok":true}');
    });
    runCode(settings);
    assertApi('gtmOnSuccess').wasCalled();
- name: repeats a temporary failure with the same body, twice at most
  code: |-
    let bodies = [];
    mock('sendHttpRequest', (url, options, body) => {
      bodies.push(body);
      return answer(503, 'down');
    });
    runCode(settings);
    assertThat(bodies.length).isEqualTo(3);
    assertThat(bodies[2]).isEqualTo(bodies[0]);
    assertApi('gtmOnFailure').wasCalled();
- name: does not repeat a refusal
  code: |-
    let count = 0;
    mock('sendHttpRequest', () => {
      count = count + 1;
      return answer(400, '{"ok":false}');
    });
    runCode(settings);
    assertThat(count).isEqualTo(1);
    assertApi('gtmOnFailure').wasCalled();
- name: sends nothing if ad_storage is denied
  code: |-
    event['x-ga-gcs'] = 'G101';
    runCode(settings);
    assertApi('sendHttpRequest').wasNotCalled();
    assertApi('gtmOnSuccess').wasCalled();
- name: fails without an email
  code: |-
    event.user_data = undefined;
    runCode(settings);
    assertApi('sendHttpRequest').wasNotCalled();
    assertApi('gtmOnFailure').wasCalled();
setup: |-
  const JSON = require('JSON');
  const settings = { url: 'https://shop.example.com', key: 'cc_key', needsConsent: true };
  const event = {
    event_name: 'purchase', value: '49.90', currency: 'EUR', transaction_id: 'A-1',
    user_data: { email_address: 'ada@example.com' },
    items: [{ item_id: 'SKU-1', price: 24.95, quantity: 2 }]
  };
  mock('getAllEventData', () => event);
  // Answers at once, so that a scenario needs no waiting.
  const answer = (statusCode, body) => ({ then: (done) => done({ statusCode: statusCode, headers: {}, body: body }) });


___NOTES___

Source and documentation: plugins/gtm of Cleancast.
