import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { metarangeId } from "../../engine/committed/mod.ts";
import { testRepository } from "./testing.ts";

describe("files of committed data", () => {
  it("are found by their IDs, each as what it is", async (t) => {
    const { ask, commit } = await testRepository(t);
    await commit("main", "a", "1");
    const { meta_range_id: id } = (await ask(200, "GET", "/commits/main")).json;
    const found = await ask(200, "GET", `/metadata/meta_range/${id}`);
    assert.match(found.json.location, new RegExp(`/_lakefs/${id}$`));
    assert.equal(found.headers.get("location"), found.json.location);
    const file = await ask(200, "GET", `/metadata/object/meta_range/${id}`);
    assert.match(
      file.headers.get("content-disposition")!,
      new RegExp(`^attachment; filename="[0-9a-f]{12}-${id}"`),
    );
    assert.match(file.text, /metaranges/);
    // The range's ID stands in its metarange as text.
    const [range] = file.text.match(/[0-9a-f]{64}/)!;
    assert.notEqual(range, id);
    assert.match((await ask(200, "GET", `/metadata/range/${range}`)).json.location, /\/_lakefs\//);
    assert.match((await ask(200, "GET", `/metadata/object/range/${range}`)).text, /ranges/);
    await ask(404, "GET", `/metadata/range/${id}`);
    await ask(404, "GET", `/metadata/object/meta_range/${range}`);
    await ask(404, "GET", `/metadata/meta_range/${metarangeId([])}`);
    await ask(501, "GET", `/metadata/object/range/${range}?presign=true`);
    await ask(400, "GET", `/metadata/object/commit/${range}`);
  });

  it("are not to be had by what is no ID", async (t) => {
    const { ask, commit, engine } = await testRepository(t);
    await commit("main", "a", "1");
    const { meta_range_id: id } = (await ask(200, "GET", "/commits/main")).json;
    // Anything that reached the object store under such a name would be given out.
    const escaped = `../data/secret`;
    await engine.objects.put("data/secret", new TextEncoder().encode("secret"));
    const ids = [
      escaped,
      `${"0".repeat(51)}/../data/secret`,
      `../_lakefs/${id}`,
      id.toUpperCase(),
      id.slice(1),
      `${id}0`,
      `${id}\n`,
      `${id}\0`,
      `.`,
      `..`,
      "%2e%2e%2fdata%2fsecret",
    ];
    for (const bad of ids) {
      for (const path of ["meta_range", "range", "object/range", "object/meta_range"]) {
        const { send } = { send: ask };
        const answer = await send(400, "GET", `/metadata/${path}/${encodeURIComponent(bad)}`).catch(
          (error) => {
            // A dot segment never comes as far as the operation: the URL's path is another one then.
            if (bad === "." || bad === "..") return undefined;
            throw error;
          },
        );
        if (answer) assert.doesNotMatch(answer.text, /secret"|_lakefs/, bad);
      }
    }
  });
});
