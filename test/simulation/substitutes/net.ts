// The sockets that the product creates for the driver. A simulated connection belongs to each.

import { EventEmitter } from "node:events";

export { isIP } from "node:net";

export class Socket extends EventEmitter {
  destroyed = false;

  connect(): this {
    return this;
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.destroyed = true;
    queueMicrotask(() => {
      if (error) this.emit("error", error);
      this.emit("close");
    });
    return this;
  }
}
