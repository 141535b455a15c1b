import { Anchor, type AnchorProps } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";

type Search = Readonly<Record<string, unknown>>;

/** Writes the parameters of a URL; empty ones are left out. */
export function toSearch(search: Search): string {
  const texts = new URLSearchParams();
  for (const [name, value] of Object.entries(search as Record<string, string | number | undefined>))
    if (value !== undefined && value !== "") texts.set(name, String(value));
  return texts.size ? `?${texts}` : "";
}

/** The URL of a page of the dashboard. */
export const hrefOf = (to: string, search: Search = {}): string => `/dashboard${to}${toSearch(search)}`;

/** A link to a page of the dashboard. */
export function TextLink({
  search = {},
  ...rest
}: AnchorProps & {
  to: string;
  search?: Record<string, unknown>;
  "aria-label"?: string;
  onClick?: () => void;
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
