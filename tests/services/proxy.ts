/** A connection that a test can break: between client and server, at the moment that it chooses. */

import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import type { Ending } from "../support/temporary.ts";

export interface Fault {
  /**
   * What is broken: a request never reaches the server; it does, and the connection is cut at once; the answer to one never comes, the connection being cut; nothing comes
   * any more and the connection stays; the proxy answers in the server's place.
   */
  readonly at: "request" | "sent" | "answer" | "silence" | { readonly reply: string };
  /** How many requests, or answers, go through before. */
  readonly after?: number;
  /** Runs when the server has done what it was asked, and before the client hears that the connection is gone. */
  readonly meanwhile?: () => Promise<void>;
  /** How often it happens; default once. */
  readonly times?: number;
}

export interface Proxy {
  readonly port: number;
  /** Breaks what comes next. */
  breaks(fault: Fault): void;
  /** How many faults have happened. */
  readonly broken: number;
}

/** Opens a proxy to a port of this machine, closed when the test ends. */
export async function openProxy(t: Ending, target: number): Promise<Proxy> {
  let fault: Fault | undefined, toSkip = 0, timesLeft = 0, broken = 0;
  const sockets = new Set<Socket>();
  /** Takes the fault if it is one of this kind and its time has come. */
  function taken(isRequest: boolean): Fault | undefined {
    if (!fault || isRequest !== (fault.at !== "answer" && fault.at !== "silence")) return undefined;
    if (toSkip-- > 0) return undefined;
    const happening = fault;
    broken++;
    if (--timesLeft <= 0) fault = undefined;
    return happening;
  }
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let isSilent = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (piece) => {
      const happening = taken(true);
      if (!happening) return void upstream.write(piece);
      if (typeof happening.at === "object") return void client.write(happening.at.reply);
      if (happening.at === "sent") upstream.write(piece);
      void cut(happening);
    });
    upstream.on("data", (piece) => {
      if (isSilent) return;
      const happening = taken(false);
      if (!happening) return void client.write(piece);
      isSilent = true;
      if (happening.at === "answer") void cut(happening);
    });
    async function cut({ meanwhile }: Fault): Promise<void> {
      await meanwhile?.();
      client.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    breaks(next) {
      fault = next;
      toSkip = next.after ?? 0;
      timesLeft = next.times ?? 1;
    },
    get broken() {
      return broken;
    },
  };
}
