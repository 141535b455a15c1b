// The frame of every signed-in page: site switcher, sections, search.

import "./frame.css";
import { ActionIcon, Alert, Box, Burger, Button, Group, Kbd, Popover, Text, UnstyledButton } from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { Link, Outlet, useBlocker, useLocation, useNavigate } from "@tanstack/react-router";
import {
  Bell,
  Bot,
  GitCompareArrows,
  Inbox,
  LayoutDashboard,
  ListTree,
  Plug,
  Search,
  Settings,
  SlidersHorizontal,
  Unplug,
  UserRound,
} from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { BrandMark } from "./BrandMark.tsx";
import { useLastReached } from "../../common/api/query.ts";
import { isSigningIn, signInAgain, useSignInQuestion } from "../../common/api/signInAgain.ts";
import { SiteContext, useFindSite, useSession, useSite, useSiteId, useSites, type Site } from "../../common/api/session.ts";
import { askToDiscard, hasUnsaved, isLostBetween, useHasUnsaved, useQuestion } from "../../common/forms/unsaved.ts";
import { timeText } from "../../common/format/times.ts";
import { Insecure } from "./Insecure.tsx";
import { UnknownSite } from "./ErrorPages.tsx";
import { SiteSwitcher } from "./SiteSwitcher.tsx";
import { UserMenu } from "./UserMenu.tsx";
import { startTypeAhead, takeTypeAhead } from "./typeAhead.ts";
import { LoadError, Loading } from "../../common/states.tsx";
import { withTexts } from "../../messages/catalogue/catalogue.ts";
import { frameText } from "../../messages/frame.ts";

const isApple = /^(Mac|iP)/.test(navigator.platform);
const loadJump = withTexts(() => import("./Jump.tsx"));
const Jump = lazy(loadJump);
const loadGuards = withTexts(() => import("./Guards.tsx"));
const loadAlerts = withTexts(() => import("./OpenAlerts.tsx"));
const AlertList = lazy(async () => ({ default: (await loadAlerts()).AlertList }));
const AlertBanner = lazy(async () => ({ default: (await loadAlerts()).AlertBanner }));
const LeaveDialog = lazy(async () => ({ default: (await loadGuards()).LeaveDialog }));
const SignInAgain = lazy(async () => ({ default: (await loadGuards()).SignInAgain }));

const sections = [
  { path: "overview", icon: LayoutDashboard },
  { path: "events", icon: ListTree },
  { path: "sources", icon: Inbox },
  { path: "integrations", icon: Plug },
  { path: "reconciliation", icon: GitCompareArrows },
  { path: "leads", icon: UserRound },
  { path: "bots", icon: Bot },
  { path: "configuration", icon: SlidersHorizontal },
  { path: "settings", icon: Settings },
] as const;

