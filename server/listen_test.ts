import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { listen, parseHostName, parseListenAddress, type RequestHandler, shownAddress } from "./listen.ts";

/** Sends a request and waits until the connection is closed; returns what came. */
function untilClosed(port: number, request: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(port, "127.0.0.1", () => socket.write(request));
    socket.on("data", (piece) => received += piece.toString("latin1"));
    socket.on("error", reject).on("close", () => resolve(received));
  });
}

function listenFor(t: TestContext, handler: RequestHandler): number {
  const listening = listen({ host: "127.0.0.1", port: 0, idleSeconds: 1, handler, onError() {} });
  t.after(() => listening.close());
  return listening.port;
}

describe("listen()", () => {
  it("closes a connection on which nothing moves", async (t) => {
    const port = listenFor(t, () => new Response("ok"));
    const [half, whole] = await Promise.all([
      untilClosed(port, "GET / HT"),
      untilClosed(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
    ]);
    assert.equal(half, "");
    assert.match(whole, /200 OK[^]*ok$/);
  });

  it("lets a handler take longer than that, and still closes the connection afterwards", async (t) => {
    const port = listenFor(t, async (_, peer) => {
      peer.keepOpen();
      await new Promise((resolve) => setTimeout(resolve, 6000));
      peer.closeWhenIdle();
      return new Response("late");
    });
    assert.match(await untilClosed(port, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"), /200 OK[^]*late$/);
  });

  it("tells where a request comes from", async (t) => {
    const port = listenFor(t, (_, peer) => new Response(peer.address()));
    const response = await fetch(`http://127.0.0.1:${port}/`);
    assert.equal(await response.text(), "127.0.0.1");
  });

  it("refuses a port that is taken", (t) => {
    const port = listenFor(t, () => new Response());
    const again = { host: "127.0.0.1", port, idleSeconds: 1, handler: () => new Response(), onError() {} };
    assert.throws(() => listen(again), { code: "cannot_listen", message: /another program listens there/ });
  });
});

describe("parseHostName()", () => {
  it("takes names and addresses, in lower case and without brackets", () => {
    const names = ["data.example", "Data.Example", "10.0.0.7", "[::1]", "my_host"].map(parseHostName);
    assert.deepEqual(names, ["data.example", "data.example", "10.0.0.7", "::1", "my_host"]);
  });

  it("refuses what no Host header can name", () => {
    for (
      const text of ["", "a b/c", "http://data.example", "data.example:8000", "data.example/", "a,b", "ü"]
    ) {
      assert.throws(() => parseHostName(text), { code: "invalid_argument" }, text);
    }
  });
});

describe("parseListenAddress()", () => {
  it("reads what people write, and what it reads is shown alike", () => {
    for (const text of ["127.0.0.1:8000", "localhost:0", "[::1]:80", "0.0.0.0:65535", "data.example:8000"]) {
      assert.equal(shownAddress(parseListenAddress(text)), text);
    }
  });

  it("refuses all else", () => {
    for (
      const text of ["", "8000", ":8000", "localhost", "::1:80", "[1.2.3.4]:80", "a b:1", "x:65536", "x:-1"]
    ) {
      assert.throws(() => parseListenAddress(text), { code: "invalid_argument" }, text);
    }
  });
});
