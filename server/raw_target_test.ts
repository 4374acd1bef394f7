import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it, type TestContext } from "node:test";
import { listen } from "./listen.ts";

/** Returns what a server takes the target of a request for, of which these bytes are the line's. */
async function seen(t: TestContext, target: string): Promise<string | undefined> {
  let result: string | undefined;
  const listening = listen({
    host: "127.0.0.1",
    port: 0,
    idleSeconds: 5,
    handler(_, peer) {
      result = peer.target?.();
      return new Response();
    },
    onError() {},
  });
  t.after(() => listening.close());
  await new Promise<void>((resolve, reject) => {
    const socket = connect(listening.port, "127.0.0.1", () => {
      socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    });
    socket.resume().on("error", reject).on("close", () => resolve());
  });
  return result;
}

describe("the target of a request", () => {
  it("is what the line says, dot segments and all", async (t) => {
    for (
      const target of [
        "/repo/main/../../evil",
        "/repo/main/a/./b?x=/../y",
        "/repo/main/a/..",
        "/repo/main/.",
        "/repo/main/a/../",
        "/..",
        "/repo/main/a/../b%2Fc%20d?versionId=1&x",
        "/repo/main/a+b/c;d",
        "/repo/main/a%2Bb/",
        "/repo?list-type=2&prefix=a%2F..%2Fb",
      ]
    ) {
      assert.equal(await seen(t, target), target);
    }
  });

  it("may be written otherwise where it means the same", async (t) => {
    assert.equal(await seen(t, "/repo/main/%2e%2e/x"), "/repo/main/../x");
    assert.equal(await seen(t, "/repo/main/a\\b"), "/repo/main/a%5Cb");
    assert.equal(await seen(t, "/repo/main/../grün"), "/repo/main/../gr%C3%BCn");
    assert.equal(await seen(t, "http://localhost/repo/main/../a?b"), "/repo/main/../a?b");
  });

  it("is left to the URL where the router does not see it: beside empty segments, and deeper than 32", async (t) => {
    assert.equal(await seen(t, "/repo/main//a"), undefined);
    assert.equal(await seen(t, "/repo/main/a//../b"), undefined);
    assert.equal(await seen(t, "/a".repeat(33)), undefined);
    assert.equal(await seen(t, `${"/a".repeat(31)}/..`), `${"/a".repeat(31)}/..`);
  });
});
