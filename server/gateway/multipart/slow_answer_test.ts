import assert from "node:assert/strict";
import { test } from "node:test";
import type { S3Call } from "../call.ts";
import { S3Error } from "../errors.ts";
import { testGateway } from "../testing.ts";
import { answerSlowly } from "./slow_answer.ts";

const DOCUMENT = { root: "Result", content: "<A>1</A>" };

/** A call whose answer begins after a millisecond. */
async function impatient(t: Parameters<typeof testGateway>[0]) {
  const { context, store, logged } = await testGateway(t, { isBare: true });
  const ended: string[] = [];
  const call = {
    context: { ...context, limits: { ...context.limits, patienceMs: 1 } },
    store,
    onEnd: () => ended.push("the request's"),
  } as unknown as S3Call;
  return { call, context, ended, logged };
}

test("what is done in time is answered with its own status", async (t) => {
  const { call } = await impatient(t);
  const answer = await answerSlowly(call, () => Promise.resolve(DOCUMENT));
  assert.match(await answer.text(), /^<\?xml .*\?>\n<Result xmlns=".*"><A>1<\/A><\/Result>$/);
  const failing = answerSlowly(call, () => Promise.reject(new S3Error("NoSuchUpload")));
  await assert.rejects(failing, { code: "NoSuchUpload", status: 404 });
});

test("what takes longer is answered with blanks, then the document or the failure, and counts until it is done", async (t) => {
  const { call, context, ended, logged } = await impatient(t);
  for (const outcome of ["done", "failed", "gone"]) {
    const isFailing = outcome === "failed";
    let finish = () => {};
    const finished = new Promise<void>((resolve) => finish = resolve);
    const answer = await answerSlowly(call, async (own) => {
      own.onEnd(() => ended.push(outcome));
      await finished;
      if (isFailing) throw new S3Error("InvalidPart");
      return DOCUMENT;
    });
    assert.equal(answer.status, 200);
    assert.deepEqual([context.metrics.inFlight, ended.includes(outcome)], [1, false]);
    if (outcome === "gone") await answer.body!.cancel();
    setTimeout(finish, 20);
    if (outcome !== "gone") {
      const expected = isFailing
        ? /\n +<Error><Code>InvalidPart<.*<\/Error>$/
        : /\n +<Result .*<A>1<\/A><\/Result>$/;
      assert.match(await answer.text(), expected);
    }
    while (context.metrics.inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.ok(ended.includes(outcome));
  }
  assert.match(logged(), /after its answer had begun.*InvalidPart/);
});
