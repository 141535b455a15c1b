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
  "displayName": "Cleancast",
  "categories": ["CONVERSIONS", "ATTRIBUTION"],
  "brand": { "id": "brand_dummy", "displayName": "" },
  "description": "Loads the Cleancast tag, which reads consent from Consent Mode by itself, and passes it the visitor's email.",
  "containerContexts": ["WEB"]
}


___TEMPLATE_PARAMETERS___

[
  {
    "type": "TEXT",
    "name": "url",
    "displayName": "Address of the relay",
    "help": "A host of your own domain, such as https://shop.example.com",
    "simpleValueType": true,
    "valueValidators": [
      { "type": "NON_EMPTY" },
      { "type": "REGEX", "args": ["^https://[^/@]+$"], "errorMessage": "Begin with https:// and give only the host." }
    ]
  },
  {
    "type": "TEXT",
    "name": "email",
    "displayName": "Email of the visitor (optional)",
    "help": "A variable. The tag hashes the address in the browser.",
    "simpleValueType": true
  }
]


___SANDBOXED_JS_FOR_WEB_TEMPLATE___

const callInWindow = require('callInWindow');
const injectScript = require('injectScript');

const onLoaded = () => {
  // The tag itself withholds what consent does not allow.
  if (data.email) callInWindow('cc.identifyEmail', data.email);
  data.gtmOnSuccess();
};

// The last argument lets Tag Manager load the script once, however often the tag fires.
injectScript(data.url + '/__cc/tag.js', onLoaded, data.gtmOnFailure, 'cleancast');


___WEB_PERMISSIONS___

[
  {
    "instance": {
      "key": { "publicId": "access_globals", "versionId": "1" },
      "param": [
        {
          "key": "keys",
          "value": {
            "type": 2,
            "listItem": [
              {
                "type": 3,
                "mapKey": [
                  { "type": 1, "string": "key" },
                  { "type": 1, "string": "read" },
                  { "type": 1, "string": "write" },
                  { "type": 1, "string": "execute" }
                ],
                "mapValue": [
                  { "type": 1, "string": "cc.identifyEmail" },
                  { "type": 8, "boolean": false },
                  { "type": 8, "boolean": false },
                  { "type": 8, "boolean": true }
                ]
              }
            ]
          }
        }
      ]
    },
    "clientAnnotations": { "isEditedByUser": true },
    "isRequired": true
  },
  {
    "instance": {
      "key": { "publicId": "inject_script", "versionId": "1" },
      "param": [
        { "key": "urls", "value": { "type": 2, "listItem": [{ "type": 1, "string": "https://*/__cc/tag.js" }] } }
      ]
    },
    "clientAnnotations": { "isEditedByUser": true },
    "isRequired": true
  }
]


___TESTS___

scenarios:
- name: loads the tag of the relay once
  code: |-
    mock('injectScript', (url, onSuccess, onFailure, token) => {
      assertThat(url).isEqualTo('https://shop.example.com/__cc/tag.js');
      assertThat(token).isEqualTo('cleancast');
      onSuccess();
    });
    runCode({ url: 'https://shop.example.com' });
    assertApi('gtmOnSuccess').wasCalled();
    assertApi('callInWindow').wasNotCalled();
- name: passes the email to the tag after it has loaded
  code: |-
    mock('injectScript', (url, onSuccess) => onSuccess());
    runCode({ url: 'https://shop.example.com', email: 'ada@example.com' });
    assertApi('callInWindow').wasCalledWith('cc.identifyEmail', 'ada@example.com');
- name: fails when the script cannot be loaded
  code: |-
    mock('injectScript', (url, onSuccess, onFailure) => onFailure());
    runCode({ url: 'https://shop.example.com' });
    assertApi('gtmOnFailure').wasCalled();
    assertApi('gtmOnSuccess').wasNotCalled();
setup: ''


___NOTES___

Source and documentation: plugins/gtm of Cleancast.
