import { Fragment, type ReactNode } from "react";

/** The names of the tags in a text: "a <link>b</link> <email/>" has link and email. */
type Tags<Text extends string> = string extends Text
  ? string
  : Text extends `${string}</${infer Name}>${infer Rest}`
    ? Name | EmptyTags<Text> | Tags<Rest>
    : EmptyTags<Text>;
type EmptyTags<Text extends string> = Text extends `${infer Head}/>${infer Rest}` ? LastTag<Head> | EmptyTags<Rest> : never;
type LastTag<Head extends string> = Head extends `${string}<${infer Tail}`
  ? Tail extends `${string}<${string}`
    ? LastTag<Tail>
    : Tail
  : never;

const pattern = /<(\w+)>(.*?)<\/\1>|<(\w+)\/>/gs;

/**
 * Shows a text with elements in it: `<link>text</link>` calls `link("text")`, and `<email/>` calls `email("")`. A value that
 * a user typed is shown with an empty tag and never put into the text, where it could contain tags.
 */
export function RichText<const Text extends string>({
  text,
  tags,
}: {
  text: Text;
  tags: Readonly<Record<Tags<Text>, (content: string) => ReactNode>>;
}) {
  const drawn: ReactNode[] = [];
  let end = 0;
  for (const found of text.matchAll(pattern)) {
    const [whole, name, content = "", empty] = found;
    drawn.push(text.slice(end, found.index));
    const draw = (tags as Readonly<Record<string, (content: string) => ReactNode>>)[name ?? empty ?? ""];
    drawn.push(<Fragment key={found.index}>{draw ? draw(content) : content}</Fragment>);
    end = found.index + whole.length;
  }
  return (
    <>
      {drawn}
      {text.slice(end)}
    </>
  );
}
