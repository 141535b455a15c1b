// Shows alerts as notifications, and opens the page about one. It answers no request and caches nothing, so it can never serve an
// old dashboard.

self.addEventListener("install", () => self.skipWaiting());

self.addEventListener("push", (event) => {
  const { title, body, page, tag } = event.data.json();
  const options = { body, tag, icon: "/shared/icon-192.png", data: { page } };
  event.waitUntil(self.registration.showNotification(title, options));
});

self.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(openPage(event.notification.data.page));
});

async function openPage(page) {
  const [open] = await self.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!open) return self.clients.openWindow(page);
  await open.focus();
  // A worker may move only the windows that it controls.
  return open.navigate(page).catch(() => self.clients.openWindow(page));
}
