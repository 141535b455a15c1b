// Remembers the newest of what requests to many sites bring, in a bounded memory that the sites share. A site with more than its share
// displaces its own oldest, so that a flood at one site makes the relay forget nothing of another.
//
// Invariant: of k sites, the newest max / k entries of each are there.

import { append, link, remove, type RingNode } from "../kernel/ring.ts";

/** The head of a ring has no entry. */
interface Node<Key, Value> extends RingNode<Node<Key, Value>> {
  entry: { key: Key; value: Value } | null;
}
type Site<Key, Value> = {
  id: string;
  /** The order is in a ring: to find the oldest key of a Map, V8 walks past all that were removed before it. */
  head: Node<Key, Value>;
  nodes: Map<Key, Node<Key, Value>>;
};

export function createBoundedMemory<Key, Value>(max: number) {
  const sites = new Map<string, Site<Key, Value>>();
  let size = 0;

  const isCrowded = ({ nodes }: Site<Key, Value>) => nodes.size > max / sites.size;

  /** While there are more than `max` entries, one site has more than its share. Those without are looked at again after all others. */
  function findCrowded(own: Site<Key, Value>): Site<Key, Value> {
    if (!isCrowded(own))
      for (const [id, site] of sites) {
        if (isCrowded(site)) return site;
        sites.delete(id);
        sites.set(id, site);
      }
    return own;
  }

  function forget(siteId: string, key: Key): Value | undefined {
    const site = sites.get(siteId);
    const node = site?.nodes.get(key);
    if (!site || !node) return undefined;
    remove(node);
    site.nodes.delete(key);
    if (site.nodes.size === 0) sites.delete(siteId);
    size -= 1;
    return node.entry?.value;
  }

  return {
    get: (siteId: string, key: Key): Value | undefined => sites.get(siteId)?.nodes.get(key)?.entry?.value,
    /** The entry becomes the newest of its site. Returns the value of the one that it displaces. */
    set(siteId: string, key: Key, value: Value): Value | undefined {
      const site = sites.get(siteId) ?? { id: siteId, head: link<Node<Key, Value>>({ entry: null }), nodes: new Map() };
      const known = site.nodes.get(key);
      const node = known ?? link<Node<Key, Value>>({ entry: null });
      node.entry = { key, value };
      remove(node);
      append(site.head, node);
      if (known) return undefined;
      sites.set(siteId, site);
      site.nodes.set(key, node);
      size += 1;
      if (size <= max) return undefined;
      const crowded = findCrowded(site);
      const oldest = crowded.head.next.entry;
      return oldest ? forget(crowded.id, oldest.key) : undefined;
    },
    delete: forget,
    *values(): Generator<Value> {
      for (const { nodes } of sites.values()) for (const { entry } of nodes.values()) if (entry) yield entry.value;
    },
  };
}
