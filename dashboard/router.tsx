// Every address of the dashboard. Pages are loaded when they are opened.

import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";
import { Broken } from "./scenes/frame/Broken.tsx";
import { NotFound } from "./scenes/frame/NotFound.tsx";

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound });
const page = (path: string, load: () => Promise<{ default: React.ComponentType }>) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load) });

// For everybody.
const open = [
  page("/setup", () => import("./scenes/signIn/SetUp.tsx")),
  page("/sign-in", () => import("./scenes/signIn/SignIn.tsx")),
  page("/forgotten", () => import("./scenes/signIn/Forgotten.tsx")),
  page("/reset", () => import("./scenes/signIn/Reset.tsx")),
  page("/invitation", () => import("./scenes/signIn/Invitation.tsx")),
];

// For who is signed in.
const frame = createRoute({
  getParentRoute: () => root,
  id: "frame",
  component: lazyRouteComponent(() => import("./scenes/frame/Frame.tsx")),
});
const inside = (path: string, load: () => Promise<{ default: React.ComponentType }>) =>
  createRoute({ getParentRoute: () => frame, path, component: lazyRouteComponent(load) });
const toFirst = (path: string, first: string) =>
  createRoute({
    getParentRoute: () => frame,
    path,
    beforeLoad: ({ params }: { params: { site?: string } }) => {
      throw redirect({ to: first.replace("$site", params.site ?? ""), replace: true });
    },
  });

/** A list whose events open in a drawer over it. */
const withTraces = (path: string, load: () => Promise<{ default: React.ComponentType }>) => {
  const list = inside(path, load);
  const trace = createRoute({
    getParentRoute: () => list,
    path: "$event",
    component: lazyRouteComponent(() => import("./scenes/events/Trace.tsx")),
  });
  return list.addChildren([trace]);
};

const routes = root.addChildren([
  ...open,
  frame.addChildren([
    inside("/", () => import("./scenes/sites/Home.tsx")),
    inside("/sites", () => import("./scenes/sites/Sites.tsx")),
    inside("/account", () => import("./scenes/settings/Account.tsx")),
    toFirst("/sites/$site", "/sites/$site/overview"),
    inside("/sites/$site/overview", () => import("./scenes/overview/Overview.tsx")),
    withTraces("/sites/$site/events", () => import("./scenes/events/Events.tsx")),
    inside("/sites/$site/integrations", () => import("./scenes/integrations/Platforms.tsx")),
    withTraces("/sites/$site/integrations/log", () => import("./scenes/integrations/SyncLog.tsx")),
    inside("/sites/$site/integrations/webhooks", () => import("./scenes/integrations/Webhooks.tsx")),
    withTraces("/sites/$site/integrations/$platform", () => import("./scenes/integrations/PlatformPage.tsx")),
    toFirst("/sites/$site/configuration", "/sites/$site/configuration/keys"),
    inside("/sites/$site/configuration/keys", () => import("./scenes/configuration/InboundKeys.tsx")),
    inside("/sites/$site/configuration/tag", () => import("./scenes/configuration/Tag.tsx")),
    inside("/sites/$site/configuration/domains", () => import("./scenes/configuration/Domains.tsx")),
    inside("/sites/$site/configuration/traffic", () => import("./scenes/configuration/Traffic.tsx")),
    inside("/sites/$site/configuration/consent", () => import("./scenes/configuration/Consent.tsx")),
    inside(
      "/sites/$site/configuration/deduplication",
      () => import("./scenes/configuration/Deduplication.tsx"),
    ),
    toFirst("/sites/$site/settings", "/sites/$site/settings/api-keys"),
    inside("/sites/$site/settings/api-keys", () => import("./scenes/settings/ApiKeys.tsx")),
    inside("/sites/$site/settings/members", () => import("./scenes/settings/Members.tsx")),
    inside("/sites/$site/settings/alerts", () => import("./scenes/settings/Alerts.tsx")),
    inside("/sites/$site/settings/oauth-apps", () => import("./scenes/settings/OAuthApps.tsx")),
    inside("/sites/$site/settings/audit", () => import("./scenes/settings/Audit.tsx")),
  ]),
]);

export const router = createRouter({
  routeTree: routes,
  basepath: "/dashboard",
  // Texts, as they stand there: an id that is all digits is no number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const texts = new URLSearchParams();
    for (const [name, value] of Object.entries(search as Record<string, string | number | undefined>))
      if (value !== undefined && value !== "") texts.set(name, String(value));
    return texts.size ? `?${texts}` : "";
  },
  defaultErrorComponent: Broken,
  defaultPreload: "intent",
  // A drawer leaves the list behind it where it is.
  scrollRestoration: ({ location }) => !/\/(events|integrations\/[^/]+)\/[^/]+$/.test(location.pathname),
});
