/**
 * The one error class of the project.
 *
 * `kind` tells the caller what to do, `code` what happened. Both are stable; the message is for people and nobody
 * parses it. Every code is described in `docs/errors.md`.
 */

export type ErrorKind =
  | "invalid"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "gone"
  | "exists"
  | "conflict"
  | "precondition"
  | "throttled"
  | "unavailable"
  | "unsupported"
  | "corrupt"
  | "canceled"
  | "internal";

/** Facts about the failure that a hint, a JSON document or a log line may want; never a secret, never a server path. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** What a {@link CodedError} carries beside its message. */
export interface CodedErrorOptions {
  readonly details?: ErrorDetails;
  readonly cause?: unknown;
}

/**
 * A failure with a stable kind and code.
 *
 * Messages are in sentence case without a final full stop, the action first, strings quoted:
 * `Cannot delete branch "main": it is the default branch`.
 */
export class CodedError extends Error {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly details: ErrorDetails;

  constructor(kind: ErrorKind, code: string, message: string, options: CodedErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "CodedError";
    this.kind = kind;
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** Returns whether `error` is a {@link CodedError} of one of the given codes (of any code when none is given). */
export function isCoded(error: unknown, ...codes: string[]): error is CodedError {
  return error instanceof CodedError && (codes.length === 0 || codes.includes(error.code));
}

/** Throws a {@link CodedError} of kind `corrupt`: bytes at `offset` of `file` that do not decode. */
export function corrupt(file: string, offset: number, why: string): never {
  throw new CodedError("corrupt", "corrupt_file", `Cannot read "${file}": ${why} at offset ${offset}`, {
    details: { file, offset },
  });
}

/** Throws when an invariant of the program is broken: a bug, never bad input. */
export function assertInvariant(condition: unknown, message: string): asserts condition {
  if (!condition) throw new CodedError("internal", "internal", `Broken invariant: ${message}`);
}

/** Throws `canceled` if the signal has been raised. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new CodedError("canceled", "canceled", "Canceled");
}
