import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { bodyStream } from "./body.ts";

function requestOf(pieces: readonly Uint8Array[], headers: Record<string, string> = {}): Request {
  const body = new ReadableStream({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const init = { method: "POST", body, headers, duplex: "half" };
  return new Request("http://localhost/", init as RequestInit);
}

describe("bodyStream()", () => {
  it("yields all bytes, and gives a piece's memory back when the next is asked for", async () => {
    const memory = new Uint8Array([7, 7, 7, 4, 5, 7]);
    const pieces = [new Uint8Array([1, 2, 3]), memory.subarray(3, 5), new Uint8Array([6])];
    const seen: number[] = [];
    for await (const piece of bodyStream(requestOf(pieces))) seen.push(...piece);
    assert.deepEqual(seen, [1, 2, 3, 4, 5, 6]);
    assert.deepEqual(pieces.map(({ length }) => length), [0, 2, 0]);
    // What has no memory to itself is left alone.
    assert.deepEqual([...memory], [7, 7, 7, 4, 5, 7]);
  });

  it("yields plain arrays, whose slices are copies", async () => {
    const kept: Uint8Array[] = [];
    for await (const piece of bodyStream(requestOf([new Uint8Array([1]), new Uint8Array([2])]))) {
      kept.push(piece.slice());
    }
    assert.deepEqual(kept.map((piece) => [...piece]), [[1], [2]]);
  });

  it("lets go of a body that nobody reads on", async () => {
    let isCanceled = false;
    const body = new ReadableStream({
      pull: (controller) => controller.enqueue(new Uint8Array(70_000)),
      cancel: () => void (isCanceled = true),
    });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    for await (const _ of bodyStream(new Request("http://localhost/", init))) break;
    await new Promise((resolve) => setImmediate(resolve));
    assert.ok(isCanceled);
  });

  it("fails when the client goes away", async () => {
    const body = new ReadableStream({ pull: (controller) => controller.error(new Error("gone")) });
    const init = { method: "POST", body, duplex: "half" } as RequestInit;
    const read = async () => {
      for await (const _ of bodyStream(new Request("http://localhost/", init)));
    };
    await assert.rejects(read, { code: "canceled" });
  });

  it("fails when there are fewer bytes than the request declares", async () => {
    const read = async () => {
      for await (const _ of bodyStream(requestOf([new Uint8Array(3)], { "content-length": "4" })));
    };
    await assert.rejects(read, { code: "canceled" });
  });
});
