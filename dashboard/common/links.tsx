import { Anchor, type AnchorProps } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

/** A link to a page of the dashboard. */
export function TextLink({
  search = {},
  ...rest
}: AnchorProps & {
  to: string;
  search?: Record<string, unknown>;
  "aria-label"?: string;
  children: ReactNode;
}) {
  return <Anchor component={Link} size="sm" search={search as never} {...rest} />;
}

export function ExternalLink({ href, children }: { href: string; children: ReactNode }) {
  return (
    <Anchor href={href} target="_blank" rel="noopener noreferrer" size="sm">
      {children}
    </Anchor>
  );
}

/** `page` is a path below /docs, which the relay serves itself. */
export function DocsLink({ page, children }: { page: string; children: ReactNode }) {
  return (
    <Anchor href={`/docs/${page}`} target="_blank" rel="noopener" inherit underline="always">
      {children}
    </Anchor>
  );
}
