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

  it("fails when there are fewer bytes than the request declares", async () => {
    const read = async () => {
      for await (const _ of bodyStream(requestOf([new Uint8Array(3)], { "content-length": "4" })));
    };
    await assert.rejects(read, { code: "canceled" });
  });
});
