// Loading, empty and error states.

import { Alert, Button, Center, Skeleton, Stack, Text, ThemeIcon, Title } from "@mantine/core";
import { CircleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import type { ApiError } from "./api/api.ts";
import { commonText } from "../messages/common.ts";

export function Loading({ rows = 5, height = 36 }: { rows?: number; height?: number }) {
  return (
    <Stack gap="xs" p="md" role="status" aria-label={commonText.loading}>
      {Array.from({ length: rows }, (_, i) => (
        <Skeleton key={i} height={height} radius="sm" />
      ))}
    </Stack>
  );
}

/** Says what will appear here, and the next step. */
export function Empty({
  icon: Icon,
  title,
  children,
  action,
  isPage = false,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
  /** It is the whole page, so its title is the page's. */
  isPage?: boolean;
}) {
  return (
    <Center p="xl" mih={240}>
      <Stack align="center" gap="sm" maw={440}>
        <ThemeIcon size={48} radius="xl" variant="light" color="gray">
          <Icon size={24} aria-hidden />
        </ThemeIcon>
        <Title order={isPage ? 1 : 2} ta="center">
          {title}
        </Title>
        {children && (
          <Text ta="center" c="dimmed" component="div">
            {children}
          </Text>
        )}
        {action}
      </Stack>
    </Center>
  );
}

export function LoadError({ error, onRetry }: { error: ApiError; onRetry?: () => void }) {
  return (
    <Alert m="md" variant="light" color="red" icon={<CircleAlert size={18} />} title={commonText.couldNotLoad} role="alert">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{error.message}</Text>
        {onRetry && (
          <Button size="xs" variant="default" onClick={onRetry}>
            {commonText.tryAgain}
          </Button>
        )}
      </Stack>
    </Alert>
  );
}

/** What of a query is needed to show its state. */
type Query = { data: unknown; error: ApiError | null; refetch?: () => unknown };

/** Shows that data is loading or could not be loaded; once it is there, `empty` or nothing. */
export function LoadState({ of, empty, ...size }: { of: Query; empty?: ReactNode; rows?: number; height?: number }) {
  const { data, error, refetch } = of;
  if (error) return <LoadError error={error} {...(refetch ? { onRetry: () => void refetch() } : {})} />;
  return data ? empty : <Loading {...size} />;
}

/** Shown next to the button that failed. */
export function RequestError({ error }: { error: ApiError | null }) {
  if (!error) return null;
  return (
    <Alert variant="light" color="red" icon={<CircleAlert size={18} />} role="alert">
      {error.message}
    </Alert>
  );
}