export default function Frame() {
  const session = useShownSession();
  const [isOpen, { toggle, close }] = useDisclosure();
  const site = useFindSite(useSiteId());
  const shown = useShownSite(site);
  // The search is loaded at its first use.
  const [isSearchLoaded, setSearchLoaded] = useState(false);
  const [isSearching, setSearching] = useState(false);
  const jump = () => {
    startTypeAhead();
    loadJump().then(
      () => setSearchLoaded(true),
      () => takeTypeAhead(),
    );
    setSearching(true);
  };
  useHotkeys([["mod+K", isSearching ? () => setSearching(false) : jump]], []);
  return (
    <SiteContext value={site}>
      <OnNewPage act={close} />
      {session.data === null && <ToSignIn />}
      <Guards email={session.data?.user.email ?? ""} />
      <div className="cc-frame" data-open={isOpen}>
        <a href="#content" className="cc-hidden">
          {frameText.skip}
        </a>
        <header>
          <Burger
            opened={isOpen}
            onClick={toggle}
            size="sm"
            aria-label={isOpen ? frameText.closeNavigation : frameText.openNavigation}
          />
          <div style={{ flex: 1, minWidth: 0 }}>{session.data && <SiteSwitcher site={shown.site} onFind={jump} />}</div>
          <AlertBell />
          <SearchButton compact onOpen={jump} />
        </header>
        <nav aria-label={frameText.sections.label}>
          <Group px={12} h={40} mb={4} justify="space-between">
            <Brand />
            <Box visibleFrom="sm">
              <AlertBell />
            </Box>
          </Group>
          <Box visibleFrom="sm" mih={34}>
            {session.data && <SiteSwitcher site={shown.site} onFind={jump} />}
          </Box>
          <SearchButton onOpen={jump} />
          {shown.id && (
            <Group
              component="ul"
              gap={2}
              m={0}
              mt="sm"
              p={0}
              style={{ listStyle: "none", flexDirection: "column", alignItems: "stretch" }}
            >
              {sections.map(({ path, icon: Icon }) => (
                <li key={path}>
                  <Link to={`/sites/${shown.id}/${path}`} className="cc-nav">
                    <Icon size={17} aria-hidden />
                    {frameText.sections[path]}
                  </Link>
                </li>
              ))}
            </Group>
          )}
          <div style={{ flex: 1 }} />
          {session.data && <UserMenu name={session.data.user.name} email={session.data.user.email} />}
        </nav>
        <main id="content" tabIndex={-1}>
          <Unreachable />
          {session.data ? (
            <>
              <Insecure />
              <Banner />
              <SitePage />
            </>
          ) : session.error ? (
            <LoadError error={session.error} onRetry={() => void session.refetch()} />
          ) : (
            <Loading />
          )}
        </main>
        {isSearchLoaded && (
          <Suspense fallback={null}>
            <Jump isOpen={isSearching} onClose={() => setSearching(false)} />
          </Suspense>
        )}
      </div>
    </SiteContext>
  );
}

/** The site of the navigation. A page of no site, such as the account, keeps the one that the user comes from. */
function useShownSite(site: Site | undefined): { id: string; site: Site | undefined } {
  const { data } = useSites();
  const named = useSiteId();
  const isList = useLocation({ select: ({ pathname }) => pathname === "/sites" });
  const [last, setLast] = useState(() => sessionStorage.getItem("cleancast-site"));
  if (site && site.id !== last) setLast(site.id);
  useEffect(() => {
    if (last !== null) sessionStorage.setItem("cleancast-site", last);
  }, [last]);
  const shown = site ?? (isList ? undefined : data?.items.find(({ id }) => id === last));
  // The navigation does not wait for the list of sites.
  return { id: data ? (shown?.id ?? "") : named, site: shown };
}

/** The session; with unsaved input the last one, while the user is asked to sign in again. */
function useShownSession() {
  const session = useSession();
  const [last, setLast] = useState(session.data);
  if (session.data && session.data !== last) setLast(session.data);
  const isEnded = session.data === null && last !== null && last !== undefined;
  const isKept = isEnded && (isSigningIn() || hasUnsaved());
  useEffect(() => {
    if (isKept) void signInAgain();
  }, [isKept]);
  return isKept ? { ...session, data: last } : session;
}

/** Asks before unsaved input is lost, and for an expired sign-in. */
function Guards({ email }: { email: string }) {
  const question = useQuestion();
  const answerSignIn = useSignInQuestion();
  const isNeeded = useHasUnsaved();
  useEffect(() => {
    // Before it is needed: then the relay may be down.
    if (isNeeded) void loadGuards();
  }, [isNeeded]);
  useBlocker({
    shouldBlockFn: async ({ current, next }) => isLostBetween(current, next) && !(await askToDiscard()),
    enableBeforeUnload: hasUnsaved,
    disabled: !isNeeded,
  });
  return (
    <Suspense fallback={null}>
      {question && <LeaveDialog answer={question} />}
      {answerSignIn && <SignInAgain email={email} answer={answerSignIn} />}
    </Suspense>
  );
}

