/**
 * The target of a request line as it came, where the runtime tells only what its URL parser made of it: `/a/../b` is `/b` then,
 * and `/a\b` is `/a/b`. To S3 these are names like any other.
 *
 * The runtime's router still sees the line itself. So it is given a route for each number of segments, `/:s0/:s1/:s2`, with
 * and without a slash at the end: which one a request took, and the values of its parameters, say what the parser took away.
 * The router takes no empty segment for a parameter, and numbers end somewhere: a path that has dot segments beside empty
 * ones (`a//../b`), or more segments than that, stays as the parser left it.
 */

/** A form of path: so many segments that are not empty, and whether a slash follows. */
export interface PathShape {
  readonly segments: number;
  readonly endsInSlash: boolean;
}

const MOST_SEGMENTS = 32;

/** Returns the forms that are told apart, each with its route. */
export function pathShapes(): { readonly pattern: string; readonly shape: PathShape }[] {
  return Array.from({ length: MOST_SEGMENTS }, (_, index) => {
    const segments = index + 1;
    const pattern = Array.from({ length: segments }, (_, at) => `/:s${at}`).join("");
    return [
      { pattern, shape: { segments, endsInSlash: false } },
      { pattern: `${pattern}/`, shape: { segments, endsInSlash: true } },
    ];
  }).flat();
}

/** Returns what follows scheme and host in a URL. */
export function targetOfUrl(url: string): string {
  if (url.startsWith("/")) return url;
  const slash = url.indexOf("/", url.indexOf("//") + 2);
  return slash < 0 ? "/" : url.slice(slash);
}

/** Returns a request's target, from its URL if that still has the form of the line, else from the parameters of its route. */
export function rawTarget(
  url: string,
  { shape, params }: { shape: PathShape; params: () => Readonly<Record<string, string>> },
): string {
  const target = targetOfUrl(url);
  const question = target.indexOf("?");
  const path = question < 0 ? target : target.slice(0, question);
  if (hasShape(path, shape)) return target;
  const values = params();
  const segments = Array.from({ length: shape.segments }, (_, at) => values[`s${at}`]);
  // What is not UTF-8 was replaced: that says nothing any more.
  if (segments.some((one) => one === undefined || one.includes("\ufffd"))) return target;
  const raw = segments.map((one) => `/${encodeURIComponent(one!)}`).join("");
  return `${raw}${shape.endsInSlash ? "/" : ""}${question < 0 ? "" : target.slice(question)}`;
}

function hasShape(path: string, { segments, endsInSlash }: PathShape): boolean {
  let slashes = 0;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) slashes++;
  return slashes === segments + (endsInSlash ? 1 : 0) && path.endsWith("/") === endsInSlash;
}
