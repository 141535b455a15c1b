// Lists of what is in flight, in the order in which it began: rings of linked nodes, each with a head that is a node, too.
//
// A Map or Set would be shorter to write, but V8 replaces its table after every few additions and removals, and each table
// refers to the next. Once one of them is in the old generation, all later ones survive young collections with everything
// that they held: requests and events that ended long ago are copied again and again, until a complete collection.

export type RingNode<Node> = { next: Node; previous: Node };

/** Links a new node, or a new head, to itself. */
export function link<Node extends RingNode<Node>>(fields: Omit<Node, keyof RingNode<Node>>): Node {
  const node = fields as Node;
  node.next = node.previous = node;
  return node;
}

/** A node is in no ring before `append` and after `remove`. A ring is empty while its head is linked to itself. */
export function isLinked<Node extends RingNode<Node>>(node: Node): boolean {
  return node.next !== node;
}

export function append<Node extends RingNode<Node>>(head: Node, node: Node): void {
  node.next = head;
  node.previous = head.previous;
  head.previous.next = node;
  head.previous = node;
}

/** Does nothing where the node is in no ring. */
export function remove<Node extends RingNode<Node>>(node: Node): void {
  node.previous.next = node.next;
  node.next.previous = node.previous;
  node.next = node.previous = node;
}

/** The nodes of a ring. The current one may be removed meanwhile, others may not. */
export function* nodesOf<Node extends RingNode<Node>>(head: Node): Generator<Node> {
  for (let node = head.next, { next } = node; node !== head; node = next, { next } = node) yield node;
}
