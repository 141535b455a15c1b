// The routes of the dashboard. Pages are loaded when they are opened.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
  retainSearchParams,
} from "@tanstack/react-router";
import { loadPage } from "./common/loadPage.ts";
import { Loading } from "./common/states.tsx";
import { toSearch } from "./common/links.tsx";
import { withSignInTexts, withTexts } from "./messages/catalogue/catalogue.ts";
import { sitePages } from "./pages.ts";
import { NotFound, Broken } from "./scenes/frame/ErrorPages.tsx";
import SignIn from "./scenes/signIn/SignIn.tsx";

const root = createRootRoute({ component: Outlet });
const page = (path: string, load: () => Promise<{ default: React.ComponentType }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(loadPage(withSignInTexts(load))) });

// Without sign-in.
const publicPages = [
  page("/setup", () => import("./scenes/signIn/SetUp.tsx")),
  // Needs nothing but the first file.
  page("/sign-in", () => Promise.resolve({ default: SignIn })),
  page("/forgotten", () => import("./scenes/signIn/Forgotten.tsx")),
  page("/reset", () => import("./scenes/signIn/Reset.tsx")),
  page("/invitation", () => import("./scenes/signIn/Invitation.tsx")),
];

/** The frame and the overview are one file, which the pages before sign-in do without. */
export const loadFrame = loadPage(() => import("./scenes/frame/Frame.tsx"));

// For signed-in users.
const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: lazyRouteComponent(loadFrame),
  // Test data stays test data from page to page.
  validateSearch: (search: Record<string, unknown>) => search,
  search: { middlewares: [retainSearchParams(["mode"])] },
});
const inside = (path: string, load: () => Promise<{ default: React.ComponentType }>) =>
  createRoute({ getParentRoute: () => frame, path, component: lazyRouteComponent(loadPage(load)) });
const redirectTo = (path: string, target: string) =>
  createRoute({
    getParentRoute: () => frame,
    path,
    beforeLoad: ({ params }: { params: { site?: string } }) => {
      throw redirect({ to: target.replace("$site", params.site ?? ""), replace: true });
    },
  });

/** A list whose events open in a drawer over it. */
const withTraces = (path: string, load: () => Promise<{ default: React.ComponentType }>) => {
  const list = inside(path, load);
  const trace = createRoute({
    getParentRoute: () => list,
    path: "$event",
    component: lazyRouteComponent(loadPage(() => import("./scenes/events/Trace.tsx"))),
  });
  return list.addChildren([trace]);
};

const nowhere = createRoute({ getParentRoute: () => frame, path: "$", component: NotFound });

const routes = root.addChildren([
  ...publicPages,
  frame.addChildren([
    nowhere,
    inside("/", () => import("./scenes/sites/Home.tsx")),
    inside(
      "/sites",
      withTexts(() => import("./scenes/sites/Sites.tsx")),
    ),
    inside(
      "/account",
      withTexts(() => import("./scenes/account/Account.tsx")),
    ),
    redirectTo("/sites/$site", "/sites/$site/overview"),
    redirectTo("/sites/$site/bots", "/sites/$site/bots/clicks"),
    redirectTo("/sites/$site/configuration", "/sites/$site/configuration/keys"),
    redirectTo("/sites/$site/settings", "/sites/$site/settings/api-keys"),
    ...sitePages.map(({ path, load, hasTraces }) =>
      (hasTraces ? withTraces : inside)(`/sites/$site/${path}`, path === "overview" ? load : withTexts(load)),
    ),
    inside(
      "/sites/$site/sources/$source",
      withTexts(() => import("./scenes/sources/SourcePage.tsx")),
    ),
    inside(
      "/sites/$site/reconciliation/rows",
      withTexts(() => import("./scenes/reconciliation/RunRows.tsx")),
    ),
    inside(
      "/sites/$site/integrations/quality/$connection",
      withTexts(() => import("./scenes/integrations/quality/ConnectionQuality.tsx")),
    ),
    withTraces(
      "/sites/$site/integrations/$platform",
      withTexts(() => import("./scenes/integrations/platforms/PlatformPage.tsx")),
    ),
  ]),
]);

export const router = createRouter({
  routeTree: routes,
  basepath: "/dashboard",
  // Values stay text: an id of digits is not a number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: toSearch,
  defaultErrorComponent: Broken,
  defaultPendingComponent: Loading,
  defaultPreload: "intent",
  // What a component reads of the address stays the same object: it is not rendered again for other parts of the address.
  defaultStructuralSharing: true,
  // Opening a drawer keeps the scroll position of the list behind it.
  scrollRestoration: ({ location }) => !/\/(events|integrations\/[^/]+)\/[^/]+$/.test(location.pathname),
});