function ToSignIn() {
  const navigate = useNavigate();
  const { href, pathname } = useLocation();
  useEffect(() => {
    // While the sign-in page loads, the frame is still mounted and the URL is already that page's.
    if (pathname !== "/sign-in") void navigate({ to: "/sign-in", search: { next: href }, replace: true });
  }, [navigate, href, pathname]);
  return null;
}

/** A component of its own: the frame is not rendered again for each page. */
function OnNewPage({ act }: { act: () => void }) {
  const { pathname } = useLocation();
  useEffect(act, [pathname, act]);
  return null;
}

/** The page, unless the URL names a site that is not one of this user's. */
function SitePage() {
  const { data, isFetching } = useSites();
  const site = useSite();
  const isNamed = useSiteId() !== "";
  if (!isNamed || !data || site) return <Outlet />;
  // A site that was added a moment ago is not in the list yet.
  return isFetching ? <Loading /> : <UnknownSite />;
}

function Brand() {
  return (
    <Link to="/sites" style={{ textDecoration: "none", color: "inherit" }}>
      <Group gap={8} wrap="nowrap">
        <BrandMark size={22} />
        <Text fw={650} fz={15}>
          Cleancast
        </Text>
      </Group>
    </Link>
  );
}

/** Announces open alerts on every page of the site. */
function AlertBell() {
  const site = useSite();
  const [isOpen, { close, toggle }] = useDisclosure();
  const count = site?.health.figures?.openAlerts ?? 0;
  if (!site || count === 0) return null;
  return (
    <Popover opened={isOpen} onChange={(opened) => !opened && close()} position="bottom-start" returnFocus withRoles={false}>
      <Popover.Target>
        <Button
          variant="subtle"
          color="red"
          size="compact-sm"
          leftSection={<Bell size={17} aria-hidden />}
          aria-label={frameText.issues(count)}
          aria-expanded={isOpen}
          onClick={toggle}
        >
          {count}
        </Button>
      </Popover.Target>
      <Popover.Dropdown role="dialog" aria-label={frameText.issues(count)}>
        <Suspense fallback={<Loading rows={2} />}>
          <AlertList site={site} onClose={close} />
        </Suspense>
      </Popover.Dropdown>
    </Popover>
  );
}

function Banner() {
  const site = useSite();
  if (!site || !site.health.figures?.openAlerts) return null;
  return (
    <Suspense fallback={null}>
      <AlertBanner site={site} />
    </Suspense>
  );
}

function SearchButton({ compact = false, onOpen }: { compact?: boolean; onOpen: () => void }) {
  if (compact)
    return (
      <ActionIcon variant="subtle" color="gray" aria-label={frameText.search} onClick={onOpen}>
        <Search size={18} />
      </ActionIcon>
    );
  return (
    <UnstyledButton className="cc-nav" mt="xs" onClick={onOpen}>
      <Search size={17} aria-hidden />
      <Text size="sm" c="dimmed" style={{ flex: 1 }}>
        {frameText.jumpTo}
      </Text>
      <Kbd size="xs">{isApple ? "⌘K" : frameText.shortcut}</Kbd>
    </UnstyledButton>
  );
}

/** A banner above the page while the relay cannot be reached. Queries are repeated until it answers. */
function Unreachable() {
  const reachedAt = useLastReached();
  const timeZone = useSite()?.timeZone;
  if (reachedAt === null) return null;
  return (
    <Alert
      variant="filled"
      color="red"
      icon={<Unplug size={18} />}
      title={frameText.unreachable.title}
      styles={{ title: { color: "inherit" }, label: { color: "var(--mantine-color-white)" } }}
      mb="lg"
      maw={1280}
      mx="auto"
    >
      {reachedAt > 0 && frameText.unreachable.about(timeText(reachedAt, timeZone))}
    </Alert>
  );
}
