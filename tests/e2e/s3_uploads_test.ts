/** Uploads in parts whose server is killed while they are completed. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { describe, it } from "node:test";
import { exchange, type S3Answer, signed } from "../../server/gateway/testing.ts";
import { openHome } from "../support/home.ts";
import { serveAgain, type ServedHome } from "../support/server.ts";

const KILLS = 12;
const PART_BYTES = 5 * 1024 * 1024;

async function send(
  server: ServedHome,
  [method, target]: readonly [string, string],
  body: string | Uint8Array = "",
): Promise<S3Answer> {
  const port = Number(server.url.split(":").at(-1));
  const request = signed({ method, target, port, credential: server, nowMs: Date.now() }, { body });
  return await exchange(port, { method, ...request, body: Buffer.from(body) });
}

interface Upload {
  readonly target: string;
  readonly id: string;
  readonly document: string;
  readonly whole: Buffer;
}

/** Uploads parts that are all of one size but the last, or of three. */
async function upload(server: ServedHome, run: number): Promise<Upload> {
  const target = `/data/main/big${run}`;
  const sizes = run % 2 === 0 ? [0, 0, -5 * 1024 * 1024 + 7] : [1, 0, 2];
  const parts = sizes.map((more, i) => Buffer.alloc(PART_BYTES + more, String((run + i) % 10)));
  const started = await send(server, ["POST", `${target}?uploads`]);
  const id = started.all("UploadId")[0]!;
  let document = "";
  for (const [i, part] of parts.entries()) {
    const put = await send(server, ["PUT", `${target}?partNumber=${i + 1}&uploadId=${id}`], part);
    assert.equal(put.status, 200, put.text);
    document += `<Part><PartNumber>${i + 1}</PartNumber><ETag>${put.headers.get("etag")}</ETag></Part>`;
  }
  return {
    target,
    id,
    document: `<CompleteMultipartUpload>${document}</CompleteMultipartUpload>`,
    whole: Buffer.concat(parts),
  };
}

const complete = (server: ServedHome, { target, id, document }: Upload) =>
  send(server, ["POST", `${target}?uploadId=${id}`], document);

async function isThere(server: ServedHome, { target, whole }: Upload): Promise<boolean> {
  const read = await send(server, ["GET", target]);
  if (read.status === 404) return false;
  assert.equal(read.status, 200);
  assert.ok(Buffer.from(read.bytes).equals(whole), `${target} is not what was uploaded`);
  return true;
}

describe("an upload in parts whose server is killed while it is completed", () => {
  it("is as it was, or its object is there and whole", async (t) => {
    const home = openHome(t);
    const credential = await home.json(["auth", "setup", "ann"]);
    await home.ok(["repo", "create", "lakefs://data"]);
    const args = ["--log-level", "error"];
    let server = await serveAgain(t, home, { credential, args });
    const seen = { acknowledged: 0, there: 0, open: 0 };
    // How long each kind takes that is left alone.
    const typicalMs = [0, 0];
    for (let run = 0; run < 2; run++) {
      const one = await upload(server, run);
      const start = performance.now();
      assert.equal((await complete(server, one)).status, 200);
      typicalMs[run] = performance.now() - start;
    }
    for (let run = 2; run < KILLS + 2; run++) {
      const one = await upload(server, run);
      const completing = complete(server, one).then(({ status }) => status === 200, () => false);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * typicalMs[run % 2]! * 1.5));
      server.process.kill("SIGKILL");
      await server.ended;
      const wasTold = await completing;
      server = await serveAgain(t, home, { credential, args });
      const there = await isThere(server, one);
      const parts = await send(server, ["GET", `${one.target}?uploadId=${one.id}`]);
      assert.ok(parts.status === 200 ? parts.all("PartNumber").length === 3 : there, "the upload is gone");
      if (wasTold) assert.ok(there, "an acknowledged object is gone");
      seen.acknowledged += wasTold ? 1 : 0;
      seen.there += there ? 1 : 0;
      seen.open += parts.status === 200 ? 1 : 0;
      // Whoever asks again gets what was asked for, however far it had come.
      const again = await complete(server, one);
      assert.equal(again.status, 200, again.text);
      assert.ok(await isThere(server, one));
    }
    t.diagnostic(JSON.stringify(seen));
    await home.ok(["commit", "lakefs://data/main", "-m", "all"]);
    assert.equal((await home.json(["ls", "-r", "lakefs://data/main@/"])).length, KILLS + 2);
  });
});
