// The frame of every signed-in page: site switcher, sections, search.

import {
  ActionIcon,
  AppShell,
  Avatar,
  Box,
  Burger,
  Group,
  Kbd,
  Menu,
  Text,
  UnstyledButton,
  VisuallyHidden,
  useMantineColorScheme,
} from "@mantine/core";
import { useDisclosure, useHotkeys } from "@mantine/hooks";
import { Link, Outlet, useLocation, useNavigate } from "@tanstack/react-router";
import {
  BookOpen,
  Check,
  ChevronsUpDown,
  Bot,
  Filter,
  GitCompareArrows,
  Inbox,
  Languages,
  LayoutDashboard,
  ListTree,
  LogOut,
  MonitorCog,
  Moon,
  Plug,
  Search,
  Settings,
  SlidersHorizontal,
  Sun,
  UserRound,
} from "lucide-react";
import { lazy, Suspense, useEffect, useState } from "react";
import { call } from "../../common/api/api.ts";
import { queryClient, useLastReached } from "../../common/api/query.ts";
import { SiteContext, useFindSite, useSession, useSite, useSiteId, useSites } from "../../common/api/session.ts";
import { timeText } from "../../common/format/times.ts";
import { UnknownSite } from "./ErrorPages.tsx";
import { startTypeAhead, takeTypeAhead } from "./typeAhead.ts";
import { AlertBanner } from "./AlertBanner.tsx";
import { LoadError, Loading } from "../../common/states.tsx";
import { chooseLanguage } from "../../common/shownLanguage.ts";
import { language, languageNames, languages } from "../../messages/catalogue/language.ts";
import { commonText } from "../../messages/common.ts";
import { frameText } from "../../messages/frame.ts";

const isApple = /^(Mac|iP)/.test(navigator.platform);
const loadJump = () => import("./Jump.tsx");
const Jump = lazy(loadJump);

const sections = [
  { path: "overview", icon: LayoutDashboard },
  { path: "events", icon: ListTree },
  { path: "sources", icon: Inbox },
  { path: "integrations", icon: Plug },
  { path: "reconciliation", icon: GitCompareArrows },
  { path: "funnel", icon: Filter },
  { path: "leads", icon: UserRound },
  { path: "bots", icon: Bot },
  { path: "configuration", icon: SlidersHorizontal },
  { path: "settings", icon: Settings },
] as const;

export default function Frame() {
  const session = useSession();
  const [isOpen, { toggle, close }] = useDisclosure();
  const siteId = useSiteId();
  const site = useFindSite();
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
  if (session.error) return <LoadError error={session.error} onRetry={() => void session.refetch()} />;
  if (!session.data)
    return (
      <>
        <Loading />
        {session.data === null && <ToSignIn />}
      </>
    );
  return (
    <SiteContext value={site}>
      <OnNewPage act={close} />
      <AppShell
        header={{ height: { base: 56, sm: 0 } }}
        navbar={{ width: 248, breakpoint: "sm", collapsed: { mobile: !isOpen } }}
        padding="lg"
      >
        <a href="#content" className="cc-skip">
          {frameText.skip}
        </a>
        <AppShell.Header hiddenFrom="sm" px="md">
          <Group h="100%" gap="sm" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={toggle}
              size="sm"
              aria-label={isOpen ? frameText.closeNavigation : frameText.openNavigation}
            />
            <div style={{ flex: 1, minWidth: 0 }}>
              <SiteSwitcher />
            </div>
            <SearchButton compact onOpen={jump} />
          </Group>
        </AppShell.Header>
        <AppShell.Navbar p="sm" aria-label={frameText.sections.label}>
          <Group px={12} h={40} mb={4}>
            <Brand />
          </Group>
          <Box visibleFrom="sm">
            <SiteSwitcher />
          </Box>
          <SearchButton onOpen={jump} />
          {siteId && (
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
                  <Link to={`/sites/${siteId}/${path}`} className="cc-nav">
                    <Icon size={17} aria-hidden />
                    {frameText.sections[path]}
                  </Link>
                </li>
              ))}
            </Group>
          )}
          <div style={{ flex: 1 }} />
          <UserMenu name={session.data.user.name} email={session.data.user.email} />
        </AppShell.Navbar>
        <AppShell.Main id="content" tabIndex={-1}>
          <Unreachable />
          <AlertBanner />
          <SitePage />
        </AppShell.Main>
        {isSearchLoaded && (
          <Suspense fallback={null}>
            <Jump isOpen={isSearching} onClose={() => setSearching(false)} />
          </Suspense>
        )}
      </AppShell>
    </SiteContext>
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
        <img src="/dashboard/icon.svg" width={22} height={22} alt="" />
        <Text fw={650} fz={15}>
          Cleancast
        </Text>
      </Group>
    </Link>
  );
}

