import { lazy, Suspense } from "react";
import { withTexts } from "../../messages/catalogue/catalogue.ts";

const InsecureNotice = lazy(withTexts(() => import("./InsecureNotice.tsx")));

/** Says that the page came without HTTPS. Pages of the same machine are as safe as with it. */
export function Insecure() {
  if (isSecureContext) return null;
  return (
    <Suspense fallback={null}>
      <InsecureNotice />
    </Suspense>
  );
}
