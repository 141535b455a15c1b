// A custom pixel: Settings > Customer events > Add custom pixel. It carries the email and the order of a checkout to the tag,
// which runs on the pages of the shop but not in the checkout.
//
// The pixel runs in a frame without an origin of its own, so it cannot report to the relay. It leaves the hash of the email in
// the shop's local storage, where theme.html finds it on the next page. The address itself is never stored.

const item = "cleancast_checkout";
let isAllowed = init.customerPrivacy.marketingAllowed;
let latest = null;

async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Stores the latest checkout if the visitor allows marketing, and removes it otherwise. */
function carry() {
  if (!isAllowed) return browser.localStorage.removeItem(item);
  return latest && browser.localStorage.setItem(item, JSON.stringify(latest));
}

async function note({ data: { checkout } }) {
  if (!checkout.email) return;
  const emailSha256 = await sha256(checkout.email.trim().toLowerCase());
  // The id may be an address such as gid://shopify/Order/5551.
  const orderId = checkout.order?.id?.split("/").pop();
  latest = orderId ? { emailSha256, orderId } : { emailSha256 };
  await carry();
}

analytics.subscribe("checkout_contact_info_submitted", note);
analytics.subscribe("checkout_completed", note);
api.customerPrivacy.subscribe("visitorConsentCollected", ({ customerPrivacy }) => {
  isAllowed = customerPrivacy.marketingAllowed;
  void carry();
});
