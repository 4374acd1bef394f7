import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { concatBytes, lossyText, utf8 } from "../base/bytes.ts";
import type { ByteStream } from "../drivers/object_store.ts";
import { boundaryOf, openFormField } from "./multipart.ts";

const OPTIONS = { boundary: "b0", name: "content", headerBytes: 1000 };

/** A piece is good until the next one is asked for. */
async function* inPieces(text: string, size: number): ByteStream {
  const bytes = utf8(text);
  for (let at = 0; at < bytes.length; at += size) {
    const piece = bytes.slice(at, at + size);
    yield piece;
    piece.buffer.transfer(0);
  }
}

function part(name: string, body: string, type?: string): string {
  const typeLine = type ? `Content-Type: ${type}\r\n` : "";
  return `--b0\r\nContent-Disposition: form-data; name="${name}"; filename="f"\r\n${typeLine}\r\n${body}\r\n`;
}

async function contentOf(text: string, size = 7): Promise<{ type: string | undefined; text: string }> {
  const { contentType, body } = await openFormField(inPieces(text, size), OPTIONS);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece.slice());
  return { type: contentType, text: lossyText(concatBytes(...pieces)) };
}

describe("openFormField()", () => {
  it("gives one field's exact bytes, however the form is cut into pieces", async () => {
    const bodies = [
      "",
      "x",
      "hello",
      "\r\n",
      "--b0",
      "\r\n--b",
      "\r\n--b1\r\n",
      "a\r\n-\r\n--b\r\n--",
      "é".repeat(50),
    ];
    for (const body of bodies) {
      const form = `${part("other", "--b0x")}${part("content", body, "text/x")}${
        part("after", "y")
      }--b0--\r\n`;
      for (let size = 1; size <= form.length; size += size < 40 ? 1 : 37) {
        assert.deepEqual(
          await contentOf(form, size),
          { type: "text/x", text: body },
          `${JSON.stringify(body)} by ${size}`,
        );
      }
    }
  });

  it("fails for a form that is cut short anywhere", async () => {
    const form = `${part("content", "hello")}--b0--`;
    for (let length = 0; length < form.length; length++) {
      await assert.rejects(
        contentOf(form.slice(0, length)),
        { code: "invalid_request" },
        form.slice(0, length),
      );
    }
    assert.equal((await contentOf(form)).text, "hello");
  });

  it("fails without the field, with endless headers, and with junk behind a boundary", async () => {
    await assert.rejects(contentOf(`${part("other", "x")}--b0--`), { code: "invalid_request" });
    await assert.rejects(contentOf(`--b0\r\nX: ${"y".repeat(3000)}\r\n\r\nx\r\n--b0--`), {
      code: "invalid_request",
    });
    await assert.rejects(contentOf("--b0junk\r\n\r\n\r\n--b0--"), { code: "invalid_request" });
    await assert.rejects(contentOf("no form at all"), { code: "invalid_request" });
  });

  it("closes its source when the reader leaves", async () => {
    let isClosed = false;
    async function* source(): ByteStream {
      try {
        yield* inPieces(`${part("content", "x".repeat(1000))}--b0--`, 50);
      } finally {
        isClosed = true;
      }
    }
    const { body } = await openFormField(source(), OPTIONS);
    for await (const _ of body) break;
    assert.ok(isClosed);
  });
});

describe("boundaryOf()", () => {
  it("finds the boundary of forms alone", () => {
    assert.equal(boundaryOf("multipart/form-data; boundary=abc"), "abc");
    assert.equal(boundaryOf('Multipart/Form-Data; charset=x; boundary="a b:c"'), "a b:c");
    assert.equal(boundaryOf("multipart/mixed; boundary=abc"), undefined);
    assert.equal(boundaryOf("text/plain"), undefined);
    assert.equal(boundaryOf(null), undefined);
  });
});
