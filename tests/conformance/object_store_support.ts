/** What the tests of object stores share: bytes to put, streams that misbehave, and what a store holds. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { isCoded } from "../../base/errors.ts";
import type { ByteStream, ObjectStore } from "../../drivers/object_store.ts";

/** Returns a predicate for `assert.rejects` that holds an error to its kind and code. */
export function isKind(kind: string, code: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(isCoded(error), `no coded error: ${error}`);
    assert.equal(`${error.kind} ${error.code}`, `${kind} ${code}`);
    return true;
  };
}

/** Returns bytes that differ from place to place, so that a shifted or repeated piece is noticed. */
export function patternOf(size: number): Uint8Array {
  const out = new Uint8Array(size);
  for (let i = 0; i < size; i++) out[i] = (i * 31 + (i >>> 8) * 17 + (i >>> 16)) & 0xff;
  return out;
}

export async function collect(body: ByteStream): Promise<Uint8Array> {
  const copies: Uint8Array[] = [];
  for await (const piece of body) copies.push(new Uint8Array(piece));
  return new Uint8Array(Buffer.concat(copies));
}

export function assertSameBytes(actual: Uint8Array, expected: Uint8Array): void {
  assert.equal(actual.length, expected.length);
  assert.equal(Buffer.compare(actual, expected), 0, "the bytes differ");
}

export async function textOf(store: ObjectStore, key: string): Promise<string> {
  return Buffer.from(await collect((await store.get(key)).body)).toString();
}

export async function keysOf(store: ObjectStore, prefix = ""): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.pages({ prefix })) for (const { key } of page.objects) keys.push(key);
  return keys;
}

/** Yields the content through one buffer, as readers of files and sockets do; an empty piece comes first. */
export async function* piecesOf(content: Uint8Array, pieceSize: number): ByteStream {
  const buffer = Buffer.alloc(pieceSize);
  yield buffer.subarray(0, 0);
  for (let at = 0; at < content.length; at += pieceSize) {
    const piece = content.subarray(at, at + pieceSize);
    buffer.fill(0xee).set(piece);
    yield buffer.subarray(0, piece.length);
  }
  buffer.fill(0xee);
}

export async function* failingAfter(content: Uint8Array, failure: Error): ByteStream {
  yield* piecesOf(content, 65_536);
  throw failure;
}

export async function* stalledAfter(content: Uint8Array, onStall: () => void): ByteStream {
  yield* piecesOf(content, 65_536);
  setTimeout(onStall, 1);
  await new Promise(() => {});
}

export async function* watched(body: ByteStream, onClose: () => void): ByteStream {
  try {
    yield* body;
  } finally {
    onClose();
  }
}
