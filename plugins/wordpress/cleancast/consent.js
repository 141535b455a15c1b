// Loads the Cleancast tag, and passes the visitor's decision from the WP Consent API to it.
//
// Only a decision is passed on. Where the API asks for opt-in and the visitor has not decided, nothing is loaded.

(function () {
  "use strict";
  var config = window.cleancastTag;
  if (!config) return;
  var isLoaded = false;

  // Queues calls until the tag has loaded.
  var cc = (window.cc = window.cc || { q: [] });
  ["identifyEmail", "consent", "eventId"].forEach(function (method) {
    cc[method] =
      cc[method] ||
      function () {
        var args = [].slice.call(arguments);
        return new Promise(function (resolve) {
          cc.q.push([method, args, resolve]);
        });
      };
  });

  function load() {
    if (isLoaded) return;
    isLoaded = true;
    var script = document.createElement("script");
    script.async = true;
    script.src = config.tag;
    document.head.appendChild(script);
  }

  /** Returns allow, deny, or nothing before a decision. */
  function decision() {
    var prefix = (window.consent_api && window.consent_api.cookie_prefix) || "wp_consent";
    var found = document.cookie.match(new RegExp("(?:^|; )" + prefix + "_marketing=(allow|deny)(?:;|$)"));
    return found ? found[1] : "";
  }

  function report(decided) {
    window.cc.consent(decided === "allow" ? "granted" : "denied");
    load();
  }

  function start() {
    var decided = decision();
    // A consent plugin defines the type in the page; the API has the one of its settings.
    var type = window.wp_consent_type === undefined ? window.wp_fallback_consent_type : window.wp_consent_type;
    if (decided) report(decided);
    else if (String(type || "").indexOf("optin") < 0) load();
  }

  document.addEventListener("wp_listen_for_consent_change", function (event) {
    var changed = event.detail && event.detail.marketing;
    if (changed === "allow" || changed === "deny") report(changed);
  });

  function begin() {
    if (typeof window.wp_has_consent !== "function") load();
    // Where the type depends on the visitor's country, a consent plugin announces it later.
    else if (window.waitfor_consent_hook && window.wp_consent_type === undefined && !decision())
      document.addEventListener("wp_consent_type_defined", start);
    else start();
  }

  // Scripts of consent plugins may follow this one, so all of them have run before the first decision.
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();
})();
