import "@mantine/core/styles/baseline.layer.css";
import "@mantine/core/styles/default-css-variables.layer.css";
import "@mantine/core/styles/global.layer.css";
import "./dashboard.css";
import { MantineProvider } from "@mantine/core";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { Notices } from "./common/notices.tsx";
import { Tip } from "./common/Tip.tsx";
import { rememberFocus } from "./common/recentFocus.ts";
import { askEarly, queryClient } from "./common/api/query.ts";
import { startLanguage, useShownLanguage } from "./common/shownLanguage.ts";
import { loadFrame, router } from "./router.tsx";
import { loadNamedPage } from "./pages.ts";
import { askForOverview } from "./scenes/overview/askEarly.ts";
import { makeTheme } from "./theme.ts";

// Styles that are created at run time need this nonce, or the page's policy blocks them.
const nonce = document.querySelector<HTMLMetaElement>("meta[name=style-nonce]")?.content ?? "";
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;

/** Waits for the texts, and draws all pages again when the user chooses another language. */
function Dashboard() {
  const language = useShownLanguage();
  if (language === null) return null;
  return (
    <MantineProvider key={language} theme={makeTheme()} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <Notices />
      <Tip />
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </MantineProvider>
  );
}

// The relay leaves this link out of the pages before sign-in.
const hasFrame = document.querySelector("link[rel=modulepreload]") !== null;
if (hasFrame) {
  void askEarly("GET /session", {});
  void askForOverview(location);
  void loadNamedPage(location);
}
rememberFocus();
// Until then the page shows the brand. Not awaited here: the frame's file imports this one.
void Promise.all([startLanguage(), hasFrame && loadFrame().catch(() => {})]).then(() =>
  createRoot(document.querySelector("#root") as HTMLElement).render(
    <StrictMode>
      <Dashboard />
    </StrictMode>,
  ),
);
