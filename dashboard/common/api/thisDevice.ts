// The subscription of this browser to its push service, and its row at the relay.

import { call } from "./api.ts";
import { sha256Of } from "../format/hashEmail.ts";

const scope = "/dashboard/";

export const hasPush = (): boolean => "serviceWorker" in navigator && "PushManager" in globalThis;

/** Returns the id that the relay knows this device by; null where it has no subscription. */
export async function readThisDevice(): Promise<string | null> {
  const subscription = await findSubscription();
  return subscription && idOf(subscription);
}

/** Asks the person, then the push service, then the relay. False where the person does not allow it. */
export async function turnOnHere(publicKey: string, name: string): Promise<boolean> {
  if ((await Notification.requestPermission()) !== "granted") return false;
  await navigator.serviceWorker.register(`${scope}worker.js`, { scope });
  const { pushManager } = await navigator.serviceWorker.ready;
  // An earlier subscription may be for the key of another installation.
  await (await pushManager.getSubscription())?.unsubscribe();
  const subscription = await pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
  const { endpoint = "", keys: { p256dh = "", auth = "" } = {} } = subscription.toJSON();
  try {
    await call("POST /me/devices", { body: { name, endpoint, keys: { p256dh, auth } } });
    return true;
  } catch (error) {
    await subscription.unsubscribe();
    throw error;
  }
}

export async function turnOffHere(): Promise<void> {
  const subscription = await findSubscription();
  if (!subscription) return;
  const device = await idOf(subscription);
  await subscription.unsubscribe();
  await call("DELETE /me/devices/:device", { params: { device } });
}

async function findSubscription(): Promise<PushSubscription | null> {
  if (!hasPush()) return null;
  const registration = await navigator.serviceWorker.getRegistration(scope);
  return (await registration?.pushManager.getSubscription()) ?? null;
}

const idOf = ({ endpoint }: PushSubscription) => sha256Of(new TextEncoder().encode(endpoint));
