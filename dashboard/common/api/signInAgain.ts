// An expired sign-in while something is sent: the frame asks for it over the page, and the request waits.

import { useEffect, useSyncExternalStore } from "react";

type Asked = { isAnswered: Promise<boolean>; answer: (isSignedIn: boolean) => void };

let asked: Asked | null = null;
let hosts = 0;
const listeners = new Set<() => void>();
const notifyAll = () => {
  for (const listener of listeners) listener();
};

/** Waits until the user has signed in again; false if they would not, or if no frame can ask. */
export function signInAgain(): Promise<boolean> {
  if (hosts === 0) return Promise.resolve(false);
  if (asked) return asked.isAnswered;
  let resolve: (isSignedIn: boolean) => void;
  const isAnswered = new Promise<boolean>((done) => (resolve = done));
  const answer = (isSignedIn: boolean) => {
    asked = null;
    notifyAll();
    resolve(isSignedIn);
  };
  asked = { isAnswered, answer };
  notifyAll();
  return isAnswered;
}

export const isSigningIn = (): boolean => asked !== null;

const subscribe = (listener: () => void) => {
  listeners.add(listener);
  return () => listeners.delete(listener);
};

/** For the frame: the function that ends the question, while it is asked. */
export function useSignInQuestion(): Asked["answer"] | null {
  useEffect(() => {
    hosts += 1;
    return () => {
      hosts -= 1;
    };
  }, []);
  return useSyncExternalStore(subscribe, () => asked?.answer ?? null);
}
