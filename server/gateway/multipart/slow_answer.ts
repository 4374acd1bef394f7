/**
 * Answers that may take longer than clients wait. As with S3 the status is 200 then, and blanks follow until the document comes,
 * which may be that of a failure: clients look into it. What is done in time is answered as ever.
 *
 * What is being done goes on if the client goes away: it will ask again, and find it done.
 */

import { utf8 } from "../../../base/bytes.ts";
import type { S3Call } from "../call.ts";
import { s3ErrorOf } from "../failures.ts";
import { errorDocument, XML_DECLARATION, xmlDocument, xmlResponse } from "../xml.ts";

/** The content of an answer's document, and its root. */
export interface SlowDocument {
  readonly root: string;
  readonly content: string;
}

/** Answers with the document that `work` makes. It gets a call of its own, which ends when the work has. */
export async function answerSlowly(
  call: S3Call,
  work: (call: S3Call) => Promise<SlowDocument>,
): Promise<Response> {
  const endings: (() => void)[] = [];
  const working = work({ ...call, onEnd: (done) => void endings.push(done) }).finally(() => {
    for (const done of endings) done();
  });
  const first = await inTime(working, call.context.limits.patienceMs);
  return first ? xmlResponse(first.root, first.content) : lateResponse(call, working);
}

function lateResponse({ context }: S3Call, working: Promise<SlowDocument>): Response {
  const { metrics, log, limits } = context;
  // It counts as a request until it is done.
  metrics.begin();
  const rest = working.then(
    ({ root, content }) => xmlDocument(root, content),
    (error) => {
      const { code, message } = s3ErrorOf(error);
      log.error("a request failed after its answer had begun", { code, error: String(error) });
      return errorDocument({ Code: code, Message: message });
    },
  ).finally(() => metrics.end());
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(utf8(XML_DECLARATION)),
    async pull(controller) {
      const document = await inTime(rest, limits.patienceMs);
      if (document === undefined) return controller.enqueue(utf8(" "));
      controller.enqueue(utf8(document.slice(XML_DECLARATION.length)));
      controller.close();
    },
  }, { highWaterMark: 0 });
  return new Response(stream, { status: 200, headers: { "content-type": "application/xml" } });
}

/** Returns what is done within a time, else `undefined`. */
async function inTime<T>(working: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => timer = setTimeout(() => resolve(undefined), ms));
  try {
    return await Promise.race([working, late]);
  } finally {
    clearTimeout(timer);
  }
}
