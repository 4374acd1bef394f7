import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { inflateSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";
import { seededRandomness } from "../../base/randomness.ts";
import { testServer } from "../testing.ts";
import { lakesParquet } from "./lakes.ts";
import { lakePicture } from "./pictures.ts";

describe("a repository with sample data", () => {
  it("begins with one commit of it, which is the same every time", async (t) => {
    const { send } = await testServer(t);
    const checksums: string[] = [];
    for (const name of ["one", "two"]) {
      const body = { name, storage_namespace: `local://${name}`, default_branch: "trunk", sample_data: true };
      assert.equal((await send("POST", "/repositories", { body })).status, 201);
      const root = await send("GET", `/repositories/${name}/refs/trunk/objects/ls?delimiter=/`);
      const paths = root.json.results.map(({ path }: { path: string }) => path);
      assert.deepEqual(paths, ["README.md", "data/", "images/", "lakes.parquet"]);
      checksums.push(root.json.results.at(-1).checksum);
      const pictures = await send("GET", `/repositories/${name}/refs/trunk@/objects/ls?prefix=images/`);
      assert.equal(pictures.json.results.length, 29);
      const log = (await send("GET", `/repositories/${name}/refs/trunk/commits`)).json.results;
      const told = log.map((one: { message: string; committer: string }) => [one.message, one.committer]);
      assert.deepEqual(told, [["Add sample data", "admin"], ["Repository created", "admin"]]);
    }
    assert.equal(checksums[0], checksums[1]);
  });

  it("has a table with lakes of many countries, of more than half a megabyte", async () => {
    const file = await lakesParquet(seededRandomness(1));
    assert.ok(file.length > 512 * 1024 && file.length < 4 * 1024 * 1024, String(file.length));
    const rows = await parquetReadObjects({ file: file.buffer as ArrayBuffer });
    assert.equal(rows.length, 100_000);
    assert.deepEqual(Object.keys(rows[0]!), ["Hylak_id", "Lake_name", "Country", "Depth_m"]);
    assert.equal(new Set(rows.map((row) => row["Hylak_id"])).size, rows.length);
    assert.ok(new Set(rows.map((row) => row["Country"])).size > 10);
    assert.ok(rows.some((row) => row["Lake_name"] !== ""));
    assert.ok(rows.every((row) => row["Depth_m"] > 0 && row["Depth_m"] < 500));
  });

  it("has pictures of land and water", () => {
    const picture = lakePicture(seededRandomness(1));
    const view = new DataView(picture.buffer, picture.byteOffset);
    const chunks = new Map<string, Uint8Array>();
    for (let at = 8; at < picture.length;) {
      const length = view.getUint32(at);
      const type = String.fromCharCode(...picture.subarray(at + 4, at + 8));
      chunks.set(type, picture.subarray(at + 8, at + 8 + length));
      at += 12 + length;
    }
    assert.deepEqual([...chunks.keys()], ["IHDR", "PLTE", "IDAT", "IEND"]);
    const pixels = inflateSync(chunks.get("IDAT")!);
    assert.equal(pixels.length, 321 * 240);
    assert.ok(pixels.some((pixel) => pixel > 0 && pixel < 128));
    assert.ok(pixels.some((pixel) => pixel >= 128));
  });
});
