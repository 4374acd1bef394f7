/** The S3 gateway: requests of S3's clients, answered in S3's way. */

import { hex } from "../../base/bytes.ts";
import type { ServerContext } from "../context.ts";
import type { Peer, RequestHandler } from "../listen.ts";
import { Observation } from "../middleware/observe.ts";
import { S3Error } from "./errors.ts";
import { failureResponse } from "./failures.ts";
import { S3_OPERATIONS } from "./operations/mod.ts";
import { checkOwner } from "./owner.ts";
import { openS3Request, type S3Request } from "./request.ts";
import { operationOf } from "./routes.ts";

export { isS3Request } from "./recognize.ts";

/** Returns what answers S3's requests. */
export function gatewayHandler(context: ServerContext): RequestHandler {
  // Tells two servers apart in what clients report; it means nothing else.
  const hostId = hex(context.randomness.bytes(16));
  return (request, peer) => new GatewayRequest(context, request, { peer, hostId }).answer();
}

class GatewayRequest {
  readonly #context: ServerContext;
  readonly #request: Request;
  readonly #peer: Peer;
  readonly #hostId: string;
  readonly #observation: Observation;
  #opened: S3Request | undefined;
  #operation = "S3";
  #failure: unknown;

  constructor(
    context: ServerContext,
    request: Request,
    { peer, hostId }: { readonly peer: Peer; readonly hostId: string },
  ) {
    this.#context = context;
    this.#request = request;
    this.#peer = peer;
    this.#hostId = hostId;
    this.#observation = new Observation(context, request);
  }

  async answer(): Promise<Response> {
    const response = await this.#run().catch((error) => this.#fail(error));
    const { requestId } = this.#observation;
    const pathOf = () => this.#path();
    response.headers.set("x-amz-request-id", requestId);
    response.headers.set("x-amz-id-2", this.#hostId);
    this.#observation.end({
      operation: this.#operation,
      status: response.status,
      method: this.#request.method,
      // Only what is logged needs it.
      get path() {
        return pathOf();
      },
      user: this.#opened?.user,
      failure: this.#failure,
    });
    return response;
  }

  async #run(): Promise<Response> {
    const context = this.#context, peer = this.#peer;
    const request = this.#opened = await openS3Request(this.#request, { context, peer });
    const name = operationOf(request);
    this.#operation = `S3.${name}`;
    checkOwner(request.headers.get("x-amz-expected-bucket-owner"));
    const operation = S3_OPERATIONS[name];
    if (!operation) throw new S3Error("NotImplemented");
    const endings: (() => void)[] = [];
    try {
      const onEnd = (done: () => void) => void endings.push(done);
      return await operation({ context, store: context.store, request, peer, onEnd });
    } finally {
      for (const done of endings) done();
      peer.closeWhenIdle();
    }
  }

  #fail(error: unknown): Response {
    this.#failure = error;
    return failureResponse(error, {
      requestId: this.#observation.requestId,
      hostId: this.#hostId,
      resource: this.#path(),
      method: this.#request.method,
    });
  }

  /** Without the query, which may hold a signature. */
  #path(): string {
    const { url } = this.#request;
    const begin = url.indexOf("/", url.indexOf("//") + 2);
    return begin < 0 ? "/" : url.slice(begin).split("?", 1)[0]!;
  }
}
