// Divides the sites among the nodes that live, for work that may be done twice: while nodes come and go, two of them may have the
// same site for a moment, or none until the next round.

type Divided = { store: { nodes: { listLiving(): Promise<string[]> } }; owner: string };

/** Returns whether a site is in this node's share. */
export async function readShare({ store, owner }: Divided): Promise<(siteId: string) => boolean> {
  const owners = [...new Set([...(await store.nodes.listLiving()), owner])].toSorted();
  const own = owners.indexOf(owner);
  return owners.length === 1 ? () => true : (siteId) => hash(siteId) % owners.length === own;
}

/** FNV-1a: even, and cheap enough to ask for thousands of sites in every round. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let i = 0; i < text.length; i += 1) value = Math.imul(value ^ text.charCodeAt(i), 0x01000193);
  return value >>> 0;
}