function SiteSwitcher() {
  const { data } = useSites();
  const site = useSite();
  const navigate = useNavigate();
  const section = useLocation({ select: ({ pathname }) => pathname.split("/")[3] });
  const sites = data?.items ?? [];
  return (
    <Menu width={224} position="bottom-start">
      <Menu.Target>
        <UnstyledButton
          className="cc-card"
          px={12}
          py={6}
          w="100%"
          aria-label={frameText.switchSite(site?.name ?? frameText.allSites)}
        >
          <Group justify="space-between" wrap="nowrap" gap="xs">
            <Text size="sm" fw={500} truncate>
              {site?.name ?? frameText.allSites}
            </Text>
            <ChevronsUpDown size={15} aria-hidden className="cc-quiet" />
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown style={{ maxHeight: 420, overflowY: "auto" }}>
        <Menu.Item onClick={() => void navigate({ to: "/sites" })}>{frameText.allSites}</Menu.Item>
        <Menu.Divider />
        {sites.map(({ id, name }) => (
          <Menu.Item
            key={id}
            rightSection={id === site?.id ? <Check size={15} /> : null}
            // Opens the same section of the other site.
            onClick={() => void navigate({ to: `/sites/${id}/${section ?? "overview"}` })}
          >
            {name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
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
    <UnstyledButton className="cc-nav" mt="xs" onClick={onOpen} style={{ fontWeight: 400 }}>
      <Search size={17} aria-hidden />
      <Text size="sm" c="dimmed" style={{ flex: 1 }}>
        {frameText.jumpTo}
      </Text>
      <Kbd size="xs">{isApple ? "⌘K" : frameText.shortcut}</Kbd>
    </UnstyledButton>
  );
}

function UserMenu({ name, email }: { name: string; email: string }) {
  const navigate = useNavigate();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const schemes = [
    { value: "light", label: frameText.menu.light, icon: Sun },
    { value: "dark", label: frameText.menu.dark, icon: Moon },
    { value: "auto", label: frameText.menu.system, icon: MonitorCog },
  ] as const;
  return (
    <Menu width={224} position="top-start">
      <Menu.Target>
        <UnstyledButton px={12} py={8}>
          <Group gap="xs" wrap="nowrap">
            <Avatar size={28} name={name} color="accent" aria-hidden />
            <div style={{ minWidth: 0 }}>
              <Text size="sm" fw={500} truncate>
                {name}
              </Text>
              <Text size="xs" c="dimmed" truncate>
                {email}
              </Text>
              <VisuallyHidden>{frameText.menu.about}</VisuallyHidden>
            </div>
          </Group>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item leftSection={<UserRound size={15} />} onClick={() => void navigate({ to: "/account" })}>
          {frameText.menu.account}
        </Menu.Item>
        <Menu.Item leftSection={<BookOpen size={15} />} component="a" href="/docs/">
          {frameText.menu.documentation}
        </Menu.Item>
        <Menu.Divider />
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={15} />}
            rightSection={colorScheme === value ? <Check size={15} /> : null}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Label>{commonText.language}</Menu.Label>
        {languageNames.map((one) => (
          <Menu.Item
            key={one}
            lang={one}
            leftSection={<Languages size={15} />}
            rightSection={language() === one ? <Check size={15} /> : null}
            onClick={() => void chooseLanguage(one)}
          >
            {languages[one]}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<LogOut size={15} />}
          onClick={() =>
            void call("DELETE /session", {}).finally(() => {
              queryClient.clear();
              void navigate({ to: "/sign-in" });
            })
          }
        >
          {frameText.menu.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

/** A line above the page while the relay cannot be reached. Queries are repeated until it answers. */
function Unreachable() {
  const reachedAt = useLastReached();
  const timeZone = useSite()?.timeZone;
  return (
    <Text role="status" size="sm" c="dimmed" maw={1280} mx="auto" mb={reachedAt === null ? 0 : "md"}>
      {reachedAt !== null && frameText.unreachable(timeText(reachedAt, timeZone))}
    </Text>
  );
}
