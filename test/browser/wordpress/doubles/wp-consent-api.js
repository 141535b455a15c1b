// Has the functions, cookies and events of the WP Consent API.

window.wp_fallback_consent_type = consent_api.consent_type;
window.waitfor_consent_hook = consent_api.waitfor_consent_hook;

function consentCookie(category) {
  const found = document.cookie.match(`(?:^|; )${consent_api.cookie_prefix}_${category}=([^;]*)`);
  return found ? found[1] : "";
}

window.wp_has_consent = (category) => {
  const type = window.wp_consent_type ?? window.wp_fallback_consent_type;
  const decided = consentCookie(category);
  if (!type) return true;
  return type.includes("optout") && decided === "" ? true : decided === "allow";
};

window.wp_set_consent = (category, value) => {
  if (consentCookie(category) === value) return;
  document.cookie = `${consent_api.cookie_prefix}_${category}=${value};path=/;secure`;
  document.dispatchEvent(new CustomEvent("wp_listen_for_consent_change", { detail: { [category]: value } }));
};
